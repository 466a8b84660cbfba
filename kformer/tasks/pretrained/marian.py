"""A translator from a folder of Hugging Face's MarianMTModel, as OPUS-MT publishes them."""

from pathlib import Path

from kformer.tasks.pretrained.assembly import assemble
from kformer.tasks.pretrained.marian_folder import MarianFolder
from kformer.tasks.pretrained.marian_npz import MarianNpz
from kformer.tasks.pretrained.marian_weights import network_of
from kformer.tasks.pretrained.model_card import read_card
from kformer.tasks.translator import Translator

_LONGEST = 512  # Ids of a source, where config.json has no `max_position_embeddings`.


def from_marian(folder: str | Path, target_language: str | None = None) -> Translator:
    """Returns the translator of a folder of Hugging Face's `MarianMTModel`.

    The folder holds config.json, model.safetensors or pytorch_model.bin, vocab.json, source.spm
    and target.spm, as [OPUS-MT](https://github.com/Helsinki-NLP/Opus-MT) publishes its models.
    Or it is one that Marian itself writes: an .npz file, a *vocab.yml, source.spm and target.spm.
    Neither PyTorch nor transformers is needed, and nothing from the folder is run. Licence,
    languages and citation of its model card, README.md, become those of `Translator.about`.

    The result gives the ids of `MarianTokenizer`, the logits of `MarianMTModel`, and so the
    translations of `generate`, with two exceptions. An id that `generate` must not choose, such as
    that of padding, has no share of the probability either: scores are those of `generate` with
    `renormalize_logits=True`. And adjacent characters that the SentencePiece model of their side
    does not cover are always unknown; `MarianTokenizer` looks them up in vocab.json first.

    For beams, give `kformer.SearchOptions` the `length_penalty` of the folder's config and
    `length_offset=0`, and an `n_best` as large as `beam_size` to search as long as `generate`.

    Args:
        folder: Path of the folder.
        target_language: Of a model with several, the one that the translator always translates
            into: the code in a piece of the table, such as "fra" for ">>fra<<", which then stands
            before every source. None to choose at each translation, see `Translator.into`.

    Raises:
        FileNotFoundError, NotADirectoryError: The folder or a file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks, or not that target language.
    """
    path = Path(folder)
    own = not (path / "config.json").exists() and any(path.glob("*.npz"))
    files = MarianNpz(path) if own else MarianFolder(path)
    prefix, languages = _language_pieces(files, target_language)
    longest = files.config.get("max_position_embeddings", _LONGEST)
    network, about = network_of(files), read_card(files.path)
    return assemble(files.models, files.tables, network, longest, prefix, languages, about)


def _language_pieces(files, code):
    """Returns the piece that stands before every source, or None, and those to choose from."""
    languages = files.tables[0].languages
    if code is None:
        return None, languages if len(languages) > 1 else {}
    if code in languages:
        return languages[code], {}
    known = ", ".join(sorted(languages)) or "none"
    raise ValueError(
        f"`target_language` must be one of the model's languages: {known}. "
        f"Received: target_language={code!r} for {str(files.path)!r}."
    )

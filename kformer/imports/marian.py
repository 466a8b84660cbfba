"""A translator from a folder of Marian or of Hugging Face's MarianMTModel, as OPUS-MT has them."""

from pathlib import Path

from kformer.imports.assembly import PretrainedNetwork, assemble, head_of
from kformer.imports.id_table import language_pieces
from kformer.imports.marian_folder import MarianFolder
from kformer.imports.marian_model import MarianModel
from kformer.imports.marian_npz import open_npz
from kformer.imports.marian_weights import network_of
from kformer.imports.packed_folder import unpacked
from kformer.imports.readme_card import read_card
from kformer.tasks.translator import Translator

_LONGEST = 512  # Ids of a source, where config.json has no `max_position_embeddings`.


def from_marian(
    folder: str | Path, target_language: str | None = None, as_transformers: bool = False
) -> Translator:
    """Returns the translator of a folder of Marian, or of Hugging Face's `MarianMTModel`.

    The folder holds config.json, model.safetensors or pytorch_model.bin, also in shards,
    vocab.json, source.spm and target.spm, as [OPUS-MT](https://github.com/Helsinki-NLP/Opus-MT)
    publishes its models. Or it is one that Marian itself writes: an .npz file with a vocabulary,
    which is one .spm file, or one for each side that the settings beside the weights name, or one
    `*vocab.yml` with source.spm and target.spm. Neither PyTorch nor transformers is needed, and
    nothing from the folder is run. Licence, languages and citation of its model card, README.md,
    go into `Translator.about`. A ZIP archive of the folder (.zip), as OPUS-MT publishes
    them, too, is unpacked into a temporary folder.

    The result computes as Marian does, which trained the weights. The port to transformers
    has other positions, whose slowest wave is slower, and adds another number to the variance of
    norms; with `as_transformers` the result has the logits of `MarianMTModel`, and so the
    translations of `generate`. Ids equal the ids of `MarianTokenizer`, but adjacent characters that
    the SentencePiece model of their side does not cover are always unknown; `MarianTokenizer` looks
    them up in vocab.json first.

    Padding, which Marian lacks, has no share of the probability. Ids that must not be chosen keep
    theirs, as in Marian and in `generate`: they are `forbidden_ids` of the `Transformer`. In an
    .npz file, the unknown id and control characters are such ids, unless its settings allow them.

    The settings of the search become the translator's `search_defaults`: beams, length penalty,
    lengths, repetitions and sampling of config.json and generation_config.json, or of Marian's
    decoder.yml; and for an .npz file Marian's largest length, three times the length of the source,
    and `narrowing`, its rule for beams that end. Ids of `bad_words_ids` and `suppress_tokens` are
    never chosen. A warning names other settings of `generate`, which searches as long as with an
    `n_best` as large as `beam_size`.

    Args:
        folder: Path of the folder or of the archive; or of an .npz file, where a folder holds
            several.
        target_language: For a model with several target languages, the language of all
            translations: the code in a piece of the table, such as "fra" for ">>fra<<", which then
            stands before every source. None to choose at each translation, with `Translator.into`.
        as_transformers: Whether to compute as transformers does instead of as Marian does.

    Raises:
        FileNotFoundError, NotADirectoryError: The folder or a file is missing.
        ValueError: A file is damaged, or the files do not belong together, or the model has parts
            that a `kformer.Transformer` lacks, or not that target language.

    Warns:
        UserWarning: The model has settings that the search cannot follow.

    Examples:
        >>> import kformer
        >>> translator = kformer.from_marian("opus-mt-de-en")
        >>> translator.max_source_length
        512
        >>> translator.save("de-en.keras")
    """
    with unpacked(folder) as path:
        return _from_folder(path, target_language, as_transformers)


def _from_folder(path, target_language, as_transformers):
    is_npz = path.suffix == ".npz"
    is_npz = is_npz or (not (path / "config.json").exists() and any(path.glob("*.npz")))
    files = open_npz(path) if is_npz else MarianFolder(path)
    prefix, languages = language_pieces(files.tables[0], target_language, files.path)
    about = read_card(files.path)
    if target_language is not None:
        about["target_language"] = target_language
    network = network_of(files, as_transformers)
    return translator_of(files, network, about, prefix, languages)


def translator_of(
    files: MarianFolder | MarianModel,
    network: PretrainedNetwork,
    about: dict,
    prefix: str | None = None,
    languages: dict[str, str] | None = None,
) -> Translator:
    """Returns the translator of files that were read."""
    longest = files.config.get("max_position_embeddings", _LONGEST)
    layer = files.config.get("alignment_layer")
    head = None if layer is None else head_of(layer, 1, network.settings)
    described = (about, files.search, head)
    return assemble(files.models, files.tables, network, longest, prefix, languages, *described)

"""Writes a translator as a folder for CTranslate2, with its SentencePiece models.

CTranslate2's linear layers are (outputs, inputs), kformer's (inputs, outputs). Projections of one
input are one layer there: query, key and value of self-attention, key and value of the attention to
the memory. Positions are a table there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import kformer
from kformer.arguments import check_choice
from kformer.decoding.decoder_step import refusal_of
from kformer.export.ctranslate2_translator import (
    DESCRIPTION,
    LONGEST,
    SIDES,
    check_search,
    library,
)
from kformer.files import Publication, check_writable, part_of, write_json
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.kinds import TRANSLATOR
from kformer.model.transformer import Transformer
from kformer.near_names import with_near_names
from kformer.tasks.search_defaults import export_options
from kformer.tasks.translator import Translator
from kformer.text.alignment import AlignmentHead

PRECISIONS = ("float32", "float16", "int8")
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH"}


class Vocabulary(NamedTuple):
    """The tokens of a model on one side, and its special tokens."""

    tokens: list[str]  # in the order of their ids
    unknown: str
    start: str
    end: str


def check_precision(precision: str):
    """Raises a ValueError unless CTranslate2 has weights of this precision."""
    check_choice("precision", precision, PRECISIONS)


def check_decoder(transformer: Transformer):
    """Raises a ValueError unless CTranslate2 has the decoder's cells: attention alone."""
    if transformer.decoder_cell != "attention":
        raise ValueError(
            "CTranslate2 has no SSRU: a folder for it needs a decoder with self-attention. "
            f"Received: decoder_cell={transformer.decoder_cell!r}."
        )


def write_model(
    transformer: Transformer,
    folder: Path,
    source: Vocabulary,
    target: Vocabulary,
    longest: int,
    precision: str = "float32",
    prefix: str | None = None,
    head: AlignmentHead | None = None,
):
    """Writes `model.bin`, `config.json` and the vocabularies.

    Args:
        transformer: `kformer.Transformer` that computes in float32.
        precision: Of the weights: "float32", "float16" or "int8".
        prefix: A token that CTranslate2 puts before every source; None for none.
        head: The attention by which CTranslate2 aligns words; None for the mean of the last layer.
            CTranslate2 cannot choose another head than the first: then it is the layer's mean.
    """
    specs = library().specs
    activation = getattr(specs.common_spec.Activation, _ACTIVATIONS[transformer.activation])
    spec = specs.TransformerSpec.from_config(
        (transformer.encoder.num_layers, transformer.decoder.num_layers),
        transformer.num_heads,
        pre_norm=transformer.norm_first,
        activation=activation,
        alignment_layer=-1 if head is None else head.layer - 1,
        alignment_heads=1 if head is not None and head.head == 1 else 0,  # 0 for the mean of all.
    )
    _fill_tables(spec, transformer, longest)
    for to, layer in zip(spec.encoder.layer, transformer.encoder.layers, strict=True):
        _fill_self_attention(to.self_attention, layer.attention, layer.attention_residual)
        _fill_feed_forward(to.ffn, layer)
    for to, layer in zip(spec.decoder.layer, transformer.decoder.layers, strict=True):
        _fill_self_attention(to.self_attention, layer.self_attention, layer.self_residual)
        _fill_cross_attention(to.attention, layer.cross_attention, layer.cross_residual)
        _fill_feed_forward(to.ffn, layer)
    spec.register_source_vocabulary(source.tokens)
    spec.register_target_vocabulary(target.tokens)
    spec.config.unk_token, spec.config.eos_token = source.unknown, source.end
    spec.config.decoder_start_token = target.start
    spec.config.bos_token = source.start if prefix is None else prefix
    spec.config.add_source_bos = prefix is not None
    spec.config.add_source_eos = transformer.ignored_source_id is None
    spec.config.layer_norm_epsilon = transformer.norm_epsilon
    spec.validate()
    spec.optimize(quantization=None if precision == "float32" else precision)
    spec.save(str(folder))


def _fill_tables(spec, transformer, longest):
    source, target = transformer.source_embedding, transformer.target_embedding
    spec.encoder.embeddings[0].weight = source.table.numpy()
    spec.decoder.embeddings.weight = spec.decoder.projection.weight = target.table.numpy()
    if not target.tied_output:
        spec.decoder.projection.weight = target.output_table.numpy()
    refusal = refusal_of(transformer)
    if target.bias is not None or refusal is not None:
        bias = np.zeros(target.vocab_size, np.float32) if target.bias is None else target.bias
        bias = np.array(bias, np.float32)
        # CTranslate2 refuses no id by itself; float16 holds no larger number than 65,504.
        spec.decoder.projection.bias = bias if refusal is None else np.maximum(bias + refusal, -1e4)
    positions = np.array(transformer.positions.encodings(longest, transformer.d_model))
    for stack, layers in ((spec.encoder, transformer.encoder), (spec.decoder, transformer.decoder)):
        stack.position_encodings.encodings = positions
        if layers.norm:
            _fill_norm(stack.layer_norm, layers.norm)


def _fill_linear(to, *denses):
    to.weight = np.concatenate([dense.kernel.numpy().T for dense in denses])
    to.bias = np.concatenate([dense.bias.numpy() for dense in denses])


def _fill_norm(to, norm):
    to.gamma, to.beta = norm.gamma.numpy(), norm.beta.numpy()


def _fill_self_attention(to, attention, residual):
    _fill_linear(
        to.linear[0],
        attention.query_projection,
        attention.key_projection,
        attention.value_projection,
    )
    _fill_linear(to.linear[1], attention.output_projection)
    _fill_norm(to.layer_norm, residual.norm)


def _fill_cross_attention(to, attention, residual):
    _fill_linear(to.linear[0], attention.query_projection)
    _fill_linear(to.linear[1], attention.key_projection, attention.value_projection)
    _fill_linear(to.linear[2], attention.output_projection)
    _fill_norm(to.layer_norm, residual.norm)


def _fill_feed_forward(to, layer):
    _fill_linear(to.linear_0, layer.feed_forward.inner)
    _fill_linear(to.linear_1, layer.feed_forward.outer)
    _fill_norm(to.layer_norm, layer.feed_forward_residual.norm)


@with_near_names
def export_ctranslate2(
    translator: Translator,
    folder: str | Path,
    precision: str = "float32",
    check: Callable[[Path], object] | None = None,
    publication: Publication | None = None,
    *,
    beam_size: int | None = None,
    length_penalty: float | None = None,
) -> Path:
    """Writes a folder for `ctranslate2.Translator`; whole, or not at all.

    The folder holds model.bin, config.json, the vocabularies, whose tokens are pieces, source.spm
    and target.spm, the SentencePiece models that split sources and join translations, and
    kformer.json, in which `CTranslate2Translator` finds the languages, the longest source and the
    search. CTranslate2 adds the end of a source itself, if the model reads one, and the piece of a
    target language that the translator was fixed to. CTranslate2 itself does not read kformer.json:
    there, the search is chosen by the caller.

    Args:
        translator: The translator.
        folder: A new folder.
        precision: Of the weights: "float32", "float16" or "int8".
        check: Called with the folder before it gets its name; an error prevents the export.
        publication: `kformer.files.Publication` that the folder is part of; if None, its own.
        beam_size, length_penalty: As in `kformer.SearchOptions`; by default the translator's own.

    Returns:
        `Path` of the folder.

    Raises:
        IsADirectoryError: The folder exists.
        TypeError: `translator` is no `kformer.Translator`.
        ValueError: The decoder has an SSRU, ctranslate2 is not installed, `precision` is another,
            the search has an option that CTranslate2 does not have, or the two vocabularies write
            their unknown or end id differently, for which CTranslate2 has one name.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_ctranslate2
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> folder = export_ctranslate2(translator, "ct2", precision="int8")
        >>> kformer.load(folder).translate("Ein Hund läuft.")
        'A dog runs.'
    """
    folder = Path(folder)
    check_ctranslate2(translator, folder, precision, beam_size, length_penalty)
    options = export_options(translator, beam_size, length_penalty)
    tokenizers = translator.tokenizer, translator.target_tokenizer
    longest = translator.max_source_length
    # CTranslate2 cuts longer sources by default; it must have positions for all others.
    positions = max(LONGEST, longest + EXTRA_LENGTH, options.limit(longest))
    with part_of(publication) as together, together.writing(folder) as temporary:
        temporary.mkdir()
        source, target = map(_vocabulary, tokenizers)
        write_model(
            translator.transformer.copy(),
            temporary,
            source,
            target,
            positions,
            precision,
            translator.tokenizer.prefix,
            translator.alignment_head,
        )
        for name, tokenizer in zip(SIDES, tokenizers, strict=True):
            (temporary / name).write_bytes(tokenizer.model)
        description = {
            "kind": TRANSLATOR.name,
            "kformer": kformer.__version__,
            "max_source_length": longest,
            "max_target_length": positions,
            "search": options.changed,
            **translator.about,
        }
        if translator.alignment_head:
            description["alignment_head"] = [*translator.alignment_head]
        if translator.quality_estimate:
            description["quality_estimate"] = translator.quality_estimate.get_config()
        write_json(temporary / DESCRIPTION, description)
        if check:
            check(temporary)
    return folder


def check_ctranslate2(
    translator: Translator,
    folder: Path,
    precision: str,
    beam_size: int | None = None,
    length_penalty: float | None = None,
):
    """Raises the errors of `export_ctranslate2` before minutes of work."""
    if not isinstance(translator, Translator):
        raise TypeError(
            f"`translator` must be a kformer.Translator. Received: translator={translator!r:.99}."
        )
    check_decoder(translator.transformer)
    check_precision(precision)
    check_search(export_options(translator, beam_size, length_penalty))
    library()
    check_writable(folder)
    source, target = map(_vocabulary, (translator.tokenizer, translator.target_tokenizer))
    if (source.unknown, source.end) != (target.unknown, target.end):
        raise ValueError(
            "For CTranslate2, both vocabularies must write the unknown id and the end id alike. "
            f"Received: {source.unknown!r} and {source.end!r} of the source, {target.unknown!r} "
            f"and {target.end!r} of the target."
        )


def _vocabulary(tokenizer):
    tokens = tokenizer.pieces(range(tokenizer.vocab_size))
    special = (tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id)
    return Vocabulary(tokens, *(tokens[i] for i in special))

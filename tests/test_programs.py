"""Programs as a user of Keras types them without reading the guides, each in a new process.

A program whose name ends in "_then" runs after the program of the same number, in another process
and the same folder: it loads what that saved.
"""

import os
import shutil

import pytest

import kformer
from support import TESTS
from support.processes import run_python

PROGRAMS = {path.stem: path for path in sorted((TESTS / "programs").glob("*.py"))}
FIRST = [name for name in PROGRAMS if not name.endswith("_then")]
QUICK = {"01_functional_model", "04_translate_by_a_call"}
PAIRS = {"ein Hund": "a dog", "eine Katze": "a cat", "ein Haus": "a house", "Guten Tag": "hello"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with an untrained translator and a little text, which the programs name."""
    folder = tmp_path_factory.mktemp("programs")
    for name, lines in (("text.de", PAIRS.keys()), ("text.en", PAIRS.values())):
        (folder / name).write_text("\n".join([*lines] * 8) + "\n", "utf-8")
    tokenizer = kformer.Tokenizer.train([folder / "text.de", folder / "text.en"], vocab_size=280)
    sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
    transformer = kformer.Transformer(tokenizer.vocab_size, **sizes)
    kformer.Translator(tokenizer, transformer, max_source_length=16).save(
        folder / "translator.keras"
    )
    return folder


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.prove) for name in FIRST],
)
def test_a_program_does_what_its_author_expects(name, files, tmp_path):
    for path in files.iterdir():
        shutil.copy(path, tmp_path)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    for program in (name, f"{name}_then"):
        if program in PROGRAMS:
            result = run_python(PROGRAMS[program], cwd=tmp_path, env=environment)
            assert result.returncode == 0, result.stderr[-3000:]

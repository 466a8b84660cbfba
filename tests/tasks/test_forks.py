"""A forked process raises an error where TensorFlow would wait for ever."""

import pytest

from support.processes import printed_by

CODE = """
import os, sys
from kformer import Tokenizer, Transformer, Translator
tokenizer = Tokenizer.load(sys.argv[1])
translator = Translator(tokenizer, Transformer(tokenizer.vocab_size, 1, 8, 2, 8))
calls = {
    "translate": lambda: translator.translate(["a"]),
    "score": lambda: translator.score(["a"], ["a"]),
    "encode": lambda: translator.encode(["a"]),
    "make": lambda: Translator(tokenizer, translator.transformer),
}
if not os.fork():
    for name, call in calls.items():
        try:
            call()
        except RuntimeError as error:
            print(name, str(error).partition(":")[0], flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.prove
@pytest.mark.tensorflow("that of JAX warns of every fork")
def test_it_is_an_error_and_no_endless_wait(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "model")
    lines = printed_by("-W", "ignore", "-c", CODE, tmp_path / "model", timeout=120).splitlines()
    sentence = "A fork of a process that has a model cannot compute with TensorFlow or JAX"
    assert lines == [f"{name} {sentence}" for name in ("translate", "score", "encode", "make")]

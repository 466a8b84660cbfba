"""Where TensorFlow is not installed."""

import subprocess
import sys

import pytest

_WITHOUT_TENSORFLOW = """
import sys
sys.modules["tensorflow"] = sys.modules["tensorflow_text"] = None  # As if not installed.
import kformer.export, kformer.training
"""


@pytest.mark.parametrize(
    "name", ["Translator", "load", "training.translation_dataset", "export.export_tflite"]
)
def test_what_needs_tensorflow_says_so_in_a_sentence(name):
    result = subprocess.run(
        [sys.executable, "-c", f"{_WITHOUT_TENSORFLOW}kformer.{name}"],
        capture_output=True,
        check=False,
        text=True,
    )
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: `kformer.{name}` reads text with TensorFlow")
    assert last.endswith("Received: no module named 'tensorflow'.")

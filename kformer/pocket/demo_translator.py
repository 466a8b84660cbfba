"""The demo model: a small translator from German to English in the package, `demo.tflite`.

`make demo-model` of the repository trains it on the phrasebook, as `kformer demo` does.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The command line imports this module, also for --help.
    from kformer.pocket.pocket_translator import PocketTranslator

DEMO = "demo"  # Stands for the model at the command line.
DEMO_FILE = Path(__file__).with_name("demo.tflite")


def demo() -> "PocketTranslator":
    """Returns the translator in the package, from German to English, at once and offline.

    It learned the 20,000 short sentences of the built-in phrasebook, which `kformer demo` trains
    on, and knows no other words. It needs no TensorFlow. Its licence is that of kformer.

    Examples:
        >>> import kformer
        >>> kformer.demo().translate("Ich möchte ein Bier.")
        'I want a beer.'
    """
    from kformer.pocket.pocket_translator import PocketTranslator

    return PocketTranslator(DEMO_FILE)

"""Counts the functions and files of kformer that one call enters, with `sys.setprofile`.

PYTHONPATH=tests python -m support.walks FOLDER counts three walks on a tiny model, whose files it
writes into FOLDER: a second translation, `kformer train` to its first loss, and an export.
"""

import collections
import contextlib
import inspect
import io
import sys
import threading
from pathlib import Path

PACKAGE = str(Path(__file__).parents[2] / "kformer")


class Walk:
    """The functions of the package that are entered within a `with` block, in all threads.

    Attributes:
        calls: Counter of (file, function).
    """

    def __init__(self):
        self.calls = collections.Counter()

    def __enter__(self):
        threading.setprofile(self._count)
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        threading.setprofile(None)

    def _count(self, frame, event, _):
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
        if event == "call" and is_function and code.co_filename.startswith(PACKAGE):
            self.calls[code.co_filename, code.co_qualname] += 1

    def __str__(self):
        files = {file for file, _ in self.calls}
        return f"{len(self.calls)} functions, {len(files)} files, {self.calls.total()} calls"


class FirstLoss(Exception):
    """Ends a training run at its first loss."""


def train_to_the_first_loss(arguments):
    """Runs `kformer train` in this process until the first step is done."""
    import keras

    import kformer.cli

    def stop(*_):
        raise FirstLoss

    sys.argv = ["kformer", "train", *map(str, arguments)]
    original = keras.callbacks.CallbackList.on_train_batch_end
    keras.callbacks.CallbackList.on_train_batch_end = stop
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(FirstLoss):
            kformer.cli.main()
    finally:
        keras.callbacks.CallbackList.on_train_batch_end = original


def main(folder: Path):
    from support import toy

    folder.mkdir(parents=True, exist_ok=True)
    files = toy.write(folder)
    arguments = ["--source", files["train.de"], "--target", files["train.en"]]
    arguments += ["--valid-source", files["valid.de"], "--valid-target", files["valid.en"]]
    recipe = [value for option in toy.RECIPE.items() for value in option]
    with Walk() as walk:
        train_to_the_first_loss([*arguments, "--output", folder / "run", *recipe])
    print(f"train to the first loss: {walk}")
    import kformer
    from kformer.export import export_tflite

    transformer = kformer.Transformer(290, 2, 16, 2, 24)
    tokenizer = kformer.Tokenizer.train(files["train.de"], 290)
    translator = kformer.Translator(tokenizer, transformer)
    translator.translate(["wir malt uns"])
    with Walk() as walk:
        translator.translate(["wir malt uns"])
    print(f"a second translate: {walk}")
    with Walk() as walk:
        export_tflite(translator, folder / "walk.tflite", max_source_length=29)
    print(f"export_tflite: {walk}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

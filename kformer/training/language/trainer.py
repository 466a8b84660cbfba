"""`train_language_model`: a whole training run, from plain text to a language model in a folder."""

from collections.abc import Collection, Sequence
from pathlib import Path

import keras

from kformer.tasks.language_model import LanguageModel
from kformer.text.documents import LINE
from kformer.training.language.task import prepare_language_model
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.execution import run
from kformer.training.run.folder import run_folder

Paths = str | Path | list[str | Path]


def train_language_model(
    recipe: Recipe,
    text: Paths,
    output: str | Path,
    valid_text: Paths | None = None,
    *,
    documents: str = LINE,
    warm_start: str | Path | None = None,
    new_vocabulary: bool = False,
    tokenizer: str | Path | None = None,
    exact_sizes: Collection[str] = (),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> LanguageModel:
    """Trains a language model and saves it in a folder, as `train` does a translator.

    The folder holds `language_model.keras` and the other files that `train` lists; an unfinished
    run is resumed in the same way, to the bit.

    Args:
        recipe: All numbers of the run. Those of the target must be 0: `target_vocab_size`,
            `num_decoder_layers` and `max_length_ratio`. `max_length` is the length of a row, and
            the largest number of positions of the model.
        text: A path or a list of paths of plain text.
        output: The folder.
        valid_text: The same, of the text that chooses the best model. Of several files each is
            scored, and the first one chooses.
        documents: What a document is: "line", each line; "blank-line", the lines between blank
            ones; "file", a whole file. With the latter two the model learns line breaks, too. See
            `language_dataset`.
        warm_start: Path of a language model's `.keras` file to start from. Its sizes and vocabulary
            replace those of the recipe.
        new_vocabulary, tokenizer, exact_sizes, overwrite, restart, checkpoint_seconds, tensorboard,
            callbacks: See `train`.

    Returns:
        The best `LanguageModel`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: See `train`.
    """
    with run_folder(output) as folder:
        prepared = prepare_language_model(
            *(recipe, text, folder, valid_text),
            documents=documents,
            warm_start=warm_start,
            new_vocabulary=new_vocabulary,
            tokenizer=tokenizer,
            exact_sizes=exact_sizes,
            overwrite=overwrite,
            restart=restart,
        )
        return run(
            prepared,
            checkpoint_seconds=checkpoint_seconds,
            tensorboard=tensorboard,
            callbacks=callbacks,
        )

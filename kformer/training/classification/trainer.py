"""`train_classifier`: a whole training run, from labelled text to a classifier in a folder."""

from collections.abc import Collection, Sequence
from pathlib import Path

import keras

from kformer.tasks.text_classifier import TextClassifier
from kformer.training.classification.task import prepare_classifier
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.execution import run
from kformer.training.run.folder import run_folder

Paths = str | Path | list[str | Path]


def train_classifier(
    recipe: Recipe,
    train: Paths,
    output: str | Path,
    valid: Paths | None = None,
    *,
    columns: Sequence[str] | None = None,
    pooling: str = "mean",
    warm_start: str | Path | None = None,
    freeze: bool = False,
    new_vocabulary: bool = False,
    tokenizer: str | Path | None = None,
    exact_sizes: Collection[str] = (),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> TextClassifier:
    """Trains a classifier and saves it in a folder, as `train` does a translator.

    The folder holds `classifier.keras` and the other files that `train` lists; an unfinished run is
    resumed in the same way, to the bit.

    Args:
        recipe: All numbers of the run. Those of the target must be 0: `target_vocab_size`,
            `num_decoder_layers` and `max_length_ratio`.
        train: A path or a list of paths of labelled text; see `classification_dataset`. Its labels
            become those of the classifier, in alphabetical order.
        output: The folder.
        valid: The same, of the text that chooses the best model. Of several files each is scored,
            and the first one chooses.
        columns: See `classification_dataset`.
        pooling: See `kformer.TextClassifier`.
        warm_start: Path of a `.keras` file, a translator's or a classifier's, whose encoder to
            start from. Its sizes and vocabulary replace those of the recipe.
        freeze: Whether the weights of that encoder stay as they are, so that the head alone learns.
        new_vocabulary, tokenizer, exact_sizes, overwrite, restart, checkpoint_seconds, tensorboard,
            callbacks: See `train`.

    Returns:
        The best `TextClassifier`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: See `train`. The text may also have one label only, a label without text,
            or a label in `valid` that is not in `train`.
    """
    with run_folder(output) as folder:
        prepared = prepare_classifier(
            *(recipe, train, folder, valid),
            columns=columns,
            pooling=pooling,
            warm_start=warm_start,
            freeze=freeze,
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

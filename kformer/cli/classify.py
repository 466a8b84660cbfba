"""`kformer classify`: train, predict and evaluate a classifier."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer import plot
from kformer.cli.common_models import AnyModel, open_able_to
from kformer.cli.run_flags import WITHOUT_TARGET, train_on_text, with_options_of_run
from kformer.cli.terminal.line_streams import (
    Output,
    check_output,
    file_or_standard,
    in_chunks,
    lines_to_translate,
    writing,
)
from kformer.cli.terminal.streams import quiet
from kformer.cli.terminal.text_width import left, right, width_of
from kformer.export.loading import saved_form
from kformer.files import check_writable
from kformer.kinds import CLASSIFIER
from kformer.training.kinds.labelled_files import read_labelled
from kformer.training.recipes.recipe import recipe_names
from kformer.training.run.labelling_options import ClassificationOptions

_Files = list[Path]
_Columns = Annotated[
    str | None,
    typer.Option(
        help="Names of the columns of label and text, in this order, such as stars,review; or "
        "their numbers in a table without a header, such as 2,1."
    ),
]
_Labelled = (
    "A label, a tab and a text on each line; or .csv or .jsonl with the columns label and text; "
    "may be compressed"
)

EXAMPLES = {
    "train": "kformer classify train --train train.tsv --valid valid.tsv \\\n"
    "    --output runs/reviews",
    "predict": 'echo "a fine film" | kformer classify predict runs/reviews',
    "evaluate": "kformer classify evaluate runs/reviews --test test.tsv",
}
app = typer.Typer(help="Train a classifier on your own labelled text, and use it.")


class LabelFormat(StrEnum):
    """Formats of predicted labels."""

    tsv = "tsv"
    jsonl = "jsonl"


@app.command()
@with_options_of_run(ClassificationOptions, CLASSIFIER.recipe, WITHOUT_TARGET)
def train(
    train: Annotated[_Files, typer.Option(help=f"{_Labelled}. May be repeated.")],
    output: Annotated[Path, typer.Option(help="Folder for the classifier and its history.")],
    valid: Annotated[
        _Files | None,
        typer.Option(
            help="Validation text, which chooses the best model. May be repeated: each is scored, "
            "and the first one chooses."
        ),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(help=f"Numbers to start from: {', '.join(recipe_names(CLASSIFIER.words))}."),
    ] = CLASSIFIER.recipe,
    columns: _Columns = None,
    **settings: Any,
):
    """Train a classifier on labelled text, with Keras's model.fit.

    The same command resumes an unfinished run.
    """
    settings["columns"] = _names(columns)
    train_on_text(CLASSIFIER, ClassificationOptions, recipe, (train, valid), output, settings)


@app.command()
def predict(
    model: AnyModel,
    input: Annotated[Path | None, file_or_standard("Text to classify; by default stdin.")] = None,
    output: Output = None,
    format: Annotated[
        LabelFormat,
        typer.Option(
            help="tsv: the label and its probability; jsonl: the probabilities of all labels, too."
        ),
    ] = LabelFormat.tsv,
):
    """Write the label of each line of text and, after a tab, its probability."""
    check_output(output)
    text = lines_to_translate(input)
    classifier = open_able_to("classify", model)
    work = _labels_of(classifier)
    results = in_chunks(work, text.lines, text.total, label="Classifying", pauses=text.pauses)
    with writing(output) as file:
        for number, (label, probabilities) in enumerate(results, start=1):
            line = f"{label}\t{probabilities.max():.4f}"
            if format == LabelFormat.jsonl:
                line = _json_line(number, label, classifier.labels, probabilities)
            file.write(f"{line}\n".encode())


@app.command()
def evaluate(
    model: AnyModel,
    test: Annotated[_Files, typer.Option(help=f"{_Labelled}. May be repeated.")],
    columns: _Columns = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw the confusion matrix: .png, .svg or .pdf.")
    ] = None,
):
    """Classify labelled text: accuracy, macro F1 and the confusion matrix."""
    saved_form(model)  # Raises if it is none.
    if picture:
        plot.check_picture(picture)
        check_writable(picture)
    examples = [example for file in test for example in read_labelled(file, _names(columns))]
    classifier = open_able_to("classify", model)
    _check_known(examples, classifier, model)
    texts = [example.text for example in examples]
    results = in_chunks(_labels_of(classifier), texts, len(texts), label="Classifying")
    predicted = [label for label, _ in results]

    from kformer.text.label_scores import class_scores

    scores = class_scores(classifier.labels, [example.label for example in examples], predicted)
    show_scores(scores)
    if picture:
        with quiet():
            plot.save_figure(plot.plot_confusion(scores.matrix, scores.labels), picture)
        typer.echo(f"The picture is {picture}")


def _labels_of(classifier):
    """Returns a function (texts, progress) -> pairs of a label and all probabilities."""

    def labels_of(texts, progress=None):
        predictions = classifier.predict(texts, progress=progress)
        return list(zip(predictions.labels, predictions.probabilities, strict=True))

    return labels_of


def _names(columns):
    return None if columns is None else columns.split(",")


def _json_line(number, label, labels, probabilities):
    """Returns a line's label, its probability, and all labels' probabilities, as JSON."""
    rounded = [round(float(probability), 6) for probability in probabilities]
    fields = {"line": number, "label": label, "probability": max(rounded)}
    fields["probabilities"] = dict(zip(labels, rounded, strict=True))
    return json.dumps(fields, ensure_ascii=False)


def _check_known(examples, classifier, path):
    unknown = sorted({example.label for example in examples} - {*classifier.labels})
    if unknown:
        raise ValueError(
            f"The labels must be those of the classifier: {', '.join(classifier.labels)}. "
            f"Received: {', '.join(map(repr, unknown))}, which {str(path)!r} does not know."
        )


def show_scores(scores: Any):
    """Prints `ClassScores`: accuracy, macro F1, and the confusion matrix with F1 of each label."""
    total = int(scores.matrix.sum())
    typer.echo(f"accuracy {100 * scores.accuracy:6.2f}  percent of {total:,} texts")
    typer.echo(f"macro F1 {100 * scores.macro_f1:6.2f}")
    first = max(map(width_of, ("true label", *scores.labels)))
    widths = [max(7, width_of(label)) for label in scores.labels]
    typer.echo(f"\n{left('true label', first)}  {_columns(scores.labels, widths)}  {'F1':>6}")
    for label, row, f1 in zip(scores.labels, scores.matrix, scores.f1, strict=True):
        numbers = _columns([f"{count:,}" for count in row], widths)
        typer.echo(f"{left(label, first)}  {numbers}  {100 * f1:6.2f}")


def _columns(cells, widths):
    return "  ".join(map(right, cells, widths))

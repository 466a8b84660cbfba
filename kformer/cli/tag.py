"""`kformer tag`: train a tagger, label the words of text, and evaluate."""

from pathlib import Path
from typing import Annotated

import typer

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
from kformer.export.loading import saved_form
from kformer.kinds import TAGGER
from kformer.training.recipes.recipe import recipe_names
from kformer.training.run.labelling_options import TaggingOptions

_TAGGED = "A word, white space and its label on each line, and a blank line after each text"

EXAMPLES = {
    "train": "kformer tag train --train train.conll --valid valid.conll --output runs/names",
    "predict": 'echo "Anna lives in Bonn" | kformer tag predict runs/names',
    "evaluate": "kformer tag evaluate runs/names --test test.conll",
}
app = typer.Typer(help="Train a tagger, which labels words, and use it.")


@app.command()
@with_options_of_run(TaggingOptions, TAGGER.recipe, WITHOUT_TARGET)
def train(
    train: Annotated[list[Path], typer.Option(help=f"{_TAGGED}. May be repeated.")],
    output: Annotated[Path, typer.Option(help="Folder for the tagger and its history.")],
    valid: Annotated[
        list[Path] | None,
        typer.Option(help="Validation text, which chooses the best model. May be repeated."),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(help=f"Numbers to start from: {', '.join(recipe_names(TAGGER.words))}."),
    ] = TAGGER.recipe,
    **settings,
):
    """Train a tagger on words with labels, with Keras's model.fit.

    The same command resumes an unfinished run.
    """
    train_on_text(TAGGER, TaggingOptions, recipe, (train, valid), output, settings)


@app.command()
def predict(
    model: AnyModel,
    input: Annotated[Path | None, file_or_standard("Text to tag; by default stdin.")] = None,
    output: Output = None,
):
    """Write the labels of the words of each line of text, with spaces between them.

    A word after the limit of the model has the label "-".
    """
    check_output(output)
    text = lines_to_translate(input)
    tagger = open_able_to("tag", model)
    taggings = in_chunks(tagger.tag, text.lines, text.total, label="Tagging", pauses=text.pauses)
    with writing(output) as file:
        for tagging in taggings:
            file.write(f"{' '.join(label or '-' for label in tagging.labels)}\n".encode())


@app.command()
def evaluate(
    model: AnyModel,
    test: Annotated[list[Path], typer.Option(help=f"{_TAGGED}. May be repeated.")],
):
    """Label the words of tagged text: accuracy of words, and precision, recall and F1 of spans."""
    saved_form(model)  # Raises if it is none.
    from kformer.training.kinds.tagging_task import read_tagged

    examples = [example for file in test for example in read_tagged(file)]
    tagger = open_able_to("tag", model)
    texts = [" ".join(words) for words, _ in examples]
    taggings = in_chunks(tagger.tag, texts, len(texts), label="Tagging")
    predicted = [tagging.labels for tagging in taggings]
    from kformer.text.label_scores import strict_tag_scores, tag_scores

    expected = [labels for _, labels in examples]
    scores, strict = tag_scores(expected, predicted), strict_tag_scores(expected, predicted)
    typer.echo(f"accuracy  {100 * scores.accuracy:6.2f}  percent of {scores.words:,} words")
    for name in ("precision", "recall", "f1"):
        shown = name.replace("f1", "F1")
        typer.echo(f"{shown:<9} {100 * getattr(scores, name):6.2f}  of {scores.expected:,} spans")
    if strict is not None:
        typer.echo(f"strict F1 {100 * strict.f1:6.2f}  of {strict.expected:,} spans")

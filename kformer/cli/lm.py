"""`kformer lm`: language models, which continue text."""

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.cli.command_options import with_options_of
from kformer.cli.common_models import (
    AnyModel,
    KerasModel,
    check_has_options,
    check_is_keras,
    open_able_to,
    search_options,
)
from kformer.cli.run_flags import WITHOUT_TARGET, train_on_text, with_options_of_run
from kformer.cli.score import write_scores
from kformer.cli.terminal.line_streams import (
    Output,
    check_output,
    file_or_standard,
    in_chunks,
    lines_to_translate,
)
from kformer.cli.terminal.output_format import OutputFormat, check_format, write_answers
from kformer.cli.translate import SEARCH
from kformer.inference.search_options import SearchOptions
from kformer.kinds import LANGUAGE_MODEL
from kformer.text.documents import BLANK_LINE, DOCUMENTS, LINE, documents_of, read_documents
from kformer.training.recipes.recipe import default_recipe, recipe_names
from kformer.training.run.run_options import LanguageOptions

# Its members are listed in `kformer.text.documents`.
Documents = StrEnum(  # type: ignore[misc]
    "Documents", [(name.upper().replace("-", "_"), name) for name in DOCUMENTS]
)
_BY_LINE = Documents(LINE)
_OF_SOURCES = ("coverage_penalty", "min_length_ratio", "max_length_ratio")
_SEARCH = [
    field.name for field in dataclasses.fields(SearchOptions) if field.name not in _OF_SOURCES
]
_Files = list[Path]

EXAMPLES = {
    "train": "kformer lm train --text train.txt --valid-text valid.txt --output runs/lm",
    "generate": 'echo "The dog" | kformer lm generate runs/lm',
    "score": "kformer lm score runs/lm --text test.txt --summary",
}
app = typer.Typer(help="Train a language model on your own text, and use it.")


@app.command()
@with_options_of_run(
    LanguageOptions, LANGUAGE_MODEL.recipe, [name for name in WITHOUT_TARGET if name != "noise"]
)
def train(
    text: Annotated[
        _Files,
        typer.Option(help="Text, see --documents; may be compressed. May be repeated."),
    ],
    output: Annotated[Path, typer.Option(help="Folder for the language model and its history.")],
    valid_text: Annotated[
        _Files | None,
        typer.Option(
            help="Validation text, which chooses the best model. May be repeated: each is scored, "
            "and the first one chooses."
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help=f"Numbers to start from: {', '.join(recipe_names(LANGUAGE_MODEL.words))}. By "
            "default lm, and fine-tune with --warm-start."
        ),
    ] = None,
    **settings: Any,
):
    """Train a language model on plain text, with Keras's model.fit.

    The same command resumes an unfinished run.
    """
    recipe = recipe or default_recipe(LANGUAGE_MODEL, settings.get("warm_start"))
    train_on_text(LANGUAGE_MODEL, LanguageOptions, recipe, (text, valid_text), output, settings)


@app.command()
@with_options_of(SearchOptions, SEARCH, _SEARCH)
def generate(
    model: AnyModel,
    input: Annotated[
        Path | None, file_or_standard("Prompts, one on each line; by default stdin.")
    ] = None,
    output: Output = None,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="text: each prompt with its continuation, on one line; tsv: line number, score "
            "and text; jsonl: everything known of a continuation."
        ),
    ] = OutputFormat.text,
    documents: Annotated[
        Documents,
        typer.Option(
            help="What a prompt is: line, each line; blank-line, the lines between blank ones, as "
            "also the answers are then written; file, the whole text."
        ),
    ] = _BY_LINE,
    **settings: Any,
):
    """Continue prompts, each on a line.

    A continuation has as many lines as the model writes; tsv puts spaces for line breaks.
    """
    check_output(output)
    check_has_options(model, None, None, settings)
    options = search_options(model, settings)
    check_format(format, options.n_best)
    lines, total, pauses = lines_to_translate(input)
    generations = open_able_to("generate", model).generations

    def work(prompts, progress):
        return generations(
            prompts, options, progress=progress, details=format == OutputFormat.jsonl
        )

    if documents != LINE:
        lines, total, pauses = documents_of(lines, documents), None, None
    results = in_chunks(work, _with_text(lines), total, label="Continuing", pauses=pauses)
    end = "\n\n" if documents == BLANK_LINE else "\n"
    # Where a continuation ends is the choice of the user.
    expected = ("length limit",)
    write_answers(results, format, output, "continuation", expected, lambda text: text + end)


@app.command()
def score(
    model: KerasModel,
    text: Annotated[Path, typer.Option(help="Text to score, document by document.")],
    output: Output = None,
    documents: Annotated[
        Documents,
        typer.Option(
            help="What a document is: line, each line; blank-line, the lines between blank ones; "
            "file, the whole file."
        ),
    ] = _BY_LINE,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Print only the perplexity and bits of the whole text."),
    ] = False,
):
    """Score given text by its log-probability.

    Prints for each document the natural logarithm of its probability, a tab, and the mean per
    token. The end of the document counts as a token.
    """
    check_is_keras(model, "can score")
    check_output(output)
    total = sum(1 for _ in read_documents(text, documents))
    items = "lines" if documents == LINE else "documents"
    scores = open_able_to("generate", model).score
    write_scores(
        scores,
        read_documents(text, documents),
        total,
        output,
        summary,
        text_of=str,
        items_are=items,
    )


def _with_text(lines):
    """Yields prompts, and refuses empty ones."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise ValueError(f"A prompt must have text. Received: line {number}, which is blank.")
        yield line

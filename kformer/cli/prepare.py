"""`kformer prepare`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.cli.command_options import SourceFiles, TargetFiles, with_options_of
from kformer.cli.common_models import a_file_of
from kformer.cli.on_runner import Runner, prepare_on_runner
from kformer.cli.terminal.next_steps import suggest
from kformer.cli.terminal.streams import quiet
from kformer.files import check_writable
from kformer.training.preparation.preparation_options import OF_NEW_VOCABULARY, PreparationOptions
from kformer.training.preparation.raw_pairs import pair_files

_Files = list[Path]


@with_options_of(PreparationOptions, "What is kept, and the vocabulary")
def prepare(
    context: typer.Context,
    output: Annotated[Path, typer.Option(help="Folder for the shards; must not exist.")],
    source: SourceFiles = None,
    target: TargetFiles = None,
    pairs: Annotated[
        _Files | None,
        typer.Option(
            help="Both sides in one file: source, tab and target on each line; .csv or .jsonl with "
            "the columns source and target; .tmx; or a Moses archive of OPUS (.zip)."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Names of these columns, or the languages of .tmx and .zip: de,en. Also kept as "
            "the languages of --source and --target, for kformer train --direction."
        ),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        a_file_of("A SentencePiece model or a .keras file with the vocabulary to use."),
    ] = None,
    target_tokenizer: Annotated[
        Path | None, a_file_of("As --tokenizer, for a target with its own vocabulary.")
    ] = None,
    exclude: Annotated[
        _Files | None,
        typer.Option(
            help="Text whose lines must not be in the shards, such as both sides of the test text: "
            "pairs with such a side are dropped. May be repeated."
        ),
    ] = None,
    dropped: Annotated[
        Path | None,
        typer.Option(help="File to write: file, line and reason of each pair that is dropped."),
    ] = None,
    runner: Runner = None,
    **settings: Any,
):
    """Filter, tokenize, deduplicate and shuffle parallel text of any size, for kformer train.

    Without --tokenizer, a vocabulary is learned from a sample of the text.
    """
    options = PreparationOptions(**settings)
    vocabulary_settings = [
        f"{name}={settings[name]!r}" for name in OF_NEW_VOCABULARY if name in settings
    ]
    if vocabulary_settings and tokenizer is not None:
        raise ValueError(
            "With an existing vocabulary, none is learned. "
            f"Received: tokenizer={str(tokenizer)!r}, {', '.join(vocabulary_settings)}."
        )
    text = {
        "pairs": pairs,
        "columns": None if columns is None else columns.split(","),
        "tokenizer": tokenizer,
        "target_tokenizer": target_tokenizer,
        "options": options,
    }
    if runner is not None and (exclude or dropped):
        raise ValueError(
            "On a runner, --exclude and --dropped cannot be used. "
            f"Received: exclude={exclude and [*map(str, exclude)]}, "
            f"dropped={dropped and str(dropped)!r}."
        )
    if runner is not None:
        manifest = prepare_on_runner(
            output, source, target, runner=runner, beam_options=context.args, **text
        )
    else:
        manifest = _prepare(output, source, target, **text, exclude=exclude, dropped=dropped)
    typer.echo(manifest)
    typer.echo(f"The shards are in {output}.")
    suggest("kformer", "train", "--shards", output, "--output", "runs/new")


def _prepare(output, source, target, *, pairs, columns, **arguments):
    check_writable(output)
    if arguments["dropped"]:
        check_writable(arguments["dropped"])
    pair_files(source, target, pairs, columns)
    with quiet():
        from kformer.training.preparation.shards_writer import prepare_shards

    progress = _show if sys.stderr.isatty() else None
    manifest = prepare_shards(
        output, source, target, pairs=pairs, columns=columns, progress=progress, **arguments
    )
    if progress:
        typer.echo(err=True)
    return manifest


def _show(pairs):
    typer.echo(f"\r{pairs:,} pairs", nl=False, err=True)

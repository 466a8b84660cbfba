"""`kformer translate` of a document: a file of another kind than lines of text."""

import contextlib
import enum
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import kformer
from kformer.cli.answered_before import AnsweredBefore, unfinished_answers
from kformer.cli.terminal.line_streams import one_line
from kformer.cli.terminal.other_language import remark_on_language
from kformer.cli.terminal.output_format import warn_of_flags
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.documents.character_sets import check_encoding
from kformer.documents.document_kinds import KINDS, kind_by_suffix, known_suffixes
from kformer.documents.lines_of_text import check_suffix_of_output, is_lines_of_text
from kformer.files import check_file, check_writable
from kformer.inference.search_options import SearchOptions
from kformer.serving.errors import printable

PANEL = "Documents, such as page.html"
_LINES = "lines"
_SEGMENTS_TO_IDENTIFY = 100
_SHOWN = 3  # Texts that could not be placed, in the message.
Kind = enum.StrEnum("Kind", [_LINES, *KINDS])  # type: ignore[misc]  # One member for each kind.
DocumentKind = Annotated[
    Kind | None,
    typer.Option(
        help="Kind of the input; by default by its suffix. lines: translate it line by line.",
        rich_help_panel=PANEL,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND",
        help="What stays in a text exactly as it is: tag, url, email, nesting, double-brace, "
        "template, brace, role, variable, printf, quantity, mention, emoji. By default all of "
        "these kinds; a regular expression is added to them. May be repeated.",
        rich_help_panel=PANEL,
    ),
]
MemoryFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also write the texts with their translations to FILE, a translation memory.",
        rich_help_panel=PANEL,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of the input and the output, such as windows-1252 or shift_jis; by default "
        "what the document declares, or UTF-8.",
        rich_help_panel=PANEL,
    ),
]
Fuzzy = Annotated[
    bool,
    typer.Option(
        "--fuzzy",
        help="Mark the translations of a gettext catalog as fuzzy, so that programs ignore them "
        "until they are reviewed.",
        rich_help_panel=PANEL,
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|NUMBER",
        help="Column of a CSV that is translated: its name in the first line, or its number from "
        "1. The first line stays.",
        rich_help_panel=PANEL,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="List the lines and texts that would be translated, and their number.",
        rich_help_panel=PANEL,
    ),
]


def document_kind_of(input: Path | None, kind: Any, **options: Any) -> str | None:
    """Returns the kind of the document that `input` is, or None for lines of text.

    Args:
        input: Path of the input, None for stdin.
        kind: `Kind`, or None.
    """
    by_suffix = kind_by_suffix(input) if input and kind is None else None
    if by_suffix and by_suffix.name != "text":  # Text is lines, unless the option says otherwise.
        return by_suffix.name
    if input and kind is None and not is_lines_of_text(input):
        raise ValueError(
            f"A document must have one of the suffixes {known_suffixes()}; --kind gives the kind "
            "of another file, and --kind lines translates it line by line. "
            f"Received: {str(input)!r}."
        )
    if kind is not None and kind != _LINES:
        return str(kind)
    if any(options.values()):
        names = ", ".join(f"--{name.replace('_', '-')}" for name, value in options.items() if value)
        raise ValueError(
            f"These options are for documents; --kind gives the kind of another file. "
            f"Received: {names} with lines of text."
        )
    return None


def translate_document(
    load: Callable[[], Any],
    input: Path | None,
    output: Path | None,
    kind: str,
    options: SearchOptions,
    dry_run: bool,
    refused: dict[str, Any],
    resume_settings: dict | None,
    **settings: Any,
):
    """Translates a document, or lists its texts.

    Args:
        load: Returns the translator.
        input, output: Paths.
        kind: Name of a kind of documents.
        options: Options of the search.
        dry_run: Whether the texts are listed.
        refused: Options that do not go with a document, by name; the set ones are true.
        resume_settings: The settings of `kformer.cli.unfinished`, to go on where an earlier command
            was killed; None to keep nothing.
        settings: Further arguments of `kformer.translate_document`.
    """
    if any(refused.values()):
        names = ", ".join(f"--{name.replace('_', '-')}" for name, value in refused.items() if value)
        raise ValueError(
            "A document is written as a whole, with the best translation of each text; "
            f"--kind lines translates its lines instead. Received: {names}."
        )
    if input is None or (output is None and not dry_run):
        raise ValueError(
            "A document needs --input and --output, which are files. "
            f"Received: input={_shown(input)}, output={_shown(output)}."
        )
    from kformer.documents.placeholders import keep_pattern  # Lines do without it.

    check_file(input)
    check_encoding(settings["encoding"])
    keep_pattern(settings["keep"])
    if dry_run:
        _list(input, kind, settings)
        return
    for path in filter(None, (output, settings["tmx"])):
        check_writable(path)
    assert output is not None  # Only a dry run has none.
    check_suffix_of_output(output, input, KINDS[kind])
    with contextlib.ExitStack() as stack:
        translator = load()
        segments = itertools.islice(_segments(input, kind, settings), _SEGMENTS_TO_IDENTIFY)
        remark_on_language(translator, [text for _, text in segments])
        if resume_settings is not None:
            part = stack.enter_context(
                unfinished_answers(output, resume_settings, *filter(None, [settings["tmx"]]))
            )
            translator = AnsweredBefore(translator, part)
        progress = stack.enter_context(ProgressLine("Translating", None))
        report = kformer.translate_document(
            input,
            translator,
            output,
            kind=kind,
            progress=progress.update,
            options=options,
            **settings,
        )
    for line, flags in report.flags:
        warn_of_flags(line, _Flagged(flags))
    if report.unplaced:
        _complain(report)


class _Flagged:
    """A translation with flags, for a warning."""

    def __init__(self, flags: tuple[str, ...]):
        self.flags = flags


def _segments(input, kind, settings):
    names = ("keep", "encoding", "column", "source_language", "target_language")
    return kformer.document_segments(input, kind=kind, **{name: settings[name] for name in names})


def _list(input, kind, settings):
    texts = []
    for line, text in _segments(input, kind, settings):
        texts.append(text)
        typer.echo(f"{line}\t{printable(one_line(text))}")
    characters = sum(map(len, texts))
    typer.echo(
        f"kformer: {len(texts):,} texts, {len({*texts}):,} of them different, "
        f"with {characters:,} characters.",
        err=True,
    )


def _complain(report):
    shown = "; ".join(f"line {text.line}: {text.reason}" for text in report.unplaced[:_SHOWN])
    more = "" if len(report.unplaced) <= _SHOWN else "; …"
    number = len(report.unplaced)
    what = "texts could not be placed, and stay as they were"
    what = "text could not be placed, and stays as it was" if number == 1 else what
    typer.echo(
        f"kformer: {number:,} {what}: {printable(shown)}{more}.",
        err=True,
    )
    raise typer.Exit(1)


def _shown(path):
    return None if path is None else repr(str(path))

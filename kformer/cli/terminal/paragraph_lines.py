"""Lines of many sentences for `--paragraphs`, which keeps their layout."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from kformer.cli.terminal.line_streams import Text, in_chunks, lines_to_translate, writing
from kformer.cli.terminal.output_format import warn_of_flags
from kformer.text.long_lines import check_whole

_PANEL = "Text of many sentences"
Paragraphs = Annotated[
    bool,
    typer.Option(
        "--paragraphs",
        help="Split each line into sentences, translate these, and keep line ends, indents, "
        "list marks and what has no letter as they are. Sentences that are too long are split at "
        "clauses.",
        rich_help_panel=_PANEL,
    ),
]
SourceLanguage = Annotated[
    str | None,
    typer.Option(
        help="With --paragraphs or a document: the language of the text, such as de, by whose "
        "rules sentences end; by default the model's, if it is recorded, or en.",
        rich_help_panel=_PANEL,
    ),
]


def check_paragraphs(paragraphs: Any, source_language: str | None, **conflicting: Any):
    """Refuses options that do not go together."""
    if paragraphs and any(conflicting.values()):
        options = ", ".join(
            f"--{name.replace('_', '-')}" for name, value in conflicting.items() if value
        )
        raise ValueError(
            "--paragraphs writes text alone, and the best translation of each sentence. "
            f"Received: {options}."
        )
    if source_language is not None and not paragraphs:
        raise ValueError(
            "--source-language is for --paragraphs. "
            f"Received: --source-language {source_language} alone."
        )


def translate_paragraphs(
    load: Callable, input: Any, output: Any, source_language: str | None, chunk: Any = None
):
    """Reads, translates and writes text.

    Args:
        load: callable () -> callable (lines, source_language=, progress=) -> as many
            `kformer.SplitTranslation`.
        input: Path of a file, None for stdin, or a list of texts, each of which becomes lines.
        output: Path of a file, None for stdout.
        source_language: Language of the text, or None.
        chunk: Most lines at once; None for the default.
    """
    text = _text(input)
    translate = load()

    def work(lines, progress):
        return translate(lines, source_language=source_language, progress=progress)

    results = in_chunks(work, text.lines, text.total, chunk, pauses=text.pauses)
    with writing(output) as out:
        for number, translation in enumerate(results, start=1):
            warn_of_flags(number, translation)
            out.write(translation.text.encode("utf-8"))


def _text(input):
    """Returns the lines with their ends, and refuses lines that are too long to be read whole."""
    if not isinstance(input, list):
        text = lines_to_translate(input, ends=True)
        name = "stdin" if input is None else repr(str(input))
        return text._replace(lines=check_whole(text.lines, name))
    return Text(
        [paragraph if paragraph.endswith("\n") else f"{paragraph}\n" for paragraph in input],
        len(input),
    )

"""How translations are written: text, TSV or JSON lines; and what is said of bad ones."""

import json
from enum import StrEnum

import typer

from kformer.cli.terminal.lines import one_line, writing

_WHAT_FLAGS_SAY = {
    "length limit": "was cut at its largest length",
    "loop": "repeats itself",
    "length ratio": "has a length that is absurd for its source",
}
_FIELDS = (  # Of JSON lines, as far as they are known.
    "text",
    "score",
    "flags",
    "tokens",
    "token_log_probabilities",
    "source_tokens",
    "alignment",
)


class OutputFormat(StrEnum):
    """What a translation becomes."""

    text = "text"
    tsv = "tsv"
    jsonl = "jsonl"


def check_format(format, n_best):
    """Refuses several translations of a line where nothing would tell them apart."""
    if n_best > 1 and format == OutputFormat.text:
        raise ValueError(
            "Several translations of a line need --format tsv or jsonl, which tell them apart. "
            f"Received: n_best={n_best}, format=text."
        )


def write_translations(results, format, output):
    """Writes the translations of each line, best first, and warns of degenerate ones on stderr."""
    with writing(output) as out:
        for number, translations in enumerate(results, start=1):
            _warn_of_flags(number, translations[0])
            for line in _lines(format, number, translations):
                out.write(line.encode("utf-8") + b"\n")


def _lines(format, number, translations):
    """Yields the lines for line `number`'s translations, best first.

    Text has the best alone. TSV has the line's number, the score and the text; JSON lines have
    all that is known.
    """
    if format == OutputFormat.text:
        yield one_line(translations[0].text)
        return
    for one in translations:
        if format == OutputFormat.tsv:
            yield f"{number}\t{one.score:.4f}\t{one_line(one.text).replace(chr(9), ' ')}"
        else:
            yield json.dumps(_fields(number, one), ensure_ascii=False)


def _fields(number, translation):
    names = (name for name in _FIELDS if hasattr(translation, name))
    return {"line": number, **{name: getattr(translation, name) for name in names}}


def _warn_of_flags(number, best):
    """Writes what is wrong with the best translation of line `number`, if anything, to stderr."""
    wrong = [_WHAT_FLAGS_SAY[flag] for flag in best.flags if flag in _WHAT_FLAGS_SAY]
    if wrong:
        typer.echo(f"kformer: Line {number}: its translation {', '.join(wrong)}.", err=True)

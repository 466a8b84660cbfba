"""The texts of a document whose translation was interrupted: a later command has their answers.

They are lines of JSON in `OUTPUT.kformer-part`, in the order in which the document asks for them.
"""

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from kformer.cli.unfinished import Unfinished, unfinished
from kformer.files import remove_leftovers
from kformer.inference.splitting import SentenceTranslation, SplitTranslation

_TEXTS = 200  # Texts that are translated between two entries of the journal.


@contextlib.contextmanager
def unfinished_answers(output: Path, settings: dict, *more: Path) -> Iterator[Unfinished]:
    """Yields the unfinished answers beside an output; deletes them if no error ends the block."""
    with unfinished(output, settings) as part:
        for path in (output, *more):
            remove_leftovers(path)
        if part.lines:
            typer.echo(f"kformer: Resuming after {part.lines} texts.", err=True)
        yield part


class AnsweredBefore:
    """A translator that remembers its answers on disk.

    Args:
        translator: `kformer.AnyTranslator`.
        part: Where the answers are.
    """

    def __init__(self, translator: Any, part: Unfinished):
        self._translator, self._part = translator, part
        self.facts, self.align = translator.facts, getattr(translator, "align", None)
        self._answers = dict(map(_parsed, part.content().splitlines()))

    def split_translations(self, texts: Sequence[str], **settings: Any) -> list[SplitTranslation]:
        """Returns the `SplitTranslation`s of distinct texts, the known ones without translating."""
        unknown = [text for text in texts if text not in self._answers]
        for start in range(0, len(unknown), _TEXTS):
            chunk = unknown[start : start + _TEXTS]
            results = self._translator.split_translations(chunk, **settings)
            answers = [*zip(chunk, results, strict=True)]
            self._part.append("".join(map(_line, answers)).encode(), len(chunk))
            self._answers.update(answers)
        return [self._answers[text] for text in texts]


def _line(answer):
    text, translation = answer
    return json.dumps([text, dataclasses.asdict(translation)], ensure_ascii=True) + "\n"


def _parsed(line):
    text, answer = json.loads(line)
    sentences = (
        SentenceTranslation(sentence["source"], sentence["text"], tuple(sentence["flags"]))
        for sentence in answer["sentences"]
    )
    return text, SplitTranslation(answer["text"], tuple(answer["flags"]), tuple(sentences))

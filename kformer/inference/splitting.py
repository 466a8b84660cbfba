"""Translates texts of many sentences: splits them, translates, and puts them together."""

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from kformer.arguments import as_texts, check_flag, stacklevel_of_user
from kformer.inference.results import Translation
from kformer.text.paragraphs.joining import Piece, join, with_sources
from kformer.text.paragraphs.marks import piece_of_part
from kformer.text.paragraphs.sentence_splitting import halves, split_pieces

SOURCE_SPLIT = "source split"
_CUT = {"source cut", "translation cut"}


@dataclasses.dataclass(frozen=True)
class SentenceTranslation:
    """A sentence of a text, and its translation.

    Attributes:
        source: The sentence, without white space at its ends.
        text: The translation.
        flags: Faults of the translation, empty most of the time. "source split": the sentence was
            too long, so its clauses were translated one by one. `kformer.Translation` explains the
            other flags; flags of the clauses are flags of the sentence, too.
        quality: Estimate of its chrF, from 0 to 1, of clauses the lowest; None if the model has no
            estimate.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> [text] = translator.split_translations(["Ein Hund läuft. Guten Morgen!"])
        >>> [(sentence.source, sentence.text) for sentence in text.sentences]
        [('Ein Hund läuft.', 'A dog runs.'), ('Guten Morgen!', 'Good morning!')]
    """

    source: str
    text: str
    flags: tuple[str, ...]
    quality: float | None = None


@dataclasses.dataclass(frozen=True)
class SplitTranslation:
    """The translation of a text of many sentences.

    Attributes:
        text: The translation, with line breaks, indents, list marks and whatever has no letter as
            in the source.
        flags: The flags of its sentences, each once.
        sentences: Each sentence with its translation, in the order of the text.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> [translation] = translator.split_translations(["Ein Hund läuft. Guten Morgen!"])
        >>> translation.text, translation.flags, len(translation.sentences)
        ('A dog runs. Good morning!', (), 2)
    """

    text: str
    flags: tuple[str, ...]
    sentences: tuple[SentenceTranslation, ...]


def check_split(split: Any, source_language: str | None, prefixes: Any = None) -> bool:
    """Checks the arguments of `translate` that depend on each other; returns `split`."""
    if not check_flag("split", split) and source_language is not None:
        raise ValueError(
            "`source_language` is for `split`, which needs it to find the ends of sentences. "
            f"Received: source_language={source_language!r}, split=False."
        )
    if split and prefixes is not None:
        raise ValueError(
            "A prefix begins the translation of one sentence, so prefixes do not go with `split`. "
            "Received: prefixes, split=True."
        )
    return split


def translate_split(
    find: Callable[..., Iterable],
    texts: Iterable[str],
    source_language: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[SplitTranslation]:
    """Splits texts into sentences, translates all of these in one call, and joins each text.

    A sentence that occurs several times is translated once. A sentence that was too long is halved
    at a clause and translated again, until nothing is cut.

    Args:
        find: callable (sentences, progress) -> as many objects with `text` and `flags`, without
            warnings of sentences that were cut.
    """
    texts = as_texts(texts, "texts")
    steps = split_steps(texts, source_language)
    report, answers = None, None
    while True:
        try:
            sentences = steps.send(answers)
        except StopIteration as end:
            results = end.value
            break
        if progress and report is None:
            report = _InProportion(progress, len(sentences), len(texts))
            answers = find(sentences, report)
        else:
            answers = find(sentences, None)
    if progress:
        (report or _InProportion(progress, 1, len(texts))).finish()
    _warn(results)
    return results


def split_steps(
    texts: Sequence[str], source_language: str | None = None
) -> Generator[list[str], Iterable | None, list[SplitTranslation]]:
    """Yields lists of sentences to translate, takes their translations, and returns the results.

    It is `translate_split` for callers that translate in their own way: after each list of
    sentences, which are distinct, `send` as many objects with `text` and `flags`.
    """
    pieces = [split_pieces(text, source_language) for text in texts]
    sources = dict.fromkeys(piece.source for several in pieces for piece in several)
    sources.pop("", None)
    answers = yield from _answers(list(sources))
    return [_joined(several, answers) for several in pieces]


def _answers(sentences):
    """Yields sentences to translate; returns a dict from `sentences` to their translations."""
    translations = (yield sentences) if sentences else []
    answers = {
        source: SentenceTranslation(
            source, _one_line(answer.text), tuple(answer.flags), getattr(answer, "quality", None)
        )
        for source, answer in zip(sentences, translations, strict=True)
    }
    parted = {
        source: with_sources(map(piece_of_part, halves(source) or ()))
        for source, answer in answers.items()
        if _CUT.intersection(answer.flags)
    }
    parts = dict.fromkeys(piece.source for pieces in parted.values() for piece in pieces)
    if parts:
        part_answers = yield from _answers(list(parts))
        for source, pieces in parted.items():
            if pieces:
                whole = _joined(pieces, part_answers)
                flags = dict.fromkeys((SOURCE_SPLIT, *whole.flags))
                quality = min(
                    (part.quality for part in whole.sentences if part.quality is not None),
                    default=None,
                )
                answers[source] = SentenceTranslation(source, whole.text, tuple(flags), quality)
    return answers


def _joined(pieces: Sequence[Piece], answers) -> SplitTranslation:
    sentences = tuple(answers[piece.source] for piece in pieces if piece.source)
    texts = [answers[piece.source].text if piece.source else "" for piece in pieces]
    flags = dict.fromkeys(flag for sentence in sentences for flag in sentence.flags)
    return SplitTranslation(join(pieces, texts), tuple(flags), sentences)


def joined_translation(answer: SplitTranslation, known: Mapping[str, Translation]) -> Translation:
    """Returns the translation of a text of several sentences.

    Args:
        known: The `Translation` of each sentence, and that of "" for a text without any.
    """
    if not answer.sentences:
        return dataclasses.replace(known[""], text=answer.text)
    parts = [known[sentence.source] for sentence in answer.sentences]
    qualities = [each.quality for each in answer.sentences if each.quality is not None]
    return Translation(
        answer.text,
        sum(part.score for part in parts),
        answer.flags,
        _concatenated(part.tokens for part in parts),
        _concatenated(part.source_tokens for part in parts),
        _concatenated(part.token_log_probabilities for part in parts),
        _diagonal([part.attention for part in parts]),
        min(qualities, default=None),
    )


def _concatenated(several):
    several = [*several]
    if not several or None in several:
        return None
    return tuple(itertools.chain.from_iterable(several))


def _diagonal(blocks):
    """Returns the attention of several sentences: none from one to another."""
    if len(blocks) < 2 or any(block is None for block in blocks):
        return blocks[0] if len(blocks) == 1 else None
    import numpy as np  # A client of a server needs none.

    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0), np.float32)
    row = column = 0
    for block in blocks:
        rows, columns = block.shape
        whole[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    return whole


def _one_line(text):
    """Returns the text without line breaks, which a text has only between sentences."""
    return " ".join(text.splitlines())


class _InProportion:
    """Reports finished texts, in proportion to the finished sentences."""

    def __init__(self, progress: Callable[[int], object], sentences: int, texts: int):
        self._progress, self._sentences, self._texts = progress, sentences, texts
        self._done = self._reported = 0

    def __call__(self, number: int):
        self._done += number
        self._report(self._texts * self._done // self._sentences)

    def finish(self):
        self._report(self._texts)

    def _report(self, texts):
        if texts > self._reported:
            self._progress(texts - self._reported)
            self._reported = texts


def _warn(results):
    """Warns of each text with a sentence that was too long."""
    for number, translation in enumerate(results, start=1):
        if _CUT.intersection(translation.flags):
            how = "its end is missing"
        elif SOURCE_SPLIT in translation.flags:
            how = "its clauses were translated one by one"
        else:
            continue
        warnings.warn(
            f"Text {number} has a sentence that is too long for the model: {how}.",
            stacklevel=stacklevel_of_user(),
        )

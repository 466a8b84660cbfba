"""Texts as a model reads them, and its translations as they are answered.

A sentence in capitals is read in small letters by a model that never saw any, and a text in a
script that its vocabulary cannot spell is not read at all. All translations have the flags that
their texts alone show (`kformer.inference.sure_checks`).
"""

import dataclasses
from typing import NamedTuple, Self

from kformer.inference.capitals import in_small_letters, is_in_capitals
from kformer.inference.facts import ModelFacts
from kformer.inference.results import UNSURE, Translation, with_flag
from kformer.inference.sure_checks import UNKNOWN, is_foreign, is_wordless, sure_flags


class Readings(NamedTuple):
    """Texts, as they were asked and as the model reads them.

    Attributes:
        texts: As they were asked.
        read: As the model reads them.
        raised: Numbers of the texts in capitals, which the model reads in small letters.
        kept: Numbers of the texts that stay as they are: the model cannot spell any of their
            letters, and reads a blank text instead.
    """

    texts: list[str]
    read: list[str]
    raised: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()

    @classmethod
    def of(cls, texts: list[str], facts: ModelFacts) -> Self:
        """Returns the readings of texts by a model with these facts."""
        read, raised, kept = [*texts], set(), set()
        for number, text in enumerate(texts):
            if facts.scripts is not None and is_foreign(text, facts.scripts):
                kept.add(number)
                read[number] = ""
            elif facts.lowers_capitals and is_in_capitals(text):
                raised.add(number)
                read[number] = in_small_letters(text)
        return cls(texts, read, frozenset(raised), frozenset(kept))

    def written(self, number: int, text: str) -> str:
        """Returns the text of a translation as it is answered."""
        if number in self.kept:
            return self.texts[number]
        return text.upper() if number in self.raised else text

    def checked(self, number: int, translation: Translation) -> Translation:
        """Returns a translation as it is answered, with the flags that its text shows."""
        text = self.written(number, translation.text)
        if number in self.kept:
            quality = None if translation.quality is None else 0.0
            return dataclasses.replace(translation, text=text, flags=(UNKNOWN,), quality=quality)
        source = self.read[number]
        raised = sure_flags(source, translation.text)
        if translation.quality is not None and not raised and is_wordless(source):
            flags = tuple(flag for flag in translation.flags if flag != UNSURE)
            translation = dataclasses.replace(translation, flags=flags, quality=1.0)
        for flag in raised:
            if flag not in translation.flags:
                translation = with_flag(translation, flag)
        return (
            translation if text == translation.text else dataclasses.replace(translation, text=text)
        )

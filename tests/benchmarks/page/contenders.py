"""The contenders: a folder with a page for each, which Chromium opens anew for every round."""

from pathlib import Path
from typing import NamedTuple

from benchmarks.contender import ContenderFailed
from browser.chromium import Chromium

PAGE, RIVAL = "page", "bergamot"
WITH_SHORTLIST = " shortlist"  # What ends the names of those that choose among candidates.
NAMES = tuple(f"{name}{end}" for name in (PAGE, RIVAL) for end in ("", WITH_SHORTLIST))
INDEX = "race.html"


class Sentences(NamedTuple):
    """The sentences of a round; all of them differ, because pages remember translations.

    Attributes:
        first: The first one, which a page waits for while it loads.
        alone: Translated one after the other.
        together: Translated at once.
    """

    first: str
    alone: list[str]
    together: list[str]


class Page:
    """A contender: a page in a folder that is served.

    Args:
        browser: `Chromium`.
        address: Of the server of the folder.
        folder: With INDEX.
        sentences: `Sentences`.
    """

    def __init__(self, browser: Chromium, address: str, folder: Path, sentences: Sentences):
        self._browser, self._address, self._folder = browser, address, folder
        self._sentences = sentences

    def round(self) -> dict:
        """Loads the page and translates; raises ContenderFailed.

        Returns:
            `first`, `alone`, `together`: seconds, of `first` with all that is loaded for it;
            `seconds`: all of them; `bytes`: of the files that were loaded; `ids`: the words of each
            translation.
        """
        try:
            self._browser("visit", f"{self._address}{INDEX}")
            report = self._browser("resolve", "race", *self._sentences)
        except AssertionError as failed:
            raise ContenderFailed(str(failed)) from failed
        report["seconds"] = report["first"] + report["alone"] + report["together"]
        report["bytes"] = sum(map(self._size, self._browser("requests")))
        report["ids"] = [text.split() for text in report.pop("texts")]
        return report

    def _size(self, url):
        file = self._folder / url.removeprefix(self._address)
        return file.stat().st_size if file.is_file() else 0

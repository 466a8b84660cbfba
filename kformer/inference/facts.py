"""`ModelFacts`: languages, search and abilities of a model, by one name for every kind and form."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kformer.inference.capitals import ABOUT as READS_CAPITALS
from kformer.inference.search_options import SearchOptions, with_defaults
from kformer.inference.source_marks import KINDS, TERMS, reads_marks

if TYPE_CHECKING:  # A client of a server needs no NumPy.
    from kformer.inference.quality_estimate import QualityEstimate

SCRIPTS = "scripts"  # In the metadata of a model that cannot spell all characters.
SINGLE_SENTENCES = "single_sentences"  # In the metadata of a model; without it, nothing is known.
_DEFAULT_SEARCH = SearchOptions()
_NO_TERMS = "A glossary needs a translator that searches for terms. Received: glossary."


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """The facts about a model. Most of them are those of a translator.

    Attributes:
        about: The metadata that all saved forms keep: "source_language", "target_language",
            "directions", "licence", "citation", "source_marks" and more, where they are known.
        encodes: Whether it gives vectors of texts.
        batch_size: Texts that are answered fastest together.
        calls: Number of calls that it can answer at the same time.
        signatures: The functions of a SavedModel by name, whose outputs are those of TensorFlow
            Serving; None for other forms.
        target_languages: The languages of which one must be chosen; empty if there is no choice;
            None if only the server knows.
        target_language: Code of the language of the translations; None if it is not known.
        search: Options of its searches, where the caller gives none.
        choices: Names of the options of `kformer.SearchOptions` that a caller may give; None for
            all.
        takes_prefixes: Whether a caller may give beginnings of translations.
        scores: Whether it scores given translations, which the terms of a glossary need.
        scores_tokens: Whether it gives the log-probability of each token of them, too.
        continues: Whether it goes on behind a given beginning of a translation.
        aligns: Whether it links words by its attention, with the method `align`.
        takes_names: Whether names such as "X1" may stand for placeholders in its texts.
        no_terms: Why it cannot search for terms, for a message; None if it can.
        quality_estimate: `QualityEstimate` of its translations; None for none.
    """

    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    encodes: bool = True
    batch_size: int = 32
    calls: int = 1
    signatures: Mapping[str, Any] | None = None
    target_languages: tuple[str, ...] | None = ()
    target_language: str | None = None
    search: SearchOptions = _DEFAULT_SEARCH
    choices: frozenset[str] | None = frozenset()
    takes_prefixes: bool = False
    scores: bool = False
    scores_tokens: bool = False
    continues: bool = False
    aligns: bool = False
    takes_names: bool = True
    no_terms: str | None = _NO_TERMS
    quality_estimate: "QualityEstimate | None" = None

    @property
    def source_language(self) -> str | None:
        """Code of the language of the texts; None if it is not known."""
        return self.about.get("source_language")

    @property
    def directions(self) -> tuple[str, ...]:
        """The directions that it was trained in, such as "de-en"; empty if they are not known."""
        return tuple(self.about.get("directions") or ())

    @property
    def source_marks(self) -> tuple[str, ...]:
        """The kinds of marks that it was trained with, as in `kformer.inference.source_marks`."""
        return tuple(kind for kind in KINDS if reads_marks(self.about, kind))

    @property
    def single_sentences(self) -> bool:
        """Whether it learned from single sentences, and loses some of a text of several."""
        return bool(self.about.get(SINGLE_SENTENCES))

    @property
    def scripts(self) -> tuple[str, ...] | None:
        """The scripts whose letters it can spell, such as "Latin"; None for all of them."""
        scripts = self.about.get(SCRIPTS)
        return None if scripts is None else tuple(scripts)

    @property
    def lowers_capitals(self) -> bool:
        """Whether it reads sentences in capitals in small letters, as it never saw any."""
        return self.about.get(READS_CAPITALS) is False

    @property
    def reads_terms(self) -> bool:
        """Whether it was trained with terms in its sources."""
        return reads_marks(self.about, TERMS)

    def options(self, chosen: Mapping[str, Any]) -> SearchOptions:
        """Returns the complete options of a search, from those that a caller chose."""
        if not chosen:
            return self.search
        options = with_defaults(chosen, self.search.given)
        fixed = [] if self.choices is None else sorted({*chosen} - self.choices)
        if fixed:
            received = ", ".join(f"{name}={chosen[name]!r}" for name in fixed)
            raise ValueError(
                "The search of this model was chosen when it was exported; its .keras file "
                f"searches with other options. Received: {received}."
            )
        return options

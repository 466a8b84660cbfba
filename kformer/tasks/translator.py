"""The translator: text in, text out, in one `.keras` file.

Axes: B batch, S source length, N sequences a row, T target length.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

import keras

from kformer.arguments import check_integer, text_or_texts
from kformer.decoding.batch_decoder import BatchDecoder
from kformer.decoding.scoring import BatchLikelihood
from kformer.decoding.search_options import (
    OtherSearchOptions,
    SearchOptions,
    given_options,
    with_defaults,
)
from kformer.decoding.shortlist import Shortlist, digest_of
from kformer.model.transformer import Transformer
from kformer.tasks.given_translations import GivenTranslations
from kformer.tasks.keras_file import check_format, with_format
from kformer.tasks.quality_estimates import QualityEstimates
from kformer.tasks.search_defaults import SearchDefaults
from kformer.tasks.sentence_search import SentenceSearch, check_search
from kformer.tasks.text_batches import InBatches
from kformer.tasks.text_model import TextModel, check_kinds
from kformer.tasks.translation import Translation
from kformer.tasks.word_alignment import check_head, index_of
from kformer.text.alignment import AlignmentHead
from kformer.text.glossary import Glossary
from kformer.text.paragraphs.split_translation import (
    SentenceTranslation,
    SplitTranslation,
    check_split,
    translate_split,
)
from kformer.text.quality_estimate import QualityEstimate
from kformer.text.text_rows import write_texts
from kformer.text.tokenizer import Tokenizer
from kformer.text.zero_shot import facts_of, warn_of_zero_shot


@keras.saving.register_keras_serializable(package="kformer")
class Translator(SentenceSearch, GivenTranslations, QualityEstimates, SearchDefaults, TextModel):
    """A tokenizer, a Transformer and a search; a Keras model that `fit` trains on texts or ids.

    Args:
        tokenizer: `Tokenizer` of the source, and of the target if that has no own.
        transformer: `Transformer` with the tokenizer's vocabulary.
        target_tokenizer: `Tokenizer` of the target, if it has a vocabulary of its own.
        max_source_length: Maximum number of ids of a source sentence, its end id included; only the
            beginning of a longer one is translated, with a warning.
        alignment_head: The `kformer.AlignmentHead` whose attention aligns words; None for the mean
            of the last layer's heads. `choose_alignment_head` finds the best one.
        about: Facts about the model, which exports contain, too: "target_language", if it is known;
            "directions", such as ["de-en", "en-de"], of a model that was trained in several;
            "licence", "citation", "languages" and "scores" that came with an imported model.
        search_defaults: dict of the options of `kformer.SearchOptions` that the model has of its
            own, the attribute `search_defaults`; None for none.
        quality_estimate: The attribute of that name, or its config; None for none.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> translator.translate(["Ein Hund läuft.", "Guten Morgen!"], beam_size=4)
        ['A dog runs.', 'Good morning!']
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        transformer: Transformer,
        target_tokenizer: Tokenizer | None = None,
        max_source_length: int = 256,
        alignment_head: AlignmentHead | None = None,
        about: dict | None = None,
        search_defaults: Mapping[str, Any] | SearchOptions | None = None,
        quality_estimate: QualityEstimate | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__(tokenizer, max_source_length, **kwargs)
        target_tokenizer = tokenizer if target_tokenizer is None else target_tokenizer
        check_kinds(
            transformer=(transformer, Transformer), target_tokenizer=(target_tokenizer, Tokenizer)
        )
        self.target_tokenizer = target_tokenizer
        self.transformer = transformer
        self.alignment_head = check_head(self, alignment_head)
        self.about = dict(about or {})
        self.search_defaults = search_defaults
        self.quality_estimate = quality_estimate
        self._decode = BatchDecoder(transformer, self.target_tokenizer)
        self._likelihood = BatchLikelihood(transformer, self.target_tokenizer)
        if tokenizer.model is not None:  # Else `load_assets` follows.
            self._check_vocabularies()

    @property
    def network(self):
        return self.transformer

    @property
    def shortlist(self) -> Shortlist | None:
        """The `kformer.Shortlist` that bounds which ids translations may have; None for all.

        Greedy and beam search then take less time, the more the larger the vocabulary. Scores of
        translations are log-probabilities among the candidates. Sampling, prefixes, a least length
        and constraints on repetition search all ids. A `.tflite` file that is exported from this
        translator has the same shortlist; a `.keras` file has none.
        """
        return self._decode.shortlist

    @shortlist.setter
    def shortlist(self, value: Shortlist | None):
        if value is not None:
            check_kinds(shortlist=(value, Shortlist))
            value.check_vocabularies(self.vocabularies)
        self._decode.shortlist = value

    @property
    def vocabularies(self) -> tuple[str, str]:
        """The digests of both vocabularies, by which a `kformer.Shortlist` is recognized."""
        return digest_of(self.tokenizer.model), digest_of(self.target_tokenizer.model)

    @property
    def target_languages(self) -> tuple[str, ...]:
        """The languages of which one must be chosen for each translation; usually none."""
        return tuple(self.tokenizer.target_languages)

    @property
    def target_language(self) -> str | None:
        """Code of the language of the translations, such as "de"; None if it is unknown."""
        return self.about.get("target_language")

    def into(self, target_language: str | None) -> "Translator":
        """Returns a translator into one of `target_languages`, which shares the weights.

        All of its methods then read texts for that language.

        Args:
            target_language: One of `target_languages`; None if there are none, for this translator.

        Raises:
            ValueError: It is another language; the message names the model's languages.
        """
        tokenizer = self.tokenizer.into(target_language)
        if tokenizer is self.tokenizer:
            return self
        translator = self._sharing(tokenizer, self.transformer)
        translator.about["target_language"] = target_language
        if directions := self.about.get("directions"):
            translator.about |= facts_of(directions, target_language)
        # With their graphs:
        translator._decode, translator._likelihood = self._decode, self._likelihood
        translator._batches = self._batches = self._batches or InBatches(self.network)
        return translator

    def _check_vocabularies(self):
        embeddings = self.transformer.source_embedding, self.transformer.target_embedding
        have = tuple(embedding.vocab_size for embedding in embeddings)
        need = (self.tokenizer.vocab_size, self.target_tokenizer.vocab_size)
        if have != need:
            raise ValueError(
                "The transformer must have the vocabularies of the tokenizers. Received: "
                f"vocabulary sizes (source, target) {have} of the transformer, {need} of the "
                "tokenizers."
            )
        paddings = {self.tokenizer.padding_id, self.target_tokenizer.padding_id}
        if paddings != {self.transformer.padding_id}:
            raise ValueError(
                "The transformer must have the padding id of the tokenizers. Received: "
                f"padding_id={self.transformer.padding_id} of the transformer, "
                f"{sorted(paddings)} of the tokenizers."
            )

    @text_or_texts
    def translate(
        self,
        texts: Iterable[str],
        beam_size: int | None = None,
        length_penalty: float | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        *,
        prefixes: Iterable[str] | None = None,
        split: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
        **options: Unpack[OtherSearchOptions],
    ) -> list[str]:
        """Translates any number of sentences; sorts them by length, keeps their order.

        Args:
            texts: list of strings, or another iterable of them, as a NumPy array, a pandas Series
                or a string tensor (B,); or one string. A blank one translates to a blank one.
            beam_size, length_penalty: Options of `kformer.SearchOptions`; None for the values in
                `search_defaults`.
            batch_size: Sentences translated at once. It changes speed, not answers.
            progress: Called with the number of sentences done, after each batch.
            prefixes: Beginnings of the translations: as many strings, or None. A blank
                sentence translates to its prefix.
            split: Whether each text may have many sentences, as for `split_translations`.
            source_language: With `split`, the language of the texts, such as "de".
            target_language: One of `target_languages`, if there are any, as for `into`.
            glossary: `kformer.Glossary` of terms that have given translations, or a dict. A
                sentence whose translation lacks one of them is translated again with it.
            **options: The other options of `kformer.SearchOptions`, by name; by default the values
                in `search_defaults`.

        Returns:
            list of as many strings, the best translations, or one string for a string;
            `translations` flags degenerate ones.

        Raises:
            TypeError: An argument, or one of the texts, has the wrong type.
            ValueError: A number is out of range, there are not as many prefixes as texts, `split`
                or `glossary` does not go with another argument, or the language is none of the
                model's.

        Warns:
            UserWarning: Sentences were longer than `max_source_length` ids.
        """
        explicit = given_options(beam_size=beam_size, length_penalty=length_penalty)
        search = with_defaults({**explicit, **options}, self.search_defaults)
        check_split(split, source_language, prefixes)
        if split:
            into = self.into(target_language)
            answers = into._split(texts, search, source_language, batch_size, progress, glossary)
            return [answer.text for answer in answers]
        result = self._search(
            texts, search, prefixes, batch_size, progress, target_language, glossary
        )
        return write_texts(self.target_tokenizer, [best.ids for best, *_ in result.answers])

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        options: SearchOptions | None = None,
        prefixes: Iterable[str] | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        details: bool = True,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[list[Translation]]:
        """As `translate`, but with scores, tokens, flags and attention.

        Args:
            texts, prefixes, batch_size, progress, target_language, glossary: As for `translate`.
            options: `kformer.SearchOptions`; `search_defaults` replace those that it leaves out.
            details: Whether to compute log-probabilities of tokens and attention, too: it takes
                one more pass of the model.

        Returns:
            for each text a list of `kformer.Translation`, best first: `options.n_best`, or as
            many as there are. For one string, its list.

        Raises:
            TypeError, ValueError: As `translate`.

        Warns:
            UserWarning: As `translate`.
        """
        options = self.search_options(options)
        result = self._search(
            texts, options, prefixes, batch_size, progress, target_language, glossary
        )
        sources = result.sources
        pairs = [(i, best) for i, answers in enumerate(result.answers) for best in answers]
        ids = [hypothesis.ids for _, hypothesis in pairs]
        scores = [None] * len(pairs)
        if details:
            rows = [sources.ids[i] for i, _ in pairs]
            scores = self._likelihood(rows, ids, **index_of(self.alignment_head))
        results = [[] for _ in result.answers]
        written = write_texts(self.target_tokenizer, ids)
        for (i, hypothesis), text, tokens in zip(pairs, written, scores, strict=True):
            skipped = self.tokenizer.prefix_length(sources.ids[i])
            results[i].append(
                Translation(
                    text,
                    hypothesis.score,
                    result.flags(i, hypothesis),
                    tuple(self.target_tokenizer.pieces(hypothesis.ids)),
                    tuple(self.tokenizer.pieces(sources.ids[i][skipped:])),
                    tuple(tokens.log_probabilities.tolist()) if details else None,
                    tokens.attention[:, skipped:] if details else None,
                    result.quality(i, hypothesis),
                )
            )
        return results

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        options: SearchOptions | None = None,
        source_language: str | None = None,
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences; line breaks, indents and list marks stay.

        Each text is split into sentences, all of which are translated as by `translate`, sentences
        of similar length together. A line break always ends a sentence. A sentence over
        `max_source_length` ids is halved at a clause, or else at a word, until no part is.

        Args:
            texts, batch_size, target_language, glossary: As for `translate`; a text may be a whole
                page.
            options: `kformer.SearchOptions`; `search_defaults` replace those that it leaves out.
            source_language: The language of the texts, such as "de", whose rules and abbreviations
                decide where a sentence ends; by default English rules.
            progress: Called with the number of texts done, in proportion to their sentences.

        Returns:
            list of as many `kformer.SplitTranslation`: the best translation of each text, its
            flags and its sentences. For one string, its own.

        Raises:
            ImportError: The package sentencex is not installed.
            TypeError, ValueError: As `translate`.

        Warns:
            UserWarning: A sentence was too long.
        """
        options = self.search_options(options)
        into = self.into(target_language)
        return into._split(texts, options, source_language, batch_size, progress, glossary)

    def _split(self, texts, options, source_language, batch_size, progress, glossary):
        check_integer("batch_size", batch_size, least=1)
        glossary = check_search(glossary, options)
        directions = self.about.get("directions")
        warn_of_zero_shot(directions, source_language, self.target_language)

        def find(sentences, progress):
            search = (sentences, options, None, batch_size, progress)
            result = self._search(*search, glossary=glossary, did=None)
            best = [answers[0] for answers in result.answers]
            written = write_texts(self.target_tokenizer, [hypothesis.ids for hypothesis in best])
            for i, (text, hypothesis) in enumerate(zip(written, best, strict=True)):
                flags, quality = result.flags(i, hypothesis), result.quality(i, hypothesis)
                yield SentenceTranslation(sentences[i], text, flags, quality)

        return translate_split(find, texts, source_language, progress)

    def _with(self, transformer):
        return self._sharing(self.tokenizer, transformer)

    def _sharing(self, tokenizer, transformer):
        own = self.target_tokenizer is not self.tokenizer
        target_tokenizer = self.target_tokenizer if own or tokenizer is not self.tokenizer else None
        translator = Translator(
            tokenizer,
            transformer,
            target_tokenizer,
            self.max_source_length,
            alignment_head=self.alignment_head,
            about=self.about,
            search_defaults=self.search_defaults,
            quality_estimate=self.quality_estimate,
        )
        translator.shortlist = self.shortlist
        return translator

    def get_config(self):
        config = {
            "transformer": self.transformer.get_config(),
            "own_target_tokenizer": self.target_tokenizer is not self.tokenizer,
            "prefix": self.tokenizer.prefix,
            "target_languages": self.tokenizer.target_languages,
            "max_source_length": self.max_source_length,
            "alignment_head": self.alignment_head and [*self.alignment_head],
            "about": self.about,
            "search_defaults": self.search_defaults,
        }
        if self.quality_estimate:  # Earlier versions read the file without it.
            config["quality_estimate"] = self.quality_estimate.get_config()
        return with_format(config)

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        check_format(config["format"])
        return cls(
            # Early files lack both.
            Tokenizer(None, config.get("prefix"), config.get("target_languages")),
            Transformer.from_config(config["transformer"]),
            Tokenizer() if config["own_target_tokenizer"] else None,
            config["max_source_length"],
            config.get("alignment_head"),  # Early files lack it, and the next.
            config.get("about"),
            config.get("search_defaults"),
            config.get("quality_estimate"),
        )

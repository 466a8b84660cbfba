"""The translator: text in, text out, in one `.keras` file."""

from collections.abc import Mapping
from typing import Any

import keras

from kformer.decoding.batch_decoder import BatchDecoder
from kformer.decoding.scoring import BatchLikelihood
from kformer.decoding.shortlist import Shortlist, digest_of
from kformer.inference.any_translator import AnyTranslator
from kformer.inference.quality_estimate import QualityEstimate
from kformer.inference.search_options import SearchOptions
from kformer.inference.zero_shot import facts_of
from kformer.model.transformer import Transformer
from kformer.tasks.given_translations import GivenTranslations
from kformer.tasks.keras_engine import KerasEngine
from kformer.tasks.keras_file import check_format, with_format
from kformer.tasks.quality_estimates import QualityEstimates
from kformer.tasks.text_batches import InBatches
from kformer.tasks.text_model import check_kinds
from kformer.tasks.word_alignment import check_head
from kformer.text.alignment import AlignmentHead
from kformer.text.tokenizer import Tokenizer


@keras.saving.register_keras_serializable(package="kformer")
class Translator(AnyTranslator, GivenTranslations, QualityEstimates):
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
        if tokenizer.model:  # Else `load_assets` follows.
            self._check_vocabularies()

    align = GivenTranslations.align  # With any head.
    has_alignments = True  # Whether `align` can be called.

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
    def engine(self) -> KerasEngine:
        """The engine that searches with the network."""
        return KerasEngine(self)

    def _into(self, target_language):
        tokenizer = self.tokenizer.into(target_language)
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

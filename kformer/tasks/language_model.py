"""The language model: a prompt in, its continuation out, in one `.keras` file.

Axes: N prompts or texts, T length in ids, V vocabulary.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import keras

from kformer.arguments import (
    as_texts,
    check_integer,
    stacklevel_of_user,
    text_or_texts,
)
from kformer.decoding.batch_decoder import BatchDecoder
from kformer.decoding.scoring import BatchLikelihood, Scored
from kformer.inference.any_language_model import AnyLanguageModel
from kformer.inference.degenerate import degenerate_flags
from kformer.inference.facts import ModelFacts
from kformer.inference.results import Generation
from kformer.inference.search_options import (
    MAX_LENGTH,
    SearchOptions,
)
from kformer.model.network import PredictsTokens
from kformer.model.transformer_decoder import TransformerDecoder
from kformer.tasks.distinct_answers import distinct_answers
from kformer.tasks.keras_file import check_format, with_format
from kformer.tasks.keras_methods import next_tokens
from kformer.tasks.search_defaults import SearchDefaults
from kformer.tasks.text_model import TextModel, check_kinds
from kformer.text.text_rows import cut_flags, read_texts, write_texts
from kformer.text.tokenizer import Tokenizer


@keras.saving.register_keras_serializable(package="kformer")
class LanguageModel(AnyLanguageModel, SearchDefaults, PredictsTokens, TextModel):
    """A tokenizer, a decoder and a search: continues prompts, and scores texts.

    `encode` and `token_vectors` give the vectors of the last layer: `token_vectors` one for the
    start id and one for each piece, each computed from the text before it.

    Args:
        tokenizer: `Tokenizer`.
        decoder: `TransformerDecoder` with the tokenizer's vocabulary.
        max_length: Maximum number of positions: of the start id, the prompt and its continuation
            without the last id; and of a text that is scored.
        search_defaults: dict of the options of `kformer.SearchOptions` that the model has of its
            own, the attribute `search_defaults`; None for none.

    Call arguments:
        ids: integer tensor (B, T), the start id first.

    Returns:
        logits: float tensor (B, T, V), of the id after each position.

    Examples:
        >>> import kformer
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
        >>> decoder = kformer.TransformerDecoder(tokenizer.vocab_size, **sizes)
        >>> model = kformer.LanguageModel(tokenizer, decoder, max_length=64)
        >>> [scored] = model.score(["A dog runs."])
        >>> scored.tokens
        ('▁A', '▁dog', '▁runs', '.', '</s>')
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        decoder: TransformerDecoder,
        max_length: int = 256,
        search_defaults: Mapping[str, Any] | SearchOptions | None = None,
        **kwargs: Any,
    ):
        super().__init__(tokenizer, check_integer("max_length", max_length, least=2), **kwargs)
        check_kinds(decoder=(decoder, TransformerDecoder))
        self.decoder = decoder
        self.search_defaults = search_defaults
        self._decode = BatchDecoder(decoder, tokenizer, max_length)
        self._likelihood = BatchLikelihood(decoder, tokenizer)
        if tokenizer.model:  # Else `load_assets` follows.
            self._check_vocabularies()

    @property
    def network(self):
        return self.decoder

    @property
    def max_length(self):
        """Maximum number of positions."""
        return self.max_source_length

    def call(self, ids: Any, training: bool | None = None):
        return self.decoder(ids, training=training)

    def _examples(self, texts, answers):
        if answers is not None:
            raise TypeError(
                "A language model learns from texts, which have no other answers. "
                f"Received: y={answers!r:.99}."
            )
        rows = self._read(texts, "Text", "learned").ids
        return next_tokens(rows, self.tokenizer.start_id, self.tokenizer.padding_id)

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model, as every saved form has them."""
        return ModelFacts(search=self._search_defaults, choices=None)

    def _continued(self, prompts, request, details):
        options = request.options
        if options.coverage_penalty:
            raise ValueError(
                "A language model has no source that a continuation could cover. "
                f"Received: coverage_penalty={options.coverage_penalty}."
            )
        rows = self._prompt_rows(prompts)
        if options.max_length is not None and options.max_length > self.max_length:
            warnings.warn(
                f"The model has {self.max_length} positions, where a prompt and its continuation "
                f"end. Received: max_length={options.max_length}.",
                stacklevel=stacklevel_of_user(),
            )
        hypotheses = self._decode(rows, options, None, request.batch_size, request.progress)
        prompt_rows = [row[1:] for row in rows]
        hypotheses = distinct_answers(self.tokenizer, hypotheses, options, prompt_rows)
        pairs = [(rows[i], best) for i, answers in enumerate(hypotheses) for best in answers]
        whole = [[*row[1:], *hypothesis.ids] for row, hypothesis in pairs]  # Without the start id.
        scores = self._likelihood([[]] * len(whole), whole) if details else [None] * len(whole)
        results = iter(
            Generation(
                text,
                hypothesis.score,
                _flags(hypothesis),
                tuple(self.tokenizer.pieces(hypothesis.ids)),
                tuple(self.tokenizer.pieces(row[1:])),
                tuple(tokens.log_probabilities[len(row) - 1 :].tolist()) if details else None,
            )
            for (row, hypothesis), text, tokens in zip(
                pairs, write_texts(self.tokenizer, whole), scores, strict=True
            )
        )
        return [[next(results) for _ in answers] for answers in hypotheses]

    @text_or_texts
    def score(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[Scored]:
        """Returns the log-probabilities of given texts; in batches of about one length.

        Args:
            texts: list of N strings, or another iterable of them, as for `generate`; or one string.
            progress: Called with the number of texts done, after each batch.

        Returns:
            list of N `kformer.Scored`, of which `kformer.perplexity` makes one number; or one.

        Warns:
            UserWarning: A text was over `max_length` ids; only its beginning was scored.
        """
        rows = self._read(as_texts(texts, "texts"), "Text", "scored")
        return [
            Scored(
                float(scores.log_probabilities.sum(dtype="float64")),
                tuple(self.tokenizer.pieces(rows.ids[i])),
                tuple(scores.log_probabilities.tolist()),
                cut_flags(i, text=rows),
            )
            for i, scores in enumerate(self._likelihood([[]] * len(rows.ids), rows.ids, progress))
        ]

    def _prompt_rows(self, prompts):
        """Returns the ids of each prompt, the start id first; refuses prompts that are too long."""
        rows = read_texts(self.tokenizer, prompts, MAX_LENGTH, "Prompt", "read").ids
        rows = [self._with_start(row) for row in rows]
        for i, row in enumerate(rows):
            if len(row) > self.max_length:
                raise ValueError(
                    f"A prompt may have {self.max_length - 1} ids, one less than `max_length`. "
                    f"Received: prompt {i + 1} of {len(row) - 1} ids."
                )
        return rows

    def _with_start(self, row):
        """Returns a row of pieces and the end id with the start id before it, without the end."""
        return [self.tokenizer.start_id, *row[:-1]]

    def _rows(self, texts, did, batch_size):
        return [self._with_start(row) for row in super()._rows(texts, did, batch_size)]

    def _check_vocabularies(self):
        super()._check_vocabularies()
        if self.decoder.start_id != self.tokenizer.start_id:
            raise ValueError(
                "The decoder must have the start id of the tokenizer. Received: start_id="
                f"{self.decoder.start_id} of the decoder, {self.tokenizer.start_id} of the "
                "tokenizer."
            )

    def _with(self, network):
        return LanguageModel(self.tokenizer, network, self.max_length, self.search_defaults)

    def get_config(self):
        config = {
            "prefix": self.tokenizer.prefix,
            "decoder": self.decoder.get_config(),
            "max_length": self.max_length,
            "search_defaults": self.search_defaults,
        }
        return with_format(config)

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        check_format(config["format"])
        decoder = TransformerDecoder.from_config(config["decoder"])
        return cls(
            Tokenizer(prefix=config.get("prefix")),
            decoder,
            config["max_length"],
            config.get("search_defaults"),  # Early files lack it.
        )


def _flags(hypothesis):
    """Returns the flags of a `Hypothesis`; a continuation may have any length."""
    ids = hypothesis.ids[:-1] if hypothesis.ended else hypothesis.ids
    loop = ("loop",) if "loop" in degenerate_flags((), ids) else ()
    return loop if hypothesis.ended else ("length limit", *loop)

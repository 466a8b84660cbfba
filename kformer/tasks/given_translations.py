"""Scores, word alignments and attention of translations that are given."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from kformer.arguments import as_texts, check_as_many, check_text, pair_or_pairs
from kformer.decoding.decoder_inputs import padded
from kformer.decoding.scoring import BatchLikelihood, Scored, TargetScores
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.model.network import PredictsTokens
from kformer.model.transformer import Transformer
from kformer.tasks.attention_maps import AttentionMaps
from kformer.tasks.keras_methods import next_tokens
from kformer.tasks.text_model import TextModel
from kformer.tasks.word_alignment import (
    HeadScore,
    align,
    check_head,
    read_pairs,
    score_heads,
)
from kformer.text.alignment import AlignmentHead, GoldLinks, WordAlignment
from kformer.text.text_rows import cut_flags, read_texts
from kformer.text.tokenizer import Tokenizer


class GivenTranslations(PredictsTokens, TextModel):
    """The methods of `kformer.Translator` that read a source and its translation."""

    target_tokenizer: Tokenizer
    transformer: Transformer
    alignment_head: AlignmentHead | None
    _likelihood: Callable[..., list[TargetScores]]  # A `BatchLikelihood`, or that of an ensemble.

    def call(self, inputs: Any, training: bool | None = None):
        """Returns the logits of `kformer.Transformer` for a pair (source, target) of ids."""
        return self.transformer(inputs, training=training)

    def _examples(self, texts, answers):
        targets = as_texts([] if answers is None else answers, "y")
        check_as_many(x=texts, y=targets)
        source = self._read(texts, "Source of sentence", "learned")
        target = self._read_target(targets, "Target of sentence", "learned", EXTRA_LENGTH)
        ids = self.target_tokenizer
        target_in, expected, weights = next_tokens(target.ids, ids.start_id, ids.padding_id)
        return (padded(source.ids, self.tokenizer.padding_id), target_in), expected, weights

    @pair_or_pairs
    def score(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[Scored]:
        """Returns the log-probabilities of given translations; in batches of about one length.

        Args:
            sources: list of strings, or another iterable of them, as for `translate`; or one
                string.
            targets: as many strings, their translations; or one string.
            progress: Called with the number of pairs done, after each batch.
            target_language: Language of the translations, as for `translate`.

        Returns:
            list of as many `kformer.Scored`, of which `kformer.perplexity` makes one number; or one
            for one pair.

        Warns:
            UserWarning: A source was over `max_source_length` ids, or a target over 50 more; only
                the beginning was scored.
        """
        sources, targets = as_texts(sources, "sources"), as_texts(targets, "targets")
        check_as_many(sources=sources, targets=targets)
        source = self._read(sources, "Source of sentence", "scored", target_language)
        target = self._read_target(targets, "Target of sentence", "scored", EXTRA_LENGTH)
        return [
            Scored(
                float(scores.log_probabilities.sum(dtype="float64")),
                tuple(self.target_tokenizer.pieces(target.ids[i])),
                tuple(scores.log_probabilities.tolist()),
                cut_flags(i, source=source, target=target),
            )
            for i, scores in enumerate(self._likelihood(source.ids, target.ids, progress))
        ]

    @pair_or_pairs
    def align(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        head: AlignmentHead | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[WordAlignment]:
        """Links the words of given translations to words of their sources, by attention.

        Each word of a target is linked to the word of its source that got most attention when the
        model chose the word's pieces.

        Args:
            sources: list of strings, or another iterable of them, as for `translate`; or one
                string.
            targets: as many strings, their translations; or one string.
            head: `kformer.AlignmentHead` or (layer, head) to use instead of `alignment_head`.
            progress: Called with the number of pairs done, after each batch.

        Returns:
            list of as many `kformer.WordAlignment`; or one for one pair.

        Raises:
            TypeError, ValueError: As `score`; or the model does not have that head.

        Warns:
            UserWarning: As `score`.
        """
        head = check_head(self, self.alignment_head if head is None else head)
        return align(self, self._likelihood, read_pairs(self, sources, targets), head, progress)

    def choose_alignment_head(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        gold: Sequence[GoldLinks] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[HeadScore]:
        """Finds the layer and head that align words best, and sets `alignment_head`.

        Args:
            sources, targets: As for `align`; a few hundred pairs that the model was not trained on.
            gold: as many `kformer.GoldLinks`, the alignments by hand. By default the best head is
                the one whose links from source to target agree most with its links from target to
                source.
            progress: Called with the number of pairs done, after each batch.

        Returns:
            list of `kformer.HeadScore` of each head, and of the mean of each layer, best first.

        Raises:
            TypeError, ValueError: As `score`; or there is no text.
        """
        pairs = read_pairs(self, sources, targets)
        if gold is not None:
            check_as_many(sources=pairs.sources, gold=gold)
        assert isinstance(self._likelihood, BatchLikelihood)  # An ensemble does not align.
        scores = score_heads(self, self._likelihood, pairs, gold, progress)
        self.alignment_head = scores[0].head
        return scores

    def attend(self, text: str, target: str | None = None) -> AttentionMaps:
        """Returns the attention of every layer and head for one sentence.

        Args:
            text: The source sentence.
            target: Its translation; by default the result of `translate`.

        Returns:
            `AttentionMaps`, of the self-attention of encoder and decoder, and of the attention from
            the decoder to the source.
        """
        check_text("text", text)
        target = (
            self.translate([text], split=False)[0]
            if target is None
            else check_text("target", target)
        )
        source, tokenizer = self.source_rows([text]), self.target_tokenizer
        ids = tokenizer.tokenize([target])
        target_in, written = tokenizer.with_start(ids), tokenizer.with_end(ids)
        return AttentionMaps(
            self.tokenizer.pieces(source[0]),
            tokenizer.pieces(target_in[0].numpy()),
            tokenizer.pieces(written[0].numpy()),
            self.transformer.attend((tf.constant(source), target_in.to_tensor())),
        )

    def _read(self, texts, name, did, target_language=None):
        tokenizer = self.tokenizer.into(target_language)
        return read_texts(tokenizer, texts, self.max_source_length, name, did)

    def _read_target(self, texts, name, did, extra_length=0):
        most = self.max_source_length + extra_length
        return read_texts(self.target_tokenizer, texts, most, name, did)

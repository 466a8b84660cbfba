"""The SavedModel of a translator: its search in graph, the scores of given translations.

Axes: B batch, N sequences a text, S source length, T target length.
"""

from collections.abc import Sequence

import keras
import tensorflow as tf

from kformer.arguments import UNKNOWN_LANGUAGE
from kformer.decoding.scoring import likelihood
from kformer.decoding.search_ids import FixedSearch
from kformer.export.saved_model.graph_search import Searching, map_in_chunks
from kformer.export.saved_model.serving_signatures import CHUNK_LOGITS, ServingSignatures, as_many
from kformer.export.saved_model.text_in_graph import degenerate_flags, joined
from kformer.export.saved_model.warmup import BatchLimits, Codes, Examples, examples_of
from kformer.inference.search_options import EXTRA_LENGTH, SearchOptions
from kformer.model.transformer import Transformer
from kformer.tasks.quality_estimates import QualityInGraph
from kformer.tasks.search_defaults import with_beams
from kformer.tasks.translator import Translator
from kformer.tasks.word_alignment import index_of


class Translating(Searching):
    """Translates sources, each of pieces and the end id.

    The translation of a blank one is empty, as is one into an unknown language.
    """

    output = "translation"

    def _longest(self, length):
        return length + EXTRA_LENGTH

    def _has_answer(self, ids, flags):
        has_answer = (ids.row_lengths() > 1)[:, tf.newaxis]
        for name, raised in flags.items():
            if name.startswith(UNKNOWN_LANGUAGE):
                has_answer &= ~raised
        return has_answer

    def _degenerate(self, source, ids, rows, lengths, number):
        lengths_without_end = tf.cast(ids.row_lengths(), tf.int32) - 1
        source_lengths = tf.repeat(lengths_without_end, number)
        return degenerate_flags(tf.repeat(source, number, axis=0), source_lengths, rows, lengths)

    def _whole(self, ids, rows, number):
        return rows


class SavedTranslatorSignatures(ServingSignatures):
    """The functions of a translator that a server runs.

    Flags of a translation are "length limit", "loop" and "length ratio", as in
    `kformer.Translation`; and "unsure", with the output `quality`, if the translator has a quality
    estimate.

    Args:
        translator: `kformer.Translator`.
        transformer: The float32 copy of its transformer whose variables are saved.
        options: `kformer.SearchOptions`.
        limits: `kformer.export.saved_model.warmup.BatchLimits`.
        xla: Whether to compile the decode loops.
    """

    def __init__(
        self,
        translator: Translator,
        transformer: Transformer,
        options: SearchOptions,
        limits: BatchLimits,
        xla: bool = False,
    ):
        super().__init__(translator, transformer, limits)
        self._target, self._head = translator.target_tokenizer, index_of(translator.alignment_head)

        def rating(options):
            return QualityInGraph(translator, options) if translator.quality_estimate else None

        def translating(options):
            search = FixedSearch(options, self._target, self._longest)
            most, rate = self._longest if xla else None, rating(options)
            return Translating(transformer, search, self._target, most, translator.shortlist, rate)

        self._rate_log_probability = rating(SearchOptions())  # The score of greedy search is one.

        self._best = translating(options)
        self._several = translating(with_beams(options))

    def _own(self):
        return {
            "serving_default": self.translate,
            "beam": self.beam,
            "score": self.score,
            "align": self.align,
        }

    def translate(self, text: tf.Tensor, target_language: tf.Tensor | None = None):
        """Returns the best translation of each text.

        Returns:
            translation: string (B,).
            score: float32 (B,), defined by `kformer.Greedy` and `kformer.Beam`.
            truncated: bool (B,), whether the text was cut.
            flags: string (B,).
            quality: float32 (B,), the expected chrF from 0 to 1, if it is estimated.
        """
        rows = self._sources(text, target_language)
        answers = self._best(rows.ids, rows.flags("source"), self._at_once(rows))
        best = {name: tensor[:, 0] for name, tensor in answers.items()}
        return {**best, "truncated": rows.cut}

    def beam(self, text: tf.Tensor, target_language: tf.Tensor | None = None):
        """Returns the N best translations of each text, best first.

        Returns:
            translation: string (B, N).
            score: float32 (B, N). If a text has fewer than N translations, the rest are empty, with
                scores of -1e9.
            flags: string (B, N).
            quality: float32 (B, N), as of `translate`; 0 for missing translations.
        """
        rows = self._sources(text, target_language)
        return self._several(rows.ids, rows.flags("source"), self._at_once(rows))

    def score(self, source: tf.Tensor, target: tf.Tensor, target_language: tf.Tensor | None = None):
        """Scores given translations.

        Args:
            source, target: string (B,).
            target_language: string (B,), the language of the targets, for a model with several.

        Returns:
            log_probability: float32 (B,), natural, of the whole target with its end.
            tokens: int32 (B,), number of ids of the target with its end.
            flags: string (B,); also "target cut" and "target not UTF-8".
            quality: float32 (B,), as of `translate`.
        """
        rows, targets = self._pairs(source, target, target_language)
        flags = {**rows.flags("source"), **targets.flags("target")}
        scores = self._scored(rows.ids, targets, self._target.start_id, self._at_once(rows))
        qualities = {}
        if self._rate_log_probability:
            sides = self._filled(rows.ids), targets.ids.to_tensor(self._target.padding_id)
            quality = self._rate_log_probability(*sides, scores["log_probability"])
            qualities["quality"] = quality
        return {**scores, "flags": joined(flags), **qualities}

    def align(self, source: tf.Tensor, target: tf.Tensor, target_language: tf.Tensor | None = None):
        """Returns the attention of given translations, by the translator's `alignment_head`.

        Args:
            source, target, target_language: As for `score`.

        Returns:
            attention: float32 (B, T, S), of each piece of a target to each of its source.
            source_pieces, target_pieces: string (B, S) and (B, T); "" for ids that stand for no
                text: the end, a language, padding.
        """
        rows, targets = self._pairs(source, target, target_language)
        length = tf.reduce_max(tf.concat([targets.lengths, [1]], axis=0))
        chunk = CHUNK_LOGITS // (length * self._network.target_embedding.vocab_size)
        sides = [ids.to_tensor(self._network.padding_id) for ids in (rows.ids, targets.ids)]

        def attend(*sides):
            _, attention = likelihood(self._network, *sides, self._target.start_id, **self._head)
            return {"attention": attention}

        spec = {"attention": tf.TensorSpec([None, None, None], tf.float32)}
        at_once = tf.clip_by_value(chunk, 1, self._at_once(rows))
        return {
            **map_in_chunks(attend, spec, at_once, *sides),
            "source_pieces": _pieces(self._tokenizer, sides[0]),
            "target_pieces": _pieces(self._target, sides[1]),
        }

    def _pairs(self, source, target, target_language):
        """Reads sources and targets within all limits."""
        with tf.control_dependencies([as_many("targets as sources", source, target)]):
            sources = self._read(self._tokenizer, source, self._longest, target_language)
            targets = self._read(self._target, target, self._longest + EXTRA_LENGTH)
        return self._within_limits(sources, targets)


def _pieces(tokenizer, ids):
    """Returns the pieces of ids, string (B, L); "" for those that stand for no text."""
    symbols = {tokenizer.padding_id, tokenizer.end_id, *tokenizer.language_ids.values()}
    symbols |= {tokenizer.prefix_id} - {None}
    is_symbol = tf.reduce_any(ids[..., tf.newaxis] == sorted(symbols), axis=-1)
    return tf.where(is_symbol, "", tokenizer.in_graph.id_to_string(ids))


class SavedTranslatorExport:
    """The settings, examples and signatures of a translator, for `export_saved_model`.

    Args:
        translator: `kformer.Translator`.
        options: `SearchOptions`.

    Attributes:
        tokenizers: To save with the weights.
        settings: dict for the report.
        about: A sentence for the README.
    """

    def __init__(self, translator: Translator, options: SearchOptions):
        self._translator = translator
        self._search = options
        self.tokenizers = [translator.tokenizer, translator.target_tokenizer]
        self.settings = {
            "beam_size": options.beam_size,
            "length_penalty": options.length_penalty,
            "search": options.changed,
            "n_best": with_beams(options).n_best,
            "max_target_length": translator.max_source_length + EXTRA_LENGTH,
        }
        if translator.shortlist:
            longest = translator.max_source_length
            self.settings["candidates"] = translator.shortlist.most(longest)
        if translator.quality_estimate:
            self.settings["quality_estimate"] = translator.quality_estimate.get_config()
        self.settings |= translator.about
        if translator.target_languages:
            self.settings["target_languages"] = [*translator.target_languages]
        self.about = about_search("translates", self._search)

    def signatures(
        self, network: keras.Model, limits: BatchLimits, xla: bool
    ) -> SavedTranslatorSignatures:
        """Returns the signatures, with the weights of `network`."""
        return SavedTranslatorSignatures(self._translator, network, self._search, limits, xla)

    def examples(self, texts: Sequence[str] | None) -> dict[str, Examples | Codes]:
        """Returns examples by the name of an input, of `texts` or of the vocabulary."""
        languages = self._translator.target_languages
        translator = self._translator.into(languages[0] if languages else None)
        sources = examples_of(translator.tokenizer, texts)
        targets = Examples(
            translator.translate(sources.sentences, split=False), self._translator.target_tokenizer
        )
        examples: dict[str, Examples | Codes]
        examples = {"text": sources, "source": sources, "target": targets}
        return examples | ({"target_language": Codes([*languages])} if languages else {})


def about_search(does: str, options: SearchOptions):
    """Returns a sentence on how a model searches."""
    shown = ("beam_size", "length_penalty")
    settings = [f"{name}={value}" for name, value in options.changed.items() if name not in shown]
    settings = f" ({', '.join(settings)})" if settings else ""
    if options.beam_size == 1:
        return f"It {does} by greedy search{settings}."
    return (
        f"It {does} with {options.beam_size} beams and a length penalty of "
        f"{options.length_penalty}{settings}."
    )

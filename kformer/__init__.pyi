from . import (
    decoding as decoding,
    documents as documents,
    export as export,
    identification as identification,
    imports as imports,
    inference as inference,
    model as model,
    plot as plot,
    pocket as pocket,
    scale as scale,
    server as server,
    serving as serving,
    tasks as tasks,
    text as text,
    training as training,
)
from .decoding.scoring import Scored, perplexity
from .decoding.search.beam import Beam
from .decoding.search.greedy import Greedy
from .decoding.search.sampling import Sample
from .decoding.shortlist import Shortlist
from .documents.document_report import DocumentTranslation, Unplaced
from .documents.document_translation import document_segments, translate_document, translate_markup
from .export.loading import from_published, load
from .export.route import Route
from .identification.identifier import Identification, identify
from .imports.bergamot import from_bergamot
from .imports.ctranslate2 import from_ctranslate2
from .imports.fairseq import from_fairseq
from .imports.from_torch import from_torch
from .imports.marian import from_marian
from .imports.opennmt import from_opennmt
from .imports.opennmt_tf import from_opennmt_tf
from .inference.glossary import Glossary
from .inference.results import Generation, Translation
from .inference.search_options import SearchOptions
from .inference.splitting import SentenceTranslation, SplitTranslation
from .inference.any_translator import AnyTranslator, SavedTranslator
from .model.attention import MultiHeadAttention, scaled_dot_product_attention
from .model.decoder import Decoder, DecoderLayer
from .model.embedding import PositionalEncoding, TokenEmbedding
from .model.encoder import Encoder, EncoderLayer
from .model.feed_forward import FeedForward
from .model.masks import causal_mask, padding_mask
from .model.sequence_classifier import SequenceClassifier, TokenClassifier
from .model.ssru import SSRU
from .model.transformer import Transformer
from .model.transformer_decoder import TransformerDecoder
from .model.transformer_encoder import TransformerEncoder
from .plot import attention_page, plot_attention, plot_history, plot_positions, plot_schedules
from .pocket.demo_translator import demo
from .tasks.ensemble import Ensemble
from .tasks.language_model import LanguageModel
from .tasks.text_classifier import TextClassifier
from .tasks.text_encoder import TextEncoder
from .tasks.text_tagger import TextTagger
from .tasks.translator import Translator
from .tasks.word_alignment import HeadScore
from .text.alignment import AlignmentHead, GoldLinks, WordAlignment, alignment_error_rate
from .text.labels import Prediction, Predictions, Tagging
from .text.scores import bleu, chrf
from .text.tokenizer import Tokenizer

__all__ = [
    "SSRU",
    "AlignmentHead",
    "AnyTranslator",
    "Beam",
    "Decoder",
    "DecoderLayer",
    "DocumentTranslation",
    "Encoder",
    "EncoderLayer",
    "Ensemble",
    "FeedForward",
    "Generation",
    "Glossary",
    "GoldLinks",
    "Greedy",
    "HeadScore",
    "Identification",
    "LanguageModel",
    "MultiHeadAttention",
    "PositionalEncoding",
    "Prediction",
    "Predictions",
    "Route",
    "Sample",
    "SavedTranslator",
    "Scored",
    "SearchOptions",
    "SentenceTranslation",
    "SequenceClassifier",
    "Shortlist",
    "SplitTranslation",
    "Tagging",
    "TextClassifier",
    "TextEncoder",
    "TextTagger",
    "TokenClassifier",
    "TokenEmbedding",
    "Tokenizer",
    "Transformer",
    "TransformerDecoder",
    "TransformerEncoder",
    "Translation",
    "Translator",
    "Unplaced",
    "WordAlignment",
    "alignment_error_rate",
    "attention_page",
    "bleu",
    "causal_mask",
    "chrf",
    "demo",
    "document_segments",
    "from_bergamot",
    "from_ctranslate2",
    "from_fairseq",
    "from_marian",
    "from_opennmt",
    "from_opennmt_tf",
    "from_published",
    "from_torch",
    "identify",
    "load",
    "padding_mask",
    "perplexity",
    "plot_attention",
    "plot_history",
    "plot_positions",
    "plot_schedules",
    "scaled_dot_product_attention",
    "translate_document",
    "translate_markup",
]

__version__: str

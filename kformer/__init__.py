"""kformer: the encoder-decoder Transformer for Keras 3, from text to server and phone.

The public names, in the order of a sentence's way:

    text -> ids -> vectors -> encoder -> memory -> decoder -> logits -> search -> ids -> text

Learning is in `kformer.training`, shipping in `kformer.export`. Names are imported when they are
first used, so that `import kformer` itself costs milliseconds.
"""

import importlib

from kformer.lazy import imported

_MODULE_OF = {
    "Tokenizer": "tokenizer",
    "padding_mask": "masks",
    "causal_mask": "masks",
    "TokenEmbedding": "embedding",
    "PositionalEncoding": "embedding",
    "scaled_dot_product_attention": "attention",
    "MultiHeadAttention": "attention",
    "FeedForward": "feed_forward",
    "EncoderLayer": "encoder",
    "Encoder": "encoder",
    "DecoderLayer": "decoder",
    "Decoder": "decoder",
    "Transformer": "transformer",
    "Greedy": "search",
    "Beam": "search",
    "Sample": "search",
    "SearchOptions": "search_options",
    "Translator": "translator",
    "Translation": "translation",
    "Scored": "likelihood",
    "perplexity": "likelihood",
    "load": "translator",
    "bleu": "scores",
    "chrf": "scores",
    "plot_attention": "plot",
}

__all__ = list(_MODULE_OF)


def __getattr__(name):
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("kformer")
    return imported("kformer", _MODULE_OF, name)


def __dir__():
    return [*__all__, "__version__"]

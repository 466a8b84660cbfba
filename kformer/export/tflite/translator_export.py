"""What a translator's `.tflite` file has of its own: a search, and translations."""

from kformer.decoding.options import SearchOptions
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from kformer.export.tflite.translator_signatures import TranslatorSignatures
from kformer.pocket.translator import PocketTranslator


class TranslatorExport:
    """What `export_tflite` needs to know of a translator; `ClassifierExport` has the same.

    Args:
        translator: `kformer.Translator`.
        options: `SearchOptions`.

    Attributes:
        pocket: The class that runs the file.
        names: Names of its signatures.
        tokenizers: list of `kformer.Tokenizer`, which the file must be able to hold.
        about: dict of further metadata.
    """

    pocket = PocketTranslator
    names = TranslatorSignatures.names

    def __init__(self, translator, options: SearchOptions):
        self._translator = translator
        self._options = options
        self.about = translator.about
        self.tokenizers = [translator.tokenizer, translator.target_tokenizer]

    def quantized(self, network, constant, bits):
        """Returns `network`, a `kformer.Transformer`, whose tables are rounded.

        Args:
            network, constant, bits: See `with_quantized_embeddings`.
        """
        return with_quantized_embeddings(network, constant, bits)

    def signatures(self, network, limits, batch_size, constant) -> TranslatorSignatures:
        """Returns the signatures of `network`, whose tables of text are made by `constant`."""
        return TranslatorSignatures(
            self._translator, network, limits, batch_size, constant, self._options
        )

    def metadata(self, limits) -> dict:
        """Returns the search, the sizes of the model and its special ids."""
        transformer = self._translator.transformer
        source, target = self.tokenizers
        shortlist = self._translator.shortlist
        config = transformer.get_config()
        sizes = ("num_layers", "d_model", "num_heads", "d_ff", "activation")
        return {
            "beam_size": self._options.beam_size,
            "length_penalty": self._options.length_penalty,
            "search": self._options.changed,
            **{name: config[name] for name in sizes},
            "num_decoder_layers": transformer.decoder.num_layers,
            "parameters": transformer.count_params(),
            "source_vocab_size": source.vocab_size,
            "target_vocab_size": target.vocab_size,
            **({"target_languages": source.language_ids} if source.language_ids else {}),
            **({"candidates": shortlist.size} if shortlist else {}),
            "padding_id": source.padding_id,
            "unknown_id": source.unknown_id,
            "end_id": source.end_id,
            "target_padding_id": target.padding_id,
            "target_start_id": target.start_id,
            "target_end_id": target.end_id,
            "max_target_length": limits.target_length,
            "max_target_bytes": limits.target_bytes,
        }

    def answer(self, pocket, text) -> dict:
        """Returns what `pocket`, which runs the file, says of a text, for a test vector."""
        [translation] = pocket.translate([text])
        return {"translation": translation}

"""What a language model's `.tflite` file has of its own: a search, and continuations."""

from kformer.decoding.options import SearchOptions
from kformer.export.tflite.language_model_signatures import LanguageModelSignatures
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from kformer.pocket.language_model import PocketLanguageModel


class LanguageModelExport:
    """What `export_tflite` needs to know of a language model; see `TranslatorExport`.

    Args:
        model: `kformer.LanguageModel`.
        options: `SearchOptions`.
    """

    pocket = PocketLanguageModel
    names = LanguageModelSignatures.names

    def __init__(self, model, options: SearchOptions):
        self._model = model
        self._options = options
        self.about: dict = {}
        self.tokenizers = [model.tokenizer]

    def quantized(self, network, constant, bits):
        """Returns `network`, a `kformer.TransformerDecoder`, whose table is rounded.

        Args:
            network, constant, bits: See `with_quantized_embeddings`.
        """
        return with_quantized_embeddings(network, constant, bits)

    def signatures(self, network, limits, batch_size, constant) -> LanguageModelSignatures:
        """Returns the signatures of `network`, whose tables of text are made by `constant`."""
        return LanguageModelSignatures(
            self._model, network, limits, batch_size, constant, self._options
        )

    def metadata(self, limits) -> dict:
        """Returns the search, the sizes of the model and its special ids."""
        network, tokenizer = self._model.network, self._model.tokenizer
        config = network.get_config()
        sizes = ("num_layers", "d_model", "num_heads", "d_ff", "activation", "vocab_size")
        return {
            "beam_size": self._options.beam_size,
            "length_penalty": self._options.length_penalty,
            "search": self._options.changed,
            **{name: config[name] for name in sizes},
            "parameters": network.count_params(),
            "padding_id": tokenizer.padding_id,
            "unknown_id": tokenizer.unknown_id,
            "start_id": tokenizer.start_id,
            "end_id": tokenizer.end_id,
            "max_target_length": limits.target_length,
            "max_target_bytes": limits.target_bytes,
        }

    def answer(self, pocket, text) -> dict:
        """Returns what `pocket`, which runs the file, says of a prompt, for a test vector."""
        [generation] = pocket.generate([text])
        return {"generation": generation}

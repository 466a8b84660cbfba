"""What a classifier's `.tflite` file has of its own: labels and their probabilities."""

from kformer.export.tflite.classifier_signatures import ClassifierSignatures
from kformer.export.tflite.quantized_embedding import with_parts, with_quantized_embeddings
from kformer.pocket.classifier import PocketClassifier


class ClassifierExport:
    """What `export_tflite` needs to know of a classifier; see `TranslatorExport`.

    Args:
        classifier: `kformer.TextClassifier`.
    """

    pocket = PocketClassifier
    names = ClassifierSignatures.names

    def __init__(self, classifier):
        self._classifier = classifier
        self.about: dict = {}
        self.tokenizers = [classifier.tokenizer]

    def quantized(self, network, constant, bits):
        """Returns `network`, a `kformer.SequenceClassifier`, whose table is rounded.

        Args:
            network, constant, bits: See `with_quantized_embeddings`.
        """
        encoder = with_quantized_embeddings(network.encoder, constant, bits)
        return with_parts(network, encoder=encoder)

    def signatures(self, network, limits, batch_size, constant) -> ClassifierSignatures:
        """Returns the signatures of `network`, whose tables of text are made by `constant`."""
        return ClassifierSignatures(self._classifier, network, limits, batch_size, constant)

    def metadata(self, limits) -> dict:
        """Returns the labels, the sizes of the model and its special ids."""
        network, tokenizer = self._classifier.network, self._classifier.tokenizer
        config = network.encoder.get_config()
        sizes = ("num_layers", "d_model", "num_heads", "d_ff", "activation", "vocab_size")
        return {
            "labels": list(self._classifier.labels),
            "pooling": network.pooling,
            **{name: config[name] for name in sizes},
            "parameters": network.count_params(),
            "padding_id": tokenizer.padding_id,
            "unknown_id": tokenizer.unknown_id,
            "end_id": tokenizer.end_id,
        }

    def answer(self, pocket, text) -> dict:
        """Returns what `pocket`, which runs the file, says of a text, for a test vector."""
        [label], [probabilities] = pocket.predict([text])
        return {"label": label, "probabilities": [round(float(p), 6) for p in probabilities]}

"""What a classifier's SavedModel has of its own: labels."""

from kformer.export.saved_model.graph.classifier_signatures import ClassifierSignatures
from kformer.export.saved_model.warmup import Examples, examples_of


class ClassifierExport:
    """What `export_saved_model` needs to know of a classifier; see `TranslatorExport`.

    Args:
        classifier: `kformer.TextClassifier`.
    """

    name = "classifier"
    targets = False

    def __init__(self, classifier):
        self._classifier = classifier
        self.tokenizers = [classifier.tokenizer]
        self.settings = {"labels": list(classifier.labels)}
        self.about = f"Its labels are {', '.join(classifier.labels)}."

    def signatures(self, network, limits, xla) -> ClassifierSignatures:
        """Returns the signatures, with the weights of `network`."""
        return ClassifierSignatures(self._classifier, network, limits, xla)

    def examples(self, texts) -> dict[str, Examples]:
        """Returns examples by the name of an input, of `texts` or of the vocabulary."""
        return {"text": examples_of(self._classifier.tokenizer, texts)}

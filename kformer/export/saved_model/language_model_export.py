"""What a language model's SavedModel has of its own: a search, and prompts."""

from kformer.decoding.options import SearchOptions
from kformer.export.saved_model.graph.language_model_signatures import LanguageModelSignatures
from kformer.export.saved_model.translator_export import about_search
from kformer.export.saved_model.warmup import Examples, examples_of
from kformer.tasks.kinds import of_several


class LanguageModelExport:
    """What `export_saved_model` needs to know of a language model; see `TranslatorExport`.

    Args:
        model: `kformer.LanguageModel`.
        options: `SearchOptions`.
    """

    name = "language_model"
    targets = False

    def __init__(self, model, options: SearchOptions):
        self._model = model
        self._search = options
        self.tokenizers = [model.tokenizer]
        self.settings = {
            "beam_size": options.beam_size,
            "length_penalty": options.length_penalty,
            "search": options.changed,
            "n_best": of_several(options).n_best,
        }
        self.about = about_search("continues prompts", self._search)

    def signatures(self, network, limits, xla) -> LanguageModelSignatures:
        """Returns the signatures, with the weights of `network`."""
        return LanguageModelSignatures(self._model, network, self._search, limits, xla)

    def examples(self, texts) -> dict[str, Examples]:
        """Returns examples by the name of an input, of `texts` or of the vocabulary."""
        return {"text": examples_of(self._model.tokenizer, texts)}

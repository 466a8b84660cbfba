"""What a translator's SavedModel has of its own: a search, and targets."""

from kformer.decoding.options import EXTRA_LENGTH, SearchOptions
from kformer.export.saved_model.graph.translator_signatures import TranslatorSignatures
from kformer.export.saved_model.warmup import Codes, Examples, examples_of
from kformer.serving.address import MODEL
from kformer.tasks.kinds import of_several


class TranslatorExport:
    """What `export_saved_model` needs to know of a translator; `ClassifierExport` has the same.

    Args:
        translator: `kformer.Translator`.
        options: `SearchOptions`.

    Attributes:
        name: Of the model on a server.
        targets: Whether texts have targets, whose ids count for the limits.
        tokenizers: To save with the weights.
        settings: dict for the report.
        about: A sentence for the README.
    """

    name = MODEL
    targets = True

    def __init__(self, translator, options: SearchOptions):
        self._translator = translator
        self._search = options
        self.tokenizers = [translator.tokenizer, translator.target_tokenizer]
        self.settings = {
            "beam_size": options.beam_size,
            "length_penalty": options.length_penalty,
            "search": options.changed,
            "n_best": of_several(options).n_best,
            "max_target_length": translator.max_source_length + EXTRA_LENGTH,
        }
        if translator.shortlist:
            self.settings["candidates"] = translator.shortlist.size
        self.settings |= translator.about
        if translator.target_languages:
            self.settings["target_languages"] = [*translator.target_languages]
        self.about = about_search("translates", self._search)

    def signatures(self, network, limits, xla) -> TranslatorSignatures:
        """Returns the signatures, with the weights of `network`."""
        return TranslatorSignatures(self._translator, network, self._search, limits, xla)

    def examples(self, texts) -> dict[str, Examples | Codes]:
        """Returns examples by the name of an input, of `texts` or of the vocabulary."""
        languages = self._translator.target_languages
        translator = self._translator.into(languages[0] if languages else None)
        sources = examples_of(translator.tokenizer, texts)
        targets = Examples(
            translator.translate(sources.sentences), self._translator.target_tokenizer
        )
        examples = {"text": sources, "source": sources, "target": targets}
        return {**examples, "target_language": Codes([*languages])} if languages else examples


def about_search(does, options: SearchOptions):
    """Returns a sentence on how a model searches."""
    shown = ("beam_size", "length_penalty")
    others = [f"{name}={value}" for name, value in options.changed.items() if name not in shown]
    others = f" ({', '.join(others)})" if others else ""
    if options.beam_size == 1:
        return f"It {does} by greedy search{others}."
    return (
        f"It {does} with {options.beam_size} beams and a length penalty of "
        f"{options.length_penalty}{others}."
    )

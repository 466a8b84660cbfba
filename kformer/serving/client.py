"""A client of TensorFlow Serving, for the SavedModel that kformer exports."""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

from kformer.arguments import (
    as_texts,
    check_integer,
    check_languages_known,
    one_or_many,
    pair_or_pairs,
    prompt_or_prompts,
    text_or_texts,
)
from kformer.serving.address import MODEL
from kformer.serving.answers import (
    ServedClass,
    ServedGeneration,
    ServedScore,
    ServedTranslation,
    Signature,
    Tokenized,
    VersionStatus,
)
from kformer.serving.connection import Connection
from kformer.serving.request_rows import (
    inputs_of,
    read_best,
    read_class,
    read_generation,
    read_generations,
    read_score,
    read_several,
    read_tags,
    read_tokenized,
    read_vector,
    warn_of_cut,
)
from kformer.serving.terms import best_with_terms
from kformer.text.degenerate import check_prompts
from kformer.text.glossary import Glossary, check_glossary
from kformer.text.labels import Tagging, tagger_text, tagging
from kformer.text.paragraphs.split_translation import (
    SplitTranslation,
    check_split,
    translate_split,
)


class Client:
    """Asks a server for translations, for labels of texts, or for continuations of prompts.

    A call may have any number of texts: they are sent in batches, several at the same time, and
    results keep their order. Requests that fail because of a broken connection or a busy server
    are retried, with growing waits. All methods are thread-safe.

    Args:
        url: "http://host:8501", "https://host/path" for REST; "grpc://host:8500" or
            "grpcs://host:8500" for gRPC, which needs the extra `serving`. Without a scheme,
            "host:8501" is REST and "host:8500" gRPC.
        model: The model's name on the server; an export calls it "translator", "classifier" or
            "language_model".
        version, label: A version by its number or by its label; by default the newest.
        timeout: Seconds for a whole call with all of its requests, attempts and waits.
        batch_size: Maximum number of texts per request, within the server's limit.
        connections: Maximum number of concurrent requests of a call.
        retries: Maximum number of retries of a request.
        headers: Headers of every request, by name: {"Authorization": "Bearer ..."}. Headers that
            identify you are sent by https and grpcs, and to this machine, only.
        ca_file: File of trusted certificates for https and grpcs; by default the system's.

    Raises:
        FileNotFoundError: `ca_file` does not exist.
        ImportError: The URL is for gRPC, and the extra is not installed.
        TypeError, ValueError: An argument is wrong.

    All methods that ask the server raise:
        ServerError: The server refused the request or failed, with its code and message; or its
            answer is malformed or over 64 MiB.
        ConnectionError: The server cannot be reached.
        TimeoutError: The server did not answer in time.

    Examples:
        >>> from kformer.serving import Client
        >>> with Client("http://localhost:5000") as client:  # Of `kformer serve de-en.tflite`.
        ...     client.translate("Ein Hund läuft.")
        'A dog runs.'
    """

    def __init__(
        self,
        url: str,
        model: str = MODEL,
        *,
        version: int | None = None,
        label: str | None = None,
        timeout: float = 60.0,
        batch_size: int = 32,
        connections: int = 4,
        retries: int = 5,
        headers: dict[str, str] | None = None,
        ca_file: str | None = None,
    ):
        settings = timeout, batch_size, connections, retries, headers or {}, ca_file
        self._server = Connection(url, model, version, label, *settings)

    @text_or_texts
    def translate(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        *,
        split: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[str]:
        """Translates texts, with the search that the export chose.

        Args:
            texts: list of strings; or one string, whose result is not in a list.
            progress: Called with the number of texts in each finished request.
            split: Whether each text may have many sentences, as in `split_translations`.
            source_language: With `split`, the language of the texts, such as "de".
            target_language: The language to translate into, for a model with several.
            glossary: `kformer.Glossary` of terms that have given translations, or a dict; as for
                `kformer.serving.terms.best_with_terms`.

        Raises:
            ValueError: The model does not translate into that language; the message lists its
                languages. The server refuses a language for a model without a choice, and a request
                without a language for a model with several; or no glossary is possible.

        Warns:
            UserWarning: A text was too long and was cut.
        """
        check_split(split, source_language)
        if split:
            translations = self._split(texts, source_language, progress, target_language, glossary)
            return [translation.text for translation in translations]
        results = self._translations(texts, progress, 1, target_language, glossary)
        return [best.text for best, *_ in results]

    @text_or_texts
    def translations(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        n_best: int = 1,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[list[ServedTranslation]]:
        """Translates texts, with the scores and flags of their translations.

        Args:
            texts, progress, target_language, glossary: As for `translate`.
            n_best: Maximum number of translations of each text; 1 with a glossary. If it is over 1,
                the signature `beam` is asked, which returns as many as the export chose.

        Returns:
            for each text a list of translations, best first.

        Raises:
            ValueError: As for `translate`.

        Warns:
            UserWarning: A text was too long and was cut.
        """
        return self._translations(texts, progress, n_best, target_language, glossary)

    @text_or_texts
    def split_translations(
        self,
        texts: Iterable[str],
        source_language: str | None = None,
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
        glossary: Glossary | Mapping[str, str] | None = None,
    ) -> list[SplitTranslation]:
        """Translates texts of many sentences, like `kformer.Translator.split_translations`.

        Sentences that prove too long for the model are split and asked again. `timeout` holds for
        the first request of all sentences, and anew for this second one.

        Args:
            texts: list of strings, each of any number of sentences; or one string.
            source_language: Their language, such as "de"; by default they are split as English.
            progress: Called with the number of texts done, in proportion to their sentences.
            target_language, glossary: As for `translate`.

        Raises:
            ImportError: The package sentencex is not installed.
            ValueError: As for `translate`.

        Warns:
            UserWarning: A sentence was too long.
        """
        return self._split(texts, source_language, progress, target_language, glossary)

    @text_or_texts
    def classify(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[ServedClass]:
        """Returns the label of each text and the probabilities of all labels, from a classifier.

        Args:
            texts, progress: As for `translate`.

        Warns:
            UserWarning: A text was too long and was cut.
        """
        answers = self._server.predict("classify", {"text": texts}, read_class, progress)
        warn_of_cut([answer.flags for answer in answers], "classified")
        return answers

    @text_or_texts
    def tag(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[Tagging]:
        """Returns a label for each word of each text, of a tagger.

        Args:
            texts, progress: As for `translate`.

        Warns:
            UserWarning: A text was too long; its last words have no label.
        """
        texts = as_texts(texts, "texts")
        inputs = {"text": [*map(tagger_text, texts)]}
        answers = self._server.predict("tag", inputs, read_tags, progress)
        warn_of_cut([flags for *_, flags in answers], "tagged")
        return [tagging(text, *answer[:2]) for text, answer in zip(texts, answers, strict=True)]

    @prompt_or_prompts
    def generate(
        self, prompts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[str]:
        """Continues prompts, with the search that the export chose.

        Args:
            prompts: list of strings; or one string.
            progress: As for `translate`.

        Raises:
            ValueError: A prompt is too long to be continued.
        """
        return [best.text for best, *_ in self.generations(prompts, progress)]

    @prompt_or_prompts
    def generations(
        self,
        prompts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        n_best: int = 1,
    ) -> list[list[ServedGeneration]]:
        """Continues prompts, with the scores and flags of their continuations.

        Args:
            prompts, progress: As for `generate`.
            n_best: Maximum number of continuations of each prompt. If it is over 1, the signature
                `generate_beam` is asked, which returns as many as the export chose.

        Returns:
            for each prompt a list of continuations, best first.

        Raises:
            ValueError: A prompt is too long to be continued.
        """
        check_integer("n_best", n_best, least=1)
        several = "generate_beam", read_generations
        signature, read = ("generate", read_generation) if n_best == 1 else several
        results = self._server.predict(signature, {"text": prompts}, read, progress)
        check_prompts(generations[0].flags for generations in results)
        return [generations[:n_best] for generations in results]

    @pair_or_pairs
    def score(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[ServedScore]:
        """Returns the scores of given translations.

        Args:
            sources, targets: lists of strings of equal length; or one string each.
            progress, target_language: As for `translate`.

        Raises:
            ValueError: As for `translate`.
        """
        inputs = inputs_of(target_language, source=sources, target=targets)
        scores = self._server.predict("score", inputs, read_score, progress)
        check_languages_known((score.flags for score in scores), target_language)
        return scores

    @one_or_many
    def encode(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ):
        """Returns a vector for each text, for comparing texts: float32 array (B, D).

        Args:
            texts, progress, target_language: As for `translate`.

        Raises:
            ValueError: As for `translate`.

        Warns:
            UserWarning: A text was too long and was cut.
        """
        import numpy as np  # The other methods do not need it.

        inputs = inputs_of(target_language, text=texts)
        rows = self._server.predict("encode", inputs, read_vector, progress)
        check_languages_known((flags for _, flags in rows), target_language)
        warn_of_cut([flags for _, flags in rows], "encoded")
        vectors = [vector for vector, _ in rows]
        if len(widths := sorted({*map(len, vectors)})) > 1:
            rule = "All vectors must have one width."
            raise self._server.malformed(f"{rule} Received: widths {widths[0]} to {widths[-1]}.")
        return np.array(vectors, np.float32) if vectors else np.zeros((0, 0), np.float32)

    @text_or_texts
    def tokenize(
        self,
        texts: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> list[Tokenized]:
        """Returns the ids of each text, as the model reads them.

        Args:
            texts, progress, target_language: As for `translate`.

        Raises:
            ValueError: As for `translate`.
        """
        inputs = inputs_of(target_language, text=texts)
        tokenized = self._server.predict("tokenize", inputs, read_tokenized, progress)
        check_languages_known((text.flags for text in tokenized), target_language)
        return tokenized

    def status(self) -> list[VersionStatus]:
        """Returns the state of each version of the model, or of the chosen version."""
        return self._server.status()

    def metadata(self) -> dict[str, Signature]:
        """Returns the signatures of the model by name."""
        return self._server.metadata()

    def close(self):
        """Closes the connections."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_):
        self.close()

    def _split(self, texts, source_language, progress, target_language, glossary):
        glossary = check_glossary(glossary)

        def find(sentences, progress):
            answers = self._best(sentences, progress, target_language, glossary)
            return [best for [best] in answers]

        return translate_split(find, texts, source_language, progress)

    def _best(self, texts, progress, target_language, glossary):
        inputs = inputs_of(target_language, text=texts)
        if glossary is None:
            answers = self._server.predict("serving_default", inputs, read_best, progress)
        else:
            answers = best_with_terms(self._server, inputs, glossary, progress)
        check_languages_known((best.flags for [best] in answers), target_language)
        return answers

    def _translations(self, texts, progress, n_best, target_language, glossary):
        check_integer("n_best", n_best, least=1)
        glossary = check_glossary(glossary, n_best=n_best > 1)
        if n_best == 1:
            results = self._best(texts, progress, target_language, glossary)
            warn_of_cut([best.flags for [best] in results], "translated")
            return results
        inputs = inputs_of(target_language, text=texts)
        results = self._server.predict("beam", inputs, read_several, progress)
        check_languages_known((several[0].flags for several in results), target_language)
        warn_of_cut([several[0].flags for several in results], "translated")
        return [several[:n_best] for several in results]

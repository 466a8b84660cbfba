"""Translations of a server that have the terms of a glossary."""

from typing import Any

from kformer.serving.answers import ServedTranslation
from kformer.serving.connection import Connection
from kformer.serving.request_rows import WITH_GLOSSARY, read_best, read_score
from kformer.text.forced_terms import Draft, flagged_answers, force_terms
from kformer.text.glossary import Glossary

_SCORE = "score"


def best_with_terms(
    server: Connection, inputs: dict[str, Any], glossary: Glossary, progress: Any
) -> list[list[ServedTranslation]]:
    """Returns for each text a list of its best translation.

    `kformer serve` has a signature for it. Of TensorFlow Serving, a missing term takes the place of
    a word, or stands between two, where the signature `score` finds the translation likeliest; its
    score is then the log-probability.

    Args:
        server: `Connection`.
        inputs: The inputs of the signature `serving_default`.
        glossary: `kformer.Glossary`.
        progress: As for `Client.translate`.

    Raises:
        ValueError: The model has neither signature.
    """
    signatures = server.metadata()
    texts = inputs["text"]
    if WITH_GLOSSARY in signatures:
        terms = [glossary.text_for(text) for text in texts]
        return server.predict(WITH_GLOSSARY, {**inputs, "glossary": terms}, read_best, progress)
    if _SCORE not in signatures:
        raise ValueError(
            f"A glossary needs a model with the signature {WITH_GLOSSARY!r} or {_SCORE!r}. "
            f"Received: one with {', '.join(signatures)}."
        )
    answers = server.predict("serving_default", inputs, read_best, progress)

    def score(numbers, targets):
        columns = {name: [column[i] for i in numbers] for name, column in inputs.items()}
        columns = {"source": columns.pop("text"), "target": targets, **columns}
        drafts = []
        for i, text, scored in zip(
            numbers, targets, server.predict(_SCORE, columns, read_score), strict=True
        ):
            flags = tuple(flag for flag in answers[i][0].flags if flag == "source cut")
            total = scored.log_probability
            drafts.append(Draft(text, total, ServedTranslation(text, total, flags)))
        return drafts

    translations = [best.text for [best] in answers]
    return flagged_answers(answers, force_terms(glossary, texts, translations, score))

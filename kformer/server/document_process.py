"""A process that translates documents for a server, and asks it for the translations of texts.

Whatever a file makes a reader do, the server goes on, and it can end the process at any time.

The server writes pickled messages to stdin: a `DocumentJob`, then a `Reply` to each `Question`. The
process writes pickled questions to stdout, and an `Outcome` at the end of each job.
"""

import os
import pickle
import sys
import traceback
from typing import Any, NamedTuple

from kformer.documents.document_translation import translate_content
from kformer.inference.facts import ModelFacts
from kformer.inference.glossary import Glossary


class DocumentJob(NamedTuple):
    """A document to translate.

    Attributes:
        content, name, glossary: As for `translate_content`.
        facts: The facts about the translator of the server.
    """

    content: bytes
    name: str
    glossary: Glossary | None
    facts: ModelFacts


class Question(NamedTuple):
    """A call of a method of the server's translator."""

    method: str
    arguments: tuple


class Reply(NamedTuple):
    """The answer to a question; without one, the job ends."""

    answer: Any
    goes_on: bool


class Outcome(NamedTuple):
    """The end of a job.

    Attributes:
        result: Of `translate_content`; None if it failed.
        refusal: Why the document was refused; "" if it was not.
        failure: The traceback of another error; "" for none.
    """

    result: Any
    refusal: str = ""
    failure: str = ""


def main():
    """Translates the documents that come by stdin until it ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What libraries print must not stand among the answers.
    while True:
        try:
            job = pickle.load(requests)
        except EOFError:
            return
        outcome = _translated(job, requests, answers)
        if outcome is not None:
            _send(outcome, answers)


def _translated(job, requests, answers):
    """Returns the outcome of a job; None if the server does not go on."""
    translator = _Asking(job, requests, answers)
    try:
        result = translate_content(job.content, job.name, translator, glossary=job.glossary)
    except _Stopped:
        return None
    except ValueError as error:
        return Outcome(None, refusal=str(error))
    except Exception:
        return Outcome(None, failure=traceback.format_exc())
    return Outcome(result)


class _Stopped(BaseException):
    """The server does not go on with a job."""


class _Asking:
    """The translator of a server, in a process of it."""

    def __init__(self, job, requests, answers):
        self._requests, self._answers = requests, answers
        self.facts = job.facts

    def split_translations(self, texts, glossary=None, **_languages):
        return self._ask("split_translations", texts, glossary)

    def align(self, sources, targets):
        return self._ask("align", sources, targets)

    def _ask(self, method, *arguments):
        _send(Question(method, arguments), self._answers)
        reply = pickle.load(self._requests)
        if not reply.goes_on:
            raise _Stopped
        return reply.answer


def _send(message, file):
    pickle.dump(message, file)
    file.flush()

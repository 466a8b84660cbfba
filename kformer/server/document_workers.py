"""The processes that translate documents: started when needed, ended when nobody waits for them."""

import collections
import contextlib
import pickle
import subprocess
import sys
import threading
from typing import Any

from kformer.documents.document_report import DocumentTranslation
from kformer.server.document_process import DocumentJob, Outcome, Reply
from kformer.server.refusals import Refusal

# Python runs isolated (-I): its imports are those of this process, whatever the folder is.
_PROCESS = (
    "import sys; sys.path[:] = sys.argv[1:];"
    "from kformer.server.document_process import main; main()"
)


class DocumentWorkers:
    """Processes that translate a document each, and wait for the next one.

    Args:
        seconds: Time after which a document is refused.
    """

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._idle: collections.deque[subprocess.Popen] = collections.deque()
        self._is_closed = False

    def translate(
        self, job: DocumentJob, translator: Any, stop: "Stop"
    ) -> tuple[bytes, DocumentTranslation]:
        """Returns the translated document and its report; called in a thread."""
        process = self._idle.pop() if self._idle else _started()
        limit = threading.Timer(self._seconds, stop, ["late"])
        limit.daemon = True
        try:
            stop.watch(process)
            limit.start()
            outcome = _outcome(process, job, translator)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            if stop.reason == "late":
                raise Refusal(
                    413, f"A document may take {self._seconds:g} seconds. Received: a longer one."
                ) from error
            raise ChildProcessError("A process that translates a document was ended.") from error
        finally:
            limit.cancel()
            stop.watch(None)
            if process.poll() is None and not stop.reason and not self._is_closed:
                self._idle.append(process)
            else:
                _end(process)
        if outcome.refusal:
            raise ValueError(outcome.refusal)
        if outcome.failure:
            raise RuntimeError(outcome.failure)
        return outcome.result

    def close(self):
        """Ends the processes that wait for a document, and later all others."""
        self._is_closed = True
        while self._idle:
            _end(self._idle.pop())


class Stop:
    """Ends the process of a document from another thread, even before there is one.

    Attributes:
        reason: Why the process was ended, "" if it was not.
    """

    def __init__(self):
        self.reason = ""
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None

    def watch(self, process: subprocess.Popen | None):
        """Has a process end with the next call, or at once if there was one; None for no more."""
        with self._lock:
            self._process = process
            if process and self.reason:
                process.kill()

    def __call__(self, reason: str):
        with self._lock:
            self.reason = self.reason or reason
            if self._process:
                self._process.kill()


def _started():
    folders = [folder for folder in sys.path if folder]
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _PROCESS, *folders],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # Its errors are among its answers.
    )


def _outcome(process, job, translator) -> Outcome:
    """Sends a job to a process, and answers its questions until its outcome."""
    _send(job, process)
    while not isinstance(message := pickle.load(process.stdout), Outcome):
        try:
            answer = getattr(translator, message.method)(*message.arguments)
        except BaseException:
            with contextlib.suppress(OSError):
                _send(Reply(None, goes_on=False), process)
            raise
        _send(Reply(answer, goes_on=True), process)
    return message


def _send(message, process):
    pickle.dump(message, process.stdin)
    process.stdin.flush()


def _end(process):
    process.kill()
    with contextlib.suppress(OSError):  # Unsent data for a process that has ended.
        process.stdin.close()
    process.stdout.close()
    process.wait()

"""Ends training between two batches after SIGINT or SIGTERM."""

import signal
import threading

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A signal ended training; the run can be resumed.

    Attributes:
        exit_code: Exit code of a process that the signal ended: 130 for SIGINT, 143 for SIGTERM.

    Examples:
        >>> import signal
        >>> from kformer.training import Interrupted
        >>> error = Interrupted("Run the same command to go on.", signal.SIGTERM)
        >>> print(error, error.exit_code)
        Run the same command to go on. 143
    """

    def __init__(self, message: str, signal_number: int):
        super().__init__(message)
        self.exit_code = 128 + signal_number


class Interruption:
    """Context manager that records the first SIGINT or SIGTERM; a second one interrupts.

    Outside the main thread it records nothing, because Python handles signals in that thread.

    Attributes:
        signal_number: Number of the signal that came, or None.
    """

    def __init__(self):
        self.signal_number = None
        self._earlier = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self._earlier = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *_):
        for number, handler in self._earlier.items():
            signal.signal(number, handler)

    def _note(self, number, frame):
        if self.signal_number is not None:
            raise KeyboardInterrupt
        self.signal_number = number

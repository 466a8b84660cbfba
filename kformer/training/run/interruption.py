"""Stopping between two batches when the user, or the machine's owner, asks for it."""

import signal
import threading

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """Training stopped because a signal asked for it, and can go on.

    Attributes:
        exit_code: What a process returns that was ended so: 130 for SIGINT, 143 for SIGTERM.
    """

    def __init__(self, message: str, signal_number: int):
        super().__init__(message)
        self.exit_code = 128 + signal_number


class Interruption:
    """While entered, notes the first SIGINT or SIGTERM instead of breaking off; a second one does.

    Outside the main thread, where Python hears no signals, it notes nothing.

    Attributes:
        signal_number: Of the signal that came; None, if none did.
    """

    def __init__(self):
        self.signal_number = None
        self._earlier = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self._earlier = {one: signal.signal(one, self._note) for one in SIGNALS}
        return self

    def __exit__(self, *_):
        for one, handler in self._earlier.items():
            signal.signal(one, handler)

    def _note(self, number, frame):
        if self.signal_number is not None:
            raise KeyboardInterrupt
        self.signal_number = number

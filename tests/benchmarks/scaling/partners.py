"""Processes that compute together with a contender, which paces them."""

import socket
import subprocess
import sys

from benchmarks.process import Rounds


class SharedRounds(Rounds):
    """The rounds of process 0: what tells it to begin one is passed on to its partners.

    A partner that began by itself would wait in a sum over all processes while other contenders
    have their turn, and such a sum gives up after 30 s.
    """

    def __init__(self, module: str, processes: int, *arguments: str):
        """Starts processes 1, 2, …; process 0 must listen at `port`.

        Each gets `arguments`, its number and the port. They end when process 0 does.
        """
        super().__init__()
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = str(server.getsockname()[1])
        command = [sys.executable, "-m", module, *arguments]
        self._partners = [
            subprocess.Popen(
                [*command, str(process), self.port],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
            for process in range(1, processes)
        ]

    def begin(self):
        try:
            super().begin()
        except SystemExit:
            for partner in self._partners:  # All processes say goodbye to each other at their end.
                partner.stdin.close()
            raise
        for partner in self._partners:
            partner.stdin.write("\n")
            partner.stdin.flush()

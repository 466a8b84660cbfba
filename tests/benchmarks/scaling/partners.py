"""Processes that compute together with a contender, which paces them."""

import socket
import subprocess
import sys


class Unpaced:
    """`benchmarks.process.Rounds` of a process that waits for another one in each step anyway."""

    def begin(self):
        pass

    def end(self, **measured):
        pass


def start_partners(module: str, processes: int, *arguments: str) -> str:
    """Starts processes 1, 2, …; returns the port at which process 0 must listen.

    Each gets `arguments`, its number and the port. They end when process 0 does.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    for process in range(1, processes):
        command = [sys.executable, "-m", module, *arguments, str(process), port]
        subprocess.Popen(command, stdin=subprocess.DEVNULL)
    return port

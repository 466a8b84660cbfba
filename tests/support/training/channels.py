"""Processes of a run as threads of this one."""

import contextlib
import socket
import threading

from kformer.training.parallel.channel import Channel

SECRET = b"the secret of this run"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def at_once(function, *arguments):
    """Returns what `function` returns for each of `arguments`, called in threads at once.

    Raises the first error of a call, in the order of the arguments.
    """
    results = [None] * len(arguments)

    def call(i):
        try:
            results[i] = function(arguments[i]), None
        except Exception as error:
            results[i] = None, error

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(arguments))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for _, error in results:
        if error is not None:
            raise error
    return [result for result, _ in results]


@contextlib.contextmanager
def connected(processes):
    """Yields the channels of so many processes."""
    port = free_port()

    def connect(process):
        return Channel("127.0.0.1", port, processes, process, SECRET, seconds=20)

    channels = at_once(connect, *range(processes))
    try:
        yield channels
    finally:
        for channel in channels:
            channel.close()

"""Processes of a run as threads of this one, connected by JAX's coordination service."""

import contextlib
import socket
import threading

from kformer.training.parallel.process_team import ProcessTeam


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
    """Yields the teams of so many processes."""
    from jax._src.lib import _jax  # `jax.distributed` connects one client in each process.

    address = f"127.0.0.1:{free_port()}"
    service = _jax.get_distributed_runtime_service(address, processes)
    clients = [_jax.get_distributed_runtime_client(address, i) for i in range(processes)]
    at_once(lambda client: client.connect(), *clients)
    try:
        yield [ProcessTeam(i, processes, client) for i, client in enumerate(clients)]
    finally:
        at_once(lambda client: client.shutdown(), *clients)
        service.shutdown()

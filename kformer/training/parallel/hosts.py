"""`join_processes`: several processes, on one host or on many, train as one run.

All take the same steps: each computes the gradients of its own rows of every batch. Process 0
writes the folder of the run; the others work on a copy of it.
"""

import contextlib
import json
import os
import socket
import time
from pathlib import Path

import numpy as np

from kformer.training.parallel.channel import Channel
from kformer.training.parallel.relay import relay_to
from kformer.training.parallel.team import Team, in_team
from kformer.training.resumption.interruption import Interrupted

HEARTBEATS = 600  # Seconds; the channel notices earlier that a process has died.


@contextlib.contextmanager
def join_processes(
    coordinator: str | None = None, processes: int | None = None, process: int | None = None
):
    """Trains together with other processes, on this host or on others, while the context is open.

    Needs Keras on JAX. Open it before any computation on JAX. Without arguments, JAX asks SLURM,
    Open MPI, Kubernetes (an indexed job) or Cloud TPU for the processes; where none of them
    answers, this process trains alone.

    If another process dies, this one prints a line on stderr and exits with code 2. (Where JAX has
    found the processes and process 0 dies, JAX may end this one first, with lines of its own.)

    Args:
        coordinator: "HOST:PORT" of process 0, which listens there and at the next port.
        processes: Number of processes.
        process: Number of this process, from 0.

    Raises:
        TimeoutError: A process did not come within 5 minutes; the message says which.
        ValueError: The arguments are incomplete, or process 0 cannot listen at this address.
    """
    channel = _channel(coordinator, processes, process)
    if channel is None:
        yield
        return
    try:
        with in_team(Team(channel)), _printing(only=channel.process == 0):
            yield
        channel.exchange(b"")  # No process ends while another one still computes.
    except Interrupted:  # All processes end after the same batch.
        channel.exchange(b"")
        channel.close()
        raise
    except BaseException as error:
        time.sleep(1)  # If this is due to the death of another process, the channel ends this one.
        channel.close(f"Process {channel.process} has ended: {str(error) or repr(error)}")
        raise
    channel.close()


@contextlib.contextmanager
def _printing(only):
    """Discards what is printed unless `only` is true."""
    if only:
        yield
        return
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def _channel(coordinator, processes, process):
    """Connects to the other processes; returns None if there are none."""
    given = coordinator, processes, process
    if all(value is None for value in given):
        return _channel_of_cluster()
    if any(value is None for value in given):
        raise ValueError(
            "Several processes need all three: coordinator, processes and process. Received: "
            f"coordinator={coordinator!r}, processes={processes}, process={process}."
        )
    return _channel_to(*_address(coordinator), processes, process)


def _address(coordinator):
    host, colon, port = coordinator.rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 2**16 - 1):
        raise ValueError(
            f"A coordinator is given as HOST:PORT. Received: coordinator={coordinator!r}."
        )
    return host.strip("[]"), int(port)


def _channel_to(host, port, processes, process):
    if not 0 <= process < processes:
        raise ValueError(
            "The processes are numbered from 0. "
            f"Received: process={process} of processes={processes}."
        )
    if processes == 1:
        return None
    _check_backend(processes)
    import jax

    channel = Channel(host, port, processes, process)
    # Process 0 listens itself; the others must not notice by JAX that it has died.
    address = relay_to(host, port + 1) if process else (host, port + 1)
    try:
        jax.distributed.initialize(
            "{}:{}".format(*address), processes, process, heartbeat_timeout_seconds=HEARTBEATS
        )
    except RuntimeError as error:
        channel.close(f"Process {process} has ended: {error}")
        raise ValueError(
            "JAX must be able to connect the processes, at the port after the coordinator's. "
            f"Received: {host}:{port + 1} ({error})."
        ) from error
    return channel


def _check_backend(processes):
    import keras

    if (running := keras.backend.backend()) != "jax":
        raise ValueError(
            "Several processes need Keras on JAX: --backend jax. "
            f"Received: backend={running!r}, processes={processes}."
        )


def _channel_of_cluster():
    """Joins the processes that JAX finds; returns None if there are no others."""
    import keras

    if keras.backend.backend() != "jax":
        return None
    import jax
    from jax.experimental import multihost_utils

    with contextlib.suppress(ValueError, RuntimeError):  # No cluster; or JAX has begun.
        jax.distributed.initialize(heartbeat_timeout_seconds=HEARTBEATS)
    if (processes := jax.process_count()) == 1:
        return None
    address = np.zeros(256, np.uint8)
    if jax.process_index() == 0:
        text = json.dumps([socket.getfqdn(), _free_port()]).encode()
        address[: len(text)] = np.frombuffer(text, np.uint8)
    address = bytes(multihost_utils.broadcast_one_to_all(address)).rstrip(b"\0")
    host, port = json.loads(address)
    if jax.process_index() == 0:
        host = ""
    return Channel(host, port, processes, jax.process_index())


def _free_port():
    with socket.create_server(("", 0)) as server:
        return server.getsockname()[1]

"""`join_processes`: several processes, on one host or on many, train as one run.

All take the same steps: each computes the gradients of its own rows of every batch. Process 0
writes the folder of the run; the others work on a copy of it.
"""

import atexit
import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path

import numpy as np

from kformer.training.parallel.channel import Channel
from kformer.training.parallel.greeting import run_secret
from kformer.training.parallel.peer_connection import printable
from kformer.training.parallel.process_team import ProcessTeam, in_team
from kformer.training.parallel.relay import Relay
from kformer.training.resumption.interruption import Interrupted

MAX_PROCESSES = 2**16
HEARTBEATS = 600  # Seconds; the channel notices earlier that a process has died.


@contextlib.contextmanager
def join_processes(
    coordinator: str | None = None, processes: int | None = None, process: int | None = None
):
    """Trains together with other processes, on this host or on others, while the context is open.

    Needs Keras on JAX. Open it before any computation on JAX. Without arguments, JAX asks SLURM,
    Open MPI, Kubernetes (an indexed job) or Cloud TPU for the processes; where none of them
    answers, this process trains alone.

    All processes need the same secret in the environment variable KFORMER_RUN_SECRET, at least 16
    bytes: it keeps others out who can reach the port of process 0.

    If another process dies or fails, this one prints a line on stderr and exits with code 2. After
    an error of its own this process also ends with code 2, whenever it ends. (Where JAX has found
    the processes and process 0 dies, JAX may end this one first, with lines of its own.)

    Args:
        coordinator: "HOST:PORT" of process 0, which listens there.
        processes: Number of processes.
        process: Number of this process, from 0.

    Raises:
        ConnectionError: A process has died before all had come.
        TimeoutError: A process did not come within 5 minutes; the message contains its number.
        ValueError: The arguments are incomplete, the secret is missing or another one, or process 0
            cannot listen at this address.
    """
    channel = _channel(coordinator, processes, process)
    if channel is None:
        yield
        return
    try:
        with (
            _jax_over(channel) if coordinator else contextlib.nullcontext(),
            in_team(ProcessTeam(channel)),
            _printing(only=channel.process == 0),
        ):
            try:
                yield
            except Interrupted:  # All processes end after the same batch.
                _leave(channel)
                raise
            _leave(channel)
    except Interrupted:
        raise
    except BaseException as error:
        time.sleep(1)  # If this is due to the death of another process, the channel ends this one.
        channel.close(f"Process {channel.process} has ended: {str(error) or repr(error)}")
        _exit_without_jax(error)
        raise


def _leave(channel):
    """Ends the run in all processes at once: none ends while another one still needs it."""
    import jax

    channel.exchange(b"")
    jax.distributed.shutdown()  # Otherwise its exit waits for slower processes.
    channel.exchange(b"")
    channel.close()


def _exit_without_jax(error):
    """Has this process end at its exit as it is, with code 2, or 130 after Ctrl-C.

    JAX would wait for the other processes, which have ended, for 5 minutes, and abort then.
    """

    def end():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # It may be closed.
                stream.flush()
        os._exit(130 if isinstance(error, KeyboardInterrupt) else 2)

    atexit.register(end)  # Called before earlier registrations, such as JAX's.


@contextlib.contextmanager
def _printing(only):
    """Discards printed lines unless `only` is true."""
    if only:
        yield
        return
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def _channel(coordinator, processes, process):
    """Connects to the other processes; returns None if there are none."""
    settings = coordinator, processes, process
    if all(value is None for value in settings):
        return _channel_of_cluster()
    if any(value is None for value in settings):
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
    if not 0 <= process < processes <= MAX_PROCESSES:
        raise ValueError(
            f"The processes are numbered from 0, and there are at most {MAX_PROCESSES:,}. "
            f"Received: process={process} of processes={processes}."
        )
    if processes == 1:
        return None
    _check_backend(processes)
    return Channel(host, port, processes, process, run_secret())


@contextlib.contextmanager
def _jax_over(channel):
    """Connects JAX in all processes, while the context is open."""
    import jax

    with Relay(channel) as relay:
        try:
            jax.distributed.initialize(
                relay.address,
                channel.processes,
                channel.process,
                coordinator_bind_address=relay.address,
                heartbeat_timeout_seconds=HEARTBEATS,
            )
        except RuntimeError as error:
            raise ValueError(
                "JAX must be able to connect the processes, before it computes anything. "
                f"Received: {printable(str(error).encode())}."
            ) from error
        yield


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

    with contextlib.suppress(ValueError, RuntimeError):  # No cluster; or JAX has begun.
        jax.distributed.initialize(heartbeat_timeout_seconds=HEARTBEATS)
    if jax.process_count() == 1:
        return None
    try:
        return _channel_over_jax(run_secret())
    except BaseException as error:
        _exit_without_jax(error)
        raise


def _channel_over_jax(secret):
    """Connects to the other processes; process 0 sends them its address by JAX."""
    import jax
    from jax.experimental import multihost_utils

    address = np.zeros(256, np.uint8)
    if jax.process_index() == 0:
        text = json.dumps([socket.getfqdn(), _free_port()]).encode()
        address[: len(text)] = np.frombuffer(text, np.uint8)
    address = bytes(multihost_utils.broadcast_one_to_all(address)).rstrip(b"\0")
    host, port = json.loads(address)
    if jax.process_index() == 0:
        host = ""
    return Channel(host, port, jax.process_count(), jax.process_index(), secret)


def _free_port():
    with socket.create_server(("", 0)) as server:
        return server.getsockname()[1]

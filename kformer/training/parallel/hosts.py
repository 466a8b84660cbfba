"""`join_processes`: several processes, on one host or on many, train as one run.

All take the same steps: each computes the gradients of its own rows of every batch. Process 0
writes the folder of the run; the others work on a copy of it. JAX's coordination service, in
process 0, connects them, and ends them all when one has died.
"""

import atexit
import contextlib
import functools
import os
import socket
import sys
import time
from pathlib import Path

from kformer.training.parallel.process_team import ProcessTeam, in_team, interruptible
from kformer.training.resumption.interruption import Interrupted

MAX_PROCESSES = 2**16
SECONDS = 300  # To wait for all processes.
HEARTBEAT = 60  # Seconds without a sign of life after which JAX counts a process as dead.
_SPARE = 60  # Seconds that JAX waits longer than this process: at its own limit, JAX aborts it.
_LOST = "Another process of this run has died, or does not answer."
_RESUME = "Start the same command in all processes to resume."


@contextlib.contextmanager
def join_processes(
    coordinator: str | None = None, processes: int | None = None, process: int | None = None
):
    """Trains together with other processes, on this host or on others, while the context is open.

    Needs Keras on JAX. Open it before any computation on JAX. Without arguments, JAX asks SLURM,
    Open MPI, Kubernetes (an indexed job) or Cloud TPU for the processes; where none of them
    answers, this process trains alone.

    JAX's coordination service believes whoever reaches its port, so keep that in a private network.

    If another process fails, this one prints a line on stderr and exits with code 2. So does it if
    another one dies and this one waits for its gradients; otherwise, and if process 0 dies, JAX
    aborts this process, within about a minute, with lines of its own. After an error of its own
    this process ends with code 2, whenever it ends.

    Args:
        coordinator: "HOST:PORT" of process 0, which listens there.
        processes: Number of processes.
        process: Number of this process, from 0.

    Raises:
        ConnectionError: Another process has died.
        TimeoutError: The processes did not come within 5 minutes.
        ValueError: The arguments are incomplete or contradict those of another process, or process
            0 cannot listen at this address.
    """
    group = _joined(coordinator, processes, process)
    if group is None:
        yield
        return
    try:
        with in_team(group), _printing(only=group.process == 0):
            _check_number(group)
            try:
                yield
            except Interrupted:  # All processes end after the same batch.
                _leave(group)
                raise
            _leave(group)
    except Interrupted:
        raise
    except BaseException as error:
        _exit_without_jax(error)
        time.sleep(1)  # If another process has failed before, its reason ends this one.
        if _is_loss(error):
            lost = (
                f"Another process of this run has died, or its machine cannot be reached. {_RESUME}"
            )
            _fail(group, lost)
            raise ConnectionError(lost) from error
        _fail(group, f"Process {group.process} has ended: {str(error) or repr(error)} {_RESUME}")
        raise


def _check_number(group):
    numbers = group.exchange(group.processes, lambda number: type(number) is int)
    for process, number in enumerate(numbers):
        if number != numbers[0]:
            raise ValueError(
                "All processes must be started with the same number of processes. Received: "
                f"processes={number} in process {process} instead of {numbers[0]}."
            )


def _leave(group):
    """Ends the run in all processes at once: none ends while another one still needs it."""
    import jax

    group.exchange_bytes(b"")  # JAX alone would wait for slower processes for 5 minutes only.
    jax.distributed.shutdown()


def _fail(group, reason):
    group.fail(reason)
    if group.process == 0:
        time.sleep(1)  # Without process 0, JAX aborts the others before they have read the reason.


def _is_loss(error):
    """Whether JAX's sums over processes on CPUs have lost the connection to another one."""
    return isinstance(error, (RuntimeError, ValueError)) and "Gloo" in str(error)


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


def _joined(coordinator, processes, process):
    """Connects JAX in all processes; returns their `ProcessTeam`, or None if there is only one."""
    import keras

    settings = coordinator, processes, process
    if all(value is None for value in settings):
        return _joined_cluster() if keras.backend.backend() == "jax" else None
    if any(value is None for value in settings):
        raise ValueError(
            "Several processes need all three: coordinator, processes and process. Received: "
            f"coordinator={coordinator!r}, processes={processes}, process={process}."
        )
    host, port = _address(coordinator)
    if not 0 <= process < processes <= MAX_PROCESSES:
        raise ValueError(
            f"The processes are numbered from 0, and there are at most {MAX_PROCESSES:,}. "
            f"Received: process={process} of processes={processes}."
        )
    if processes == 1:
        return None
    if (running := keras.backend.backend()) != "jax":
        raise ValueError(
            "Several processes need Keras on JAX: --backend jax. "
            f"Received: backend={running!r}, processes={processes}."
        )
    deadline = time.monotonic() + SECONDS
    if process == 0:
        _check_free(host, port)
    else:
        _await_process_0(host, port, deadline)
    try:
        return _connected(
            deadline - time.monotonic(),
            coordinator_address=coordinator,
            num_processes=processes,
            process_id=process,
            coordinator_bind_address=coordinator,
        )
    except RuntimeError as error:
        raise ValueError(
            "JAX must be able to connect the processes, before it computes anything. "
            f"Received: {error}."
        ) from error


def _joined_cluster():
    with contextlib.suppress(ValueError, RuntimeError):  # No cluster; or JAX has begun.
        group = _connected(SECONDS)
        if group.processes > 1:
            return group
    return None


def _connected(seconds, **arguments):
    """Returns the team of the processes that JAX connects."""
    import jax
    from jax._src import distributed  # Its key-value store has no public name.

    if hasattr(jax.config, "jax_enable_preemption_service"):
        jax.config.update("jax_enable_preemption_service", False)  # It would swallow SIGTERM.
    initialize = functools.partial(
        jax.distributed.initialize,
        **arguments,
        initialization_timeout=SECONDS + _SPARE,
        heartbeat_timeout_seconds=HEARTBEAT,
    )
    try:
        interruptible(initialize, seconds=seconds)
    except (TimeoutError, KeyboardInterrupt) as error:
        _exit_without_jax(error)
        if isinstance(error, TimeoutError):
            raise TimeoutError(f"All processes of a run must come within {SECONDS} s.") from error
        raise
    state = distributed.global_state
    return ProcessTeam(state.process_id, state.num_processes, state.client)


def _address(coordinator):
    host, colon, port = coordinator.rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 2**16 - 1):
        raise ValueError(
            f"A coordinator is given as HOST:PORT. Received: coordinator={coordinator!r}."
        )
    return host.strip("[]"), int(port)


def _check_free(host, port):
    """Raises ValueError if process 0 cannot listen here, where JAX would end by a fault."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise ValueError(
            "Process 0 must be able to listen at the coordinator's address. "
            f"Received: {host}:{port} ({error.strerror.partition(' (')[0]})."
        ) from error


def _await_process_0(host, port, deadline):
    """Waits until something listens there, so that a wrong address is reported by one line."""
    while True:
        try:
            socket.create_connection((host, port), timeout=10).close()
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"Process 0 must answer within {SECONDS} s. Received: {host}:{port} ({error})."
                ) from error
            time.sleep(0.2)

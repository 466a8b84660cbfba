"""`kformer serve`."""

import ipaddress
import logging
import os
import signal
import socket
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.terminal import streams

_GRACE = 30  # Seconds that open requests have when the server ends.
_HEADERS = 65_536  # Bytes of the headers of a request, at most.
_NAMES = 20  # Of models, that it says it serves.
_IDLE = 30  # Seconds after which a connection without a request is closed.


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Saved forms: .tflite or .keras files, SavedModels, folders of runs; demo is the "
            "small model in the package. NAME=PATH gives one a name; by default it is the pair of "
            "languages, such as de-en. A folder stands for all saved forms in it, by the names of "
            "their files; each is loaded when it is used.",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 for all of this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen at; 0 for one that is free.", min=0, max=65535)
    ] = 5000,
    keys: Annotated[
        Path | None,
        typer.Option(
            help="File with a key on each line, of which a request needs one. The variable "
            "KFORMER_API_KEYS may hold keys, too, with spaces between them."
        ),
    ] = None,
    glossary: Annotated[
        list[str] | None,
        typer.Option(
            help="File of terms and their translations, as for `translate`, for requests that have "
            "no glossary; NAME=PATH for one of several translators. May be repeated."
        ),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option(
            help="Languages of a translator that does not know its own, such as de-en; NAME=de-en "
            "for one of several. May be repeated."
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Web site whose pages may ask this server; may be repeated."),
    ] = None,
    max_characters: Annotated[
        int, typer.Option(help="Maximum number of characters of a request.", min=1)
    ] = 50_000,
    max_texts: Annotated[
        int, typer.Option(help="Maximum number of texts of a request.", min=1)
    ] = 1_000,
    max_waiting: Annotated[
        int, typer.Option(help="Maximum number of characters that wait for a model.", min=1)
    ] = 500_000,
    seconds: Annotated[
        float, typer.Option(help="Maximum seconds in which a client sends a request.", min=0.1)
    ] = 20.0,
    max_file_bytes: Annotated[
        int,
        typer.Option(
            help="Maximum number of bytes of a file, and of characters in it.", min=1, max=2**26
        ),
    ] = 10_000_000,
    document_seconds: Annotated[
        float, typer.Option(help="Maximum seconds of the translation of a file.", min=0.1)
    ] = 1_800.0,
    connections: Annotated[
        int, typer.Option(help="Maximum number of open connections.", min=1)
    ] = 1_000,
    max_memory: Annotated[
        int | None,
        typer.Option(
            help="Megabytes of memory over which the least used models are unloaded, until they "
            "are used again; by default all stay.",
            min=1,
        ),
    ] = None,
    suggestions: Annotated[
        Path | None,
        typer.Option(
            help="File to which better translations are appended that people suggest, as lines of "
            "JSON; without it they are refused."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log requests.")] = False,
):
    """Serve translators over HTTP: a web page, and the APIs of LibreTranslate and others.

    The protocols are those of LibreTranslate (/translate), of OpenAI's style (/v1/translations) and
    of TensorFlow Serving (/v1/models/NAME:predict); /openapi.json describes them. It ends at
    SIGTERM or Ctrl-C, after the requests that it has begun.
    """
    secrets = _keys(keys)
    import uvicorn

    from kformer.imports.published.downloads import told_by
    from kformer.server import RequestLimits, create_app
    from kformer.server import host as load_models
    from kformer.server.http_protocol import protocol_with_deadline
    from kformer.server.server_metrics import write_line

    with _listening(host, port) as listener:
        warnings.filterwarnings("ignore", category=UserWarning)  # Answers have flags.
        log = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace")
        with streams.quiet() as say, told_by(say):  # Libraries write no line into the log.
            hosted = load_models(
                models,
                glossary or (),
                languages or (),
                max_memory=max_memory and max_memory * 1_000_000,
                say=lambda message: write_line(log, message=message),
            )
        limits = RequestLimits(
            max_characters, max_texts, max_waiting, seconds, max_file_bytes, document_seconds
        )
        address, bound = listener.getsockname()[:2]
        app = create_app(
            hosted,
            limits,
            keys=secrets,
            origins=origin or (),
            is_local=ipaddress.ip_address(address).is_loopback,
            log=None if quiet else log,
            suggestions=suggestions,
        )
        config = uvicorn.Config(
            app,
            http=protocol_with_deadline(seconds),
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            limit_concurrency=connections,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_GRACE,
            h11_max_incomplete_event_size=_HEADERS,
        )
        # The lines of JSON have a status 503 for each request that the end of the grace cuts off.
        logging.getLogger("uvicorn.error").addFilter(lambda record: "graceful" not in record.msg)
        for number in (signal.SIGINT, signal.SIGTERM):
            # The server has handlers of its own. When it has ended, it restores these and sends
            # itself the signal again, which would look like a failure.
            signal.signal(number, signal.SIG_IGN)
        listener.listen(2048)
        shown = f"[{address}]" if ":" in address else address
        names = ", ".join(model.name for model in hosted[:_NAMES])
        names += f" and {len(hosted) - _NAMES} more" if len(hosted) > _NAMES else ""
        typer.echo(f"Serving {names} at http://{shown}:{bound}")
        for model in hosted:
            if model.lacks_languages:
                typer.echo(
                    f"{model.name} does not know its languages, and answers requests for all: "
                    f"--languages {model.name}=de-en names them."
                )
        sys.stdout.flush()
        uvicorn.Server(config).run([listener])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # Python would wait for threads that still work for clients who are gone.


def _listening(host, port):
    """Returns a socket that has the address, before the models are loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends answers at once, without waiting 40 ms, only if the socket names its protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ValueError(
            f"The address must be free and one of this machine. Received: {host}:{port} "
            f"({error.strerror or error})."
        ) from error
    return listener


def _keys(file):
    lines = file.read_text("utf-8").splitlines() if file else []
    keys = [*lines, *os.environ.get("KFORMER_API_KEYS", "").split()]
    keys = [key.strip() for key in keys if key.strip()]
    if file and not keys:
        raise ValueError(f"A file of keys must hold one or more. Received: {str(file)!r}, blank.")
    return keys

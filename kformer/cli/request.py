"""`kformer request`."""

import functools
import sys
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.terminal.lines import check_output, in_chunks, one_line, writing
from kformer.cli.terminal.output_format import (
    OutputFormat,
    check_format,
    warn_of_flags,
    written,
)
from kformer.cli.terminal.quiet import quiet
from kformer.serving.address import MODEL
from kformer.serving.errors import printable
from kformer.text.text_files import decoded, read_lines


def request(
    url: Annotated[
        str,
        typer.Argument(
            help="Of the server: http://host:8501 for REST, grpc://host:8500 for gRPC; https and "
            "grpcs for encrypted connections."
        ),
    ],
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="What to translate.")
    ] = None,
    input: Annotated[Path | None, typer.Option(help="Text to translate, else stdin.")] = None,
    output: Annotated[Path | None, typer.Option(help="Where to write, else stdout.")] = None,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="text: a line for a line; tsv: number of the line, score, text; jsonl: all that "
            "the server tells."
        ),
    ] = OutputFormat.text,
    n_best: Annotated[
        int,
        typer.Option(
            help="Translations of each line, with --format tsv or jsonl; not more than the export "
            "has.",
            min=1,
        ),
    ] = 1,
    model: Annotated[str, typer.Option(help="Its name on the server.")] = MODEL,
    model_version: Annotated[
        int | None, typer.Option(help="A version by its number, else the newest.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="A version by its label.")] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Print how each version is, and translate nothing.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds for a chunk of lines, with all attempts.")
    ] = 60.0,
    retries: Annotated[
        int, typer.Option(help="How often what a busy server refused is tried again.")
    ] = 5,
    batch_size: Annotated[int, typer.Option(help="Most lines in a request.")] = 32,
    connections: Annotated[int, typer.Option(help="Most requests at the same time.")] = 4,
    header: Annotated[
        list[str] | None,
        typer.Option(help='Header of each request, "Name: value"; can be given several times.'),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KFORMER_TOKEN",
            help="Sent as Authorization: Bearer TOKEN; others see it less easily in the variable.",
        ),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option(help="Certificates to trust, else those of the system.")
    ] = None,
):
    """Ask a server for translations: TensorFlow Serving, with what `kformer export` wrote."""
    check_output(output)
    check_format(format, n_best)
    options = {
        "version": model_version,
        "label": label,
        "timeout": timeout,
        "batch_size": batch_size,
        "connections": connections,
        "retries": retries,
        "headers": _headers(header or [], token),
        "ca_file": str(ca_file) if ca_file else None,
    }
    with _client(url, model, options) as client:
        if status:
            _show_status(client, model)
            return
        chunk = batch_size * connections
        work = functools.partial(client.translations, n_best=n_best)
        results = in_chunks(work, *_lines(texts, input), chunk=chunk)
        with writing(output) as out:
            for number, translations in enumerate(results, start=1):
                warn_of_flags(number, translations[0])
                for line in written(format, number, translations):
                    out.write(line.encode("utf-8") + b"\n")


def _client(url, model, options):
    from kformer.serving import Client

    try:
        if url.startswith("http"):
            return Client(url, model, **options)
        with quiet():
            return Client(url, model, **options)
    except ImportError as error:
        raise ValueError(str(error)) from error


def _headers(lines, token):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise ValueError(f'--header must be as "Name: value". Received: {line!r}.')
        headers[name.strip()] = value.strip()
    return headers


def _lines(texts, input):
    """The lines to translate, and how many, if that is known."""
    if texts and input:
        raise ValueError(
            f"Give texts or --input, not both. Received: {texts[0]!r}, {str(input)!r}."
        )
    if texts:
        return texts, len(texts)
    if input:
        lines = list(read_lines(input))
        return lines, len(lines)
    return decoded(sys.stdin.buffer, "stdin"), None


def _show_status(client, model):
    versions = client.status()
    for one in versions:
        told = f"{one.version}\t{one.state}" + (f"\t{one.error}" if one.error else "")
        typer.echo(printable(one_line(told)))
    if not any(one.state == "AVAILABLE" for one in versions):
        raise ValueError(f"No version of the model can be asked. Received: model={model!r}.")

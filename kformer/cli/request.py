"""`kformer request`."""

import functools
from pathlib import Path
from typing import Annotated

import typer

from kformer import serving
from kformer.cli.common_models import TargetLanguage
from kformer.cli.terminal.line_streams import (
    Input,
    Output,
    Texts,
    check_output,
    in_chunks,
    one_line,
    one_source,
    text_in,
)
from kformer.cli.terminal.output_format import OutputFormat, check_format, write_answers
from kformer.cli.terminal.paragraph_lines import (
    Paragraphs,
    SourceLanguage,
    check_paragraphs,
    translate_paragraphs,
)
from kformer.cli.terminal.streams import quiet
from kformer.documents.lines_of_text import is_lines_of_text
from kformer.serving.address import MODEL
from kformer.serving.errors import printable


def request(
    url: Annotated[
        str,
        typer.Argument(
            help="URL of the server: http://host:5000 of `kformer serve`; http://host:8501 for "
            "REST and grpc://host:8500 for gRPC of TensorFlow Serving; https and grpcs encrypt. "
            "With one of the last two ports, http:// and grpc:// may be left out."
        ),
    ],
    texts: Texts = None,
    input: Input = None,
    output: Output = None,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="text: one translation per line; tsv: line number, score and text; jsonl: "
            "everything that the server returns."
        ),
    ] = OutputFormat.text,
    n_best: Annotated[
        int,
        typer.Option(
            help="Number of translations of each line, with --format tsv or jsonl; at most as many "
            "as the export returns.",
            min=1,
        ),
    ] = 1,
    paragraphs: Paragraphs = False,
    source_language: SourceLanguage = None,
    target_language: TargetLanguage = None,
    model: Annotated[str, typer.Option(help="Name of the model on the server.")] = MODEL,
    model_version: Annotated[
        int | None, typer.Option(help="Number of the version; by default the newest.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Label of the version.")] = None,
    status: Annotated[
        bool,
        typer.Option("--status", help="Only print the state of each version."),
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Maximum seconds for a chunk of lines, with all retries.")
    ] = 60.0,
    retries: Annotated[int, typer.Option(help="Maximum number of retries of a request.")] = 5,
    batch_size: Annotated[int, typer.Option(help="Maximum number of lines per request.")] = 32,
    connections: Annotated[int, typer.Option(help="Maximum number of requests at a time.")] = 4,
    header: Annotated[
        list[str] | None,
        typer.Option(help='Header of each request, "Name: value"; may be repeated.'),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KFORMER_TOKEN",
            help="Sent as Authorization: Bearer TOKEN. The variable is harder for others to read.",
        ),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option(help="File of trusted certificates; by default the system's.")
    ] = None,
):
    """Translate with a server: `kformer serve`, or TensorFlow Serving with a SavedModel.

    Text is TEXT, --input, or stdin.
    """
    source = one_source(texts, input)
    _check_is_lines(input)
    check_output(output)
    conflicting = {"format": format != OutputFormat.text, "n_best": n_best > 1, "status": status}
    check_paragraphs(paragraphs, source_language, **conflicting)
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
        if paragraphs:
            split = functools.partial(client.split_translations, target_language=target_language)
            translate_paragraphs(lambda: split, source, output, source_language, chunk)
            return
        work = functools.partial(
            client.translations, n_best=n_best, target_language=target_language
        )
        text = text_in(source)
        results = in_chunks(work, text.lines, text.total, chunk, pauses=text.pauses)
        write_answers(results, format, output)


def _check_is_lines(input):
    if input and not is_lines_of_text(input):
        raise ValueError(
            "A request has lines of text: stdin is always lines, and kformer.translate_document "
            "translates a document with a kformer.serving.Client. "
            f"Received: --input {str(input)!r}."
        )


def _client(url, model, options):
    try:
        if url.startswith("http"):
            return serving.Client(url, model, **options)
        with quiet():
            return serving.Client(url, model, **options)
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


def _show_status(client, model):
    versions = client.status()
    for version in versions:
        parts = filter(None, (str(version.version), version.state, version.error))
        typer.echo(printable(one_line("\t".join(parts))))
    if not any(version.state == "AVAILABLE" for version in versions):
        raise ValueError(f"No version of the model is available. Received: model={model!r}.")

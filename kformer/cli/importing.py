"""`kformer import`: translators that others have trained."""

from pathlib import Path
from typing import Annotated

import typer

import kformer
from kformer.cli.terminal.quiet import quiet
from kformer.files import check_writable

app = typer.Typer(help="Make a .keras file of a translator that others have trained.")


@app.callback()
def _group():
    """Keeps `marian` a subcommand, as long as it is the only one."""


@app.command()
def marian(
    folder: Annotated[
        Path, typer.Argument(help="Folder of Hugging Face's MarianMTModel, such as OPUS-MT's.")
    ],
    output: Annotated[Path, typer.Option(help="The .keras file to write.")],
    target_language: Annotated[
        str | None,
        typer.Option(
            help="Of a model with several, such as fra: the one that it then always translates "
            "into. By default each command that translates has the option."
        ),
    ] = None,
):
    """Import a MarianMTModel, as OPUS-MT publishes them.

    The folder holds config.json, model.safetensors or pytorch_model.bin, vocab.json, source.spm and
    target.spm. Neither PyTorch nor transformers is needed.
    """
    if output.suffix != ".keras":
        raise ValueError(f"The file's name must end in .keras. Received: {str(output)!r}.")
    check_writable(output)
    with quiet():
        translator = kformer.from_marian(folder, target_language)
        translator.save(output)
    typer.echo(f"Written: {output}")

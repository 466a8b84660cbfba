"""`kformer publish`."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

import kformer
from kformer.cli.common_models import KerasModel, check_is_keras
from kformer.cli.export_options import Exports, Precision, held_out
from kformer.cli.export_writing import show_reports, write_exports
from kformer.cli.terminal.next_steps import suggest
from kformer.cli.terminal.streams import quiet
from kformer.imports.published.publishing import (
    check_may_publish,
    repository_of,
    upload,
    with_example,
)
from kformer.kinds import TRANSLATOR, kind_of


def publish(
    model: KerasModel,
    name: Annotated[str, typer.Argument(help="Such as hf://me/de-en.")],
    example: Annotated[
        str,
        typer.Option(help="A sentence that the model card shows, with its translation."),
    ],
    private: Annotated[
        bool, typer.Option("--private", help="Show a new repository to nobody else.")
    ] = False,
    licence: Annotated[
        str | None,
        typer.Option(help="Licence of the model, such as MIT; by default the recorded one."),
    ] = None,
    source_language: Annotated[str | None, typer.Option(help="Such as de.")] = None,
    target_language: Annotated[str | None, typer.Option(help="Such as en.")] = None,
    precision: Annotated[
        Precision, typer.Option(help="Precision of the weights in the .tflite file.")
    ] = Precision.int8,
    check_source: Annotated[
        Path | None,
        typer.Option(
            help="Sentences to compare with Python; by default the run's validation files."
        ),
    ] = None,
    check_reference: Annotated[
        Path | None, typer.Option(help="Their reference translations, for BLEU.")
    ] = None,
):
    """Publish a translator on the Hugging Face hub: .keras, .tflite and a model card.

    The .tflite file is checked as by `kformer export`, and everything appears in one commit.
    """
    check_is_keras(model, "can be published")
    repository = repository_of(name)
    if not example.strip() or len(example.splitlines()) > 1:
        raise ValueError(f"The example must be one line of text. Received: --example {example!r}.")
    check_may_publish(repository)
    texts, references = held_out(model, check_source, check_reference)
    with quiet():
        loaded = kformer.load(model)
    if kind_of(loaded) is not TRANSLATOR:
        raise ValueError(f"A translator can be published. Received: {str(model)!r}.")
    if not (licence or loaded.about.get("licence")):
        raise ValueError(
            "Without a licence, others may not use a model: give --licence. "
            f"Received: {str(model)!r}, which records none."
        )
    from kformer.training.run.training_facts import training_facts  # It imports NumPy.

    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / f"{repository.partition('/')[2]}.tflite"
        exports = Exports(
            tflite=file,
            precision=precision,
            licence=licence,
            source_language=source_language,
            target_language=target_language,
        )
        reports = write_exports(loaded, texts, references, exports, training_facts(model.parent))
        with quiet():
            loaded.save(file.with_suffix(".keras"))
            translation = kformer.load(file).translate(example)
            card = file.with_name(f"{file.name}.md")
            text = with_example(card.read_text("utf-8"), repository, example, translation)
            card.rename(file.with_name("README.md")).write_text(text, "utf-8")
        address = upload(
            Path(temporary), repository, private, lambda line: typer.echo(line, err=True)
        )
    show_reports(reports)
    typer.echo(f"Published: {address}")
    suggest("kformer", "translate", name, example)

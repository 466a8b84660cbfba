"""`kformer demo`."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.attention import draw
from kformer.cli.checked_exports import Exports, show_reports, write_exports
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.continuation import check_output
from kformer.training.run.folder import RUN_CONFIG

SHOWN = 5  # Held-out sentences printed in full, of each part.
MADE = ("text", "run", "served", "translator", "attention")  # Stems of what a demo leaves.


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the files of the demo.")] = Path("demo"),
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Train a smaller model in a minute; it translates badly."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier demo in the folder.")
    ] = False,
):
    """Train, evaluate, export and translate with the built-in German-English phrasebook."""
    run = output / "run"
    _check_folder(output)
    check_output(run, overwrite)
    if (run / RUN_CONFIG).is_file():  # An earlier demo's, or `served` would not be ours to delete.
        shutil.rmtree(output / "served", ignore_errors=True)
    from kformer import phrasebook  # Not for the other commands, which start sooner so.

    files = phrasebook.write(output / "text")
    recipe = Recipe.named("quick" if quick else "demo")
    with quiet():
        from kformer.training.translation import trainer

    translator = trainer.train(
        recipe,
        files["train.de"],
        files["train.en"],
        run,
        files["valid.de"],
        files["valid.en"],
        restart=overwrite,
    )
    parts = phrasebook.phrasebook()
    typer.echo("\nTranslating the held-out sentences in all three forms ...")
    held_out = [*parts.test, *parts.unseen]
    reports = write_exports(
        translator,
        [pair.source for pair in held_out],
        [pair.target for pair in held_out],
        Exports(saved_model=output / "served", tflite=output / "translator.tflite"),
    )
    with quiet():
        from kformer.plot import save_figure

        sentence = min(parts.test, key=lambda pair: abs(len(pair.source) - 30)).source
        save_figure(draw(translator, sentence), output / "attention.png")
    _show_sentences(output, parts)
    _show_scores(translator, parts)
    show_reports(reports)
    typer.echo(
        f"\nThe translator      {run / 'translator.keras'}\n"
        f"for TF Serving      {output / 'served'}\n"
        f"for LiteRT          {output / 'translator.tflite'}\n"
        f"its attention       {output / 'attention.png'}\n"
        f"its learning curve  {run / 'history.png'}"
    )
    if quick:
        typer.echo(
            "\nThis was the quick demo: a model too small and trained too briefly to be good."
        )


def _check_folder(output):
    """Raises FileExistsError where the demo's files would mix with others."""
    found = output.glob("[!.]*") if output.is_dir() else ()
    foreign = sorted(file.name for file in found if file.name.split(".")[0] not in MADE)
    if foreign:
        raise FileExistsError(
            "The demo's folder must be new or empty, or hold an earlier demo. Received: "
            f"{str(output)!r}, which holds {foreign[0]!r}, too."
        )


def _show_sentences(output, parts):
    """Prints what each form, read anew from its file, says of a few sentences."""
    from kformer.cli.model import open_model

    texts = [pair.source for part in (parts.test, parts.unseen) for pair in part[:SHOWN]]
    forms = {
        ".keras": output / "run" / "translator.keras",
        "SavedModel": output / "served",
        ".tflite": output / "translator.tflite",
    }
    said = {name: open_model(path)(texts) for name, path in forms.items()}
    for i, text in enumerate(texts):
        typer.echo(f"\n{text}")
        for name, translations in said.items():
            typer.echo(f"  {name:<12}{translations[i]}")


def _show_scores(translator, parts):
    from kformer.text.scores import bleu, chrf, exact

    typer.echo(f"\n{'held-out sentences':<34}{'number':>7}{'exact %':>9}{'BLEU':>8}{'chrF':>8}")
    for name, part in (
        ("like those of training", parts.test),
        ("with combinations never seen", parts.unseen),
    ):
        translations = translator.translate([pair.source for pair in part])
        references = [pair.target for pair in part]
        typer.echo(
            f"{name:<34}{len(part):>7}{exact(translations, references):>9.1f}"
            f"{bleu(translations, references).value:>8.2f}"
            f"{chrf(translations, references).value:>8.2f}"
        )
    typer.echo("")

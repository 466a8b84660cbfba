"""`kformer demo`."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.attention import draw
from kformer.cli.checked_exports import Exports, show_reports, write_exports
from kformer.cli.model import open_able_to, open_model
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.continuation import check_output
from kformer.training.run.folder import RUN_CONFIG

SHOWN = 5  # Held-out texts printed in full, of each part.
MADE = ("text", "run", "served", "translator", "attention", "classifier", "confusion")  # Stems.
PARTS = {"test": "like those of training", "unseen": "with combinations never seen"}  # Held out.


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the files of the demo.")] = Path("demo"),
    classifier: Annotated[
        bool,
        typer.Option("--classifier", help="Train a classifier of built-in reviews instead."),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Train a smaller model in a minute; it is bad at its task."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier demo in the folder.")
    ] = False,
):
    """Train, evaluate, export and use a model, on built-in text: a German-English phrasebook."""
    run = output / "run"
    _check_folder(output)
    check_output(run, overwrite)
    if (run / RUN_CONFIG).is_file():  # An earlier demo's, or `served` would not be ours to delete.
        shutil.rmtree(output / "served", ignore_errors=True)
    kind = _Classifier if classifier else _Translator
    shown = kind(output, quick, overwrite)
    typer.echo("\nTrying the held-out texts in all three forms ...")
    held_out = [one for name in PARTS for one in getattr(shown.corpus, name)]
    texts, references = zip(*map(shown.pair, held_out), strict=True)
    tflite = output / f"{shown.name}.tflite"
    reports = write_exports(
        shown.model,
        list(texts),
        list(references),
        Exports(saved_model=output / "served", tflite=tflite),
    )
    picture = shown.draw()
    _show_answers(shown, tflite)
    shown.show_scores()
    show_reports(reports)
    typer.echo(
        f"\n{f'The {shown.name}':<20}{run / f'{shown.name}.keras'}\n"
        f"for TF Serving      {output / 'served'}\n"
        f"for LiteRT          {tflite}\n"
        f"{shown.drawn:<20}{picture}\n"
        f"its learning curve  {run / 'history.png'}"
    )
    if quick:
        typer.echo(
            "\nThis was the quick demo: a model too small and trained too briefly to be good."
        )


class _Translator:
    """The demo of a translator, with the phrasebook."""

    name = "translator"
    drawn = "its attention"

    def __init__(self, output, quick, overwrite):
        from kformer import phrasebook  # Not for the other commands, which start sooner so.

        self.output = output
        files = phrasebook.write(output / "text")
        self.corpus = phrasebook.phrasebook()
        with quiet():
            from kformer.training import train

        sides = files["train.de"], files["train.en"]
        valid = files["valid.de"], files["valid.en"]
        recipe = Recipe.named("quick" if quick else "demo")
        self.model = train(recipe, *sides, output / "run", *valid, restart=overwrite)

    def pair(self, one):
        """Returns the text of an example, and what is right."""
        return one.source, one.target

    def answers(self, path, texts):
        """Returns what the form at `path` says of texts."""
        return open_model(path)(texts)

    def draw(self):
        """Writes a picture and returns its path."""
        with quiet():
            from kformer.plot import save_figure

            of_length = min(self.corpus.test, key=lambda pair: abs(len(pair.source) - 30))
            save_figure(draw(self.model, of_length.source), self.output / "attention.png")
        return self.output / "attention.png"

    def show_scores(self):
        """Prints the scores of each held-out part."""
        from kformer.text.scores import bleu, chrf, exact

        typer.echo(f"\n{'held-out sentences':<34}{'number':>7}{'exact %':>9}{'BLEU':>8}{'chrF':>8}")
        for name, title in PARTS.items():
            texts, references = zip(*getattr(self.corpus, name), strict=True)
            translations = self.model.translate(texts)
            typer.echo(
                f"{title:<34}{len(texts):>7}{exact(translations, references):>9.1f}"
                f"{bleu(translations, references).value:>8.2f}"
                f"{chrf(translations, references).value:>8.2f}"
            )
        typer.echo("")


class _Classifier:
    """The demo of a classifier, with the reviews."""

    name = "classifier"
    drawn = "its confusions"

    def __init__(self, output, quick, overwrite):
        from kformer.phrasebook import reviews

        self.output = output
        files = reviews.write(output / "text")
        self.corpus = reviews.corpus()
        self._turning = reviews.TURNING
        with quiet():
            from kformer.training import train_classifier

        recipe = Recipe.named("reviews", **({"epochs": 2} if quick else {}))
        run = output / "run"
        self.model = train_classifier(
            recipe, files["train"], run, files["valid"], restart=overwrite
        )

    def pair(self, one):
        """See `_Translator`, as for the other methods."""
        return one.text, one.label

    def answers(self, path, texts):
        labels, probabilities = open_able_to("classify", path).predict(texts)
        most = probabilities.max(axis=1)
        return [f"{label}  {100 * one:.0f} %" for label, one in zip(labels, most, strict=True)]

    def draw(self):
        with quiet():
            from kformer.plot import plot_confusion, save_figure

            scores = self._scores([*self.corpus.test, *self.corpus.unseen])
            path = self.output / "confusion.png"
            save_figure(plot_confusion(scores.matrix, scores.labels), path)
        return path

    def show_scores(self):
        typer.echo(f"\n{'held-out reviews':<34}{'number':>7}{'right %':>9}{'macro F1':>10}")
        for name, title in PARTS.items():
            part = getattr(self.corpus, name)
            turning = [one for one in part if self._turning & {*one.text.split()}]
            for shown, examples in ((title, part), ("  with negation or contrast", turning)):
                scores = self._scores(examples)
                typer.echo(
                    f"{shown:<34}{len(examples):>7}{100 * scores.accuracy:>9.1f}"
                    f"{100 * scores.macro_f1:>10.1f}"
                )
        typer.echo("")

    def _scores(self, examples):
        from kformer.text.class_scores import class_scores

        texts, labels = zip(*map(self.pair, examples), strict=True)
        return class_scores(self.model.labels, labels, self.model.predict(texts).labels)


def _check_folder(output):
    """Raises FileExistsError where the demo's files would mix with others."""
    found = output.glob("[!.]*") if output.is_dir() else ()
    foreign = sorted(file.name for file in found if file.name.split(".")[0] not in MADE)
    if foreign:
        raise FileExistsError(
            "The demo's folder must be new or empty, or hold an earlier demo. Received: "
            f"{str(output)!r}, which holds {foreign[0]!r}, too."
        )


def _show_answers(shown, tflite):
    """Prints what each form, read anew from its file, says of a few texts."""
    examples = [one for name in PARTS for one in getattr(shown.corpus, name)[:SHOWN]]
    texts = [shown.pair(one)[0] for one in examples]
    forms = {
        ".keras": shown.output / "run" / f"{shown.name}.keras",
        "SavedModel": shown.output / "served",
        ".tflite": tflite,
    }
    said = {name: shown.answers(path, texts) for name, path in forms.items()}
    for i, text in enumerate(texts):
        typer.echo(f"\n{text}")
        for name, answers in said.items():
            typer.echo(f"  {name:<12}{answers[i]}")

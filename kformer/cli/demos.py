"""`kformer demo`.

What each demo has of its own: its text, its model, and what it shows.

- `translator`: translations of the phrasebook.
- `classifier`: labels of built-in reviews.
- `language_model`: sentences like the English ones of the phrasebook.
"""

import shutil
from pathlib import Path
from typing import Annotated, ClassVar

import typer

import kformer
from kformer import phrasebook, plot, training
from kformer.cli.attention_command import draw
from kformer.cli.common_models import open_able_to, open_model
from kformer.cli.export_options import Exports
from kformer.cli.export_writing import show_reports, write_exports
from kformer.cli.terminal.streams import quiet
from kformer.training.recipes.recipe import Recipe, RecipeChanges
from kformer.training.run.continuation import check_output
from kformer.training.run.run_folder import RUN_CONFIG

PARTS = {"test": "like those of training", "unseen": "with combinations never seen"}  # Held out.
SHOWN = 5  # Held-out texts printed in full, of each part.
TYPED = ("Guten Morgen!", "Ein Hund läuft.", "ich möchte ein bier")  # With care, and in a hurry.


class TranslatorDemo:
    """The demo of a translator, with the phrasebook.

    Args:
        output: Folder for the files.
        quick: Whether to train for a minute or two only.
        overwrite: Whether to replace an earlier run.

    Attributes:
        name: Of the files of the model.
        drawn: What the picture shows.
        model: What was trained.
        texts: The held-out texts.
        references: What is right of them; or None.
        shown: Some of the texts, to be printed.
        about: Options of the exports that describe the model.
    """

    name = "translator"
    drawn = "its attention"
    about: ClassVar = {"source_language": "de", "target_language": "en"}

    def __init__(self, output: Path, quick: bool, overwrite: bool):
        self._output = output
        files = phrasebook.write(output / "text")
        self._corpus = phrasebook.phrasebook()
        parts = [getattr(self._corpus, name) for name in PARTS]
        pairs = [pair for part in parts for pair in part]
        self.texts, self.references = map(list, zip(*pairs, strict=True))
        self.shown = [*TYPED, *(pair.source for part in parts for pair in part[:SHOWN])]
        with quiet():  # It imports TensorFlow.
            train = training.train
        sides = files["train.de"], files["train.en"]
        valid = files["valid.de"], files["valid.en"]
        changes: RecipeChanges = {"epochs": 4} if quick else {}
        recipe = Recipe.named("demo", **changes)
        self.model = train(recipe, *sides, output / "run", *valid, restart=overwrite)

    def answers(self, path: Path, texts: list[str]):
        """Returns the answers of the form at `path` to texts."""
        return open_model(path)(texts)

    def draw(self):
        """Writes a picture and returns its path."""
        with quiet():
            typical = min(self._corpus.test, key=lambda pair: abs(len(pair.source) - 30))
            views = self.model.attend(typical.source).views()
            plot.save_figure(draw(views, typical.source), self._output / "attention.png")
        return self._output / "attention.png"

    def show_scores(self):
        """Prints the scores of each held-out part."""
        from kformer.text.scores import bleu, chrf, exact

        typer.echo(f"\n{'held-out sentences':<34}{'number':>7}{'exact %':>9}{'BLEU':>8}{'chrF':>8}")
        for name, title in PARTS.items():
            texts, references = zip(*getattr(self._corpus, name), strict=True)
            translations = self.model.translate(texts, split=False)
            typer.echo(
                f"{title:<34}{len(texts):>7}{exact(translations, references):>9.1f}"
                f"{bleu(translations, references).value:>8.2f}"
                f"{chrf(translations, references).value:>8.2f}"
            )
        typer.echo("")


# The accuracy stays near chance for some 200 steps, because only the order of the words tells the
# label. With whole words a text has half as many ids, so that more epochs take no longer.
_QUICK: RecipeChanges = {
    "epochs": 6,
    "num_layers": 1,
    "pieces": "word",
    "tokens_per_batch": 1024,
    "dropout": 0.0,
    "ema_momentum": 0.9,
}


_TURNING = phrasebook.TURNING  # Words of negation or contrast.


class ClassifierDemo:
    """The demo of a classifier, with the reviews; it has what `TranslatorDemo` has."""

    name = "classifier"
    drawn = "its confusions"
    about: ClassVar[dict] = {}

    def __init__(self, output: Path, quick: bool, overwrite: bool):
        self._output = output
        files = phrasebook.write_reviews(output / "text")
        self._corpus = phrasebook.reviews()
        parts = [getattr(self._corpus, name) for name in PARTS]
        self.texts = [review.text for part in parts for review in part]
        self.references = [review.label for part in parts for review in part]
        self.shown = [review.text for part in parts for review in part[:SHOWN]]
        with quiet():  # It imports TensorFlow.
            train_classifier = training.train_classifier
        changes: RecipeChanges = _QUICK if quick else {}
        recipe = Recipe.named("reviews", **changes)
        run = output / "run"
        self.model = train_classifier(
            recipe, files["train"], run, files["valid"], restart=overwrite
        )

    def answers(self, path: Path, texts: list[str]):
        labels, probabilities = open_able_to("classify", path).predict(texts)
        most = probabilities.max(axis=1)
        return [f"{label}  {100 * p:.0f} %" for label, p in zip(labels, most, strict=True)]

    def draw(self):
        with quiet():
            scores = self._scores([*self._corpus.test, *self._corpus.unseen])
            path = self._output / "confusion.png"
            plot.save_figure(plot.plot_confusion(scores.matrix, scores.labels), path)
        return path

    def show_scores(self):
        typer.echo(f"\n{'held-out reviews':<34}{'number':>7}{'right %':>9}{'macro F1':>10}")
        for name, title in PARTS.items():
            part = getattr(self._corpus, name)
            turning = [
                review for review in part if phrasebook.TURNING & {*review.text.lower().split()}
            ]
            for shown, examples in ((title, part), ("  with negation or contrast", turning)):
                scores = self._scores(examples)
                typer.echo(
                    f"{shown:<34}{len(examples):>7}{100 * scores.accuracy:>9.1f}"
                    f"{100 * scores.macro_f1:>10.1f}"
                )
        typer.echo("")

    def _scores(self, examples):
        from kformer.text.label_scores import class_scores

        labels, texts = zip(*examples, strict=True)
        return class_scores(self.model.labels, labels, self.model.predict(texts).labels)


SAMPLES = 200
DRAWN = {"temperature": 0.8, "top_p": 0.9}  # Unlikely ids are where a small model errs.


class LanguageModelDemo:
    """The demo of a language model, with the English sentences of the phrasebook.

    It has what `TranslatorDemo` has. Its texts are prompts, the beginnings of held-out sentences.
    """

    name = "language_model"
    drawn = "its attention"
    about: ClassVar[dict] = {}

    def __init__(self, output: Path, quick: bool, overwrite: bool):
        self._output = output
        files = phrasebook.write(output / "text")
        corpus = phrasebook.phrasebook()
        self._parts = {name: [pair.target for pair in getattr(corpus, name)] for name in PARTS}
        self._known = {pair.target for pair in corpus.train}
        self.texts = [_beginning(text) for part in self._parts.values() for text in part]
        self.references = None
        self.shown = [_beginning(text) for part in self._parts.values() for text in part[:SHOWN]]
        with quiet():  # It imports TensorFlow.
            train_language_model = training.train_language_model
        changes: RecipeChanges = {"epochs": 2} if quick else {}
        recipe = Recipe.named("sentences", **changes)
        self.model = train_language_model(
            recipe, files["train.en"], output / "run", files["valid.en"], restart=overwrite
        )

    def answers(self, path: Path, texts: list[str]):
        return open_able_to("generate", path).generate(texts)

    def draw(self):
        with quiet():
            model, path = self.model, self._output / "attention.png"
            text = min(self._parts["test"], key=lambda text: abs(len(text) - 30))
            plot.save_figure(draw(model.attend(text).views(), text), path)
        return path

    def show_scores(self):
        typer.echo(f"\n{'held-out sentences':<34}{'number':>7}{'perplexity':>12}")
        for name, title in PARTS.items():
            perplexity = kformer.perplexity(self.model.score(self._parts[name]))
            typer.echo(f"{title:<34}{len(self._parts[name]):>7}{perplexity:>12.2f}")
        with quiet():  # TensorFlow warns of the many searches of a process.
            options = kformer.SearchOptions(sample=True, n_best=SAMPLES, **DRAWN)
            [samples] = self.model.generations([""], options, details=False)
        new = [sample.text for sample in samples if sample.text not in self._known]
        typer.echo(
            f"\nOf {SAMPLES} sentences that it made up (temperature {DRAWN['temperature']}, top-p "
            f"{DRAWN['top_p']}), {len(new)} are not in\nits training text. The first of them:"
        )
        for text in new[: 2 * SHOWN]:
            typer.echo(f"  {text}")
        typer.echo("")


def _beginning(text):
    """Returns the first half of the words."""
    words = text.split()
    return " ".join(words[: max(1, len(words) // 2)])


_DEMOS = TranslatorDemo, ClassifierDemo, LanguageModelDemo
MADE = {"text", "run", "served", "attention", "confusion"}  # Stems, beside the models' names.
MADE |= {kind.name for kind in _DEMOS}


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the files of the demo.")] = Path("demo"),
    classifier: Annotated[
        bool,
        typer.Option("--classifier", help="Train a classifier of built-in reviews instead."),
    ] = False,
    lm: Annotated[
        bool,
        typer.Option("--lm", help="Train a language model of the English sentences instead."),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Train for a minute or two only; the model makes more mistakes."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier demo in the folder.")
    ] = False,
):
    """Train, evaluate, export and use a model, on built-in text: a German-English phrasebook."""
    if classifier and lm:
        raise ValueError("A demo is of one model. Received: --classifier and --lm.")
    run = output / "run"
    _check_folder(output)
    check_output(run, overwrite)
    if (run / RUN_CONFIG).is_file():  # An earlier demo's, or `served` would not be ours to delete.
        shutil.rmtree(output / "served", ignore_errors=True)
    kind = ClassifierDemo if classifier else LanguageModelDemo if lm else TranslatorDemo
    shown = kind(output, quick, overwrite)
    typer.echo("\nTrying the held-out texts in all three forms ...")
    tflite = output / f"{shown.name}.tflite"
    exports = Exports(saved_model=output / "served", tflite=tflite, **shown.about)
    facts = training.training_facts(run)
    reports = write_exports(shown.model, shown.texts, shown.references, exports, facts)
    picture = shown.draw()
    _show_answers(shown, output, tflite)
    shown.show_scores()
    show_reports(reports)
    typer.echo(
        f"\n{f'The {shown.name}'.replace('_', ' '):<20}{run / f'{shown.name}.keras'}\n"
        f"for TF Serving      {output / 'served'}\n"
        f"for LiteRT          {tflite}\n"
        f"{shown.drawn:<20}{picture}\n"
        f"its learning curve  {run / 'history.png'}\n"
        f"\nAs a server with a page: kformer serve {tflite}"
    )
    if quick:
        typer.echo(
            "\nThis was the quick demo. Without --quick the model is trained longer and is better."
        )


def _check_folder(output):
    """Raises FileExistsError where the demo's files would mix with others."""
    files = output.glob("[!.]*") if output.is_dir() else ()
    foreign = sorted(file.name for file in files if file.name.split(".")[0] not in MADE)
    if foreign:
        raise FileExistsError(
            "The demo's folder must be new or empty, or hold an earlier demo. Received: "
            f"{str(output)!r}, which holds {foreign[0]!r}, too."
        )


def _show_answers(shown, output, tflite):
    """Prints the answers of each form, read anew from its file, to a few texts."""
    forms = {
        ".keras": output / "run" / f"{shown.name}.keras",
        "SavedModel": output / "served",
        ".tflite": tflite,
    }
    answers_of = {name: shown.answers(path, shown.shown) for name, path in forms.items()}
    for i, text in enumerate(shown.shown):
        typer.echo(f"\n{text}")
        for name, answers in answers_of.items():
            typer.echo(f"  {name:<12}{answers[i]}")

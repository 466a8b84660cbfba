"""The demo of a classifier."""

import typer

from kformer.cli.demos import PARTS, SHOWN
from kformer.cli.model import open_able_to
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import Recipe

# The accuracy stays near chance for some 200 steps, because only the order of the words tells the
# label. With whole words a text has half as many ids, so that more epochs take no longer.
_QUICK = {
    "epochs": 6,
    "num_layers": 1,
    "pieces": "word",
    "tokens_per_batch": 1024,
    "dropout": 0.0,
    "ema_momentum": 0.9,
}


class ClassifierDemo:
    """The demo of a classifier, with the reviews; it has what `TranslatorDemo` has."""

    name = "classifier"
    drawn = "its confusions"

    def __init__(self, output, quick, overwrite):
        from kformer.phrasebook import reviews

        self._output = output
        files = reviews.write(output / "text")
        self._corpus = reviews.corpus()
        self._turning = reviews.TURNING
        parts = [getattr(self._corpus, name) for name in PARTS]
        self.texts = [one.text for part in parts for one in part]
        self.references = [one.label for part in parts for one in part]
        self.shown = [one.text for part in parts for one in part[:SHOWN]]
        with quiet():
            from kformer.training import train_classifier

        recipe = Recipe.named("reviews", **(_QUICK if quick else {}))
        run = output / "run"
        self.model = train_classifier(
            recipe, files["train"], run, files["valid"], restart=overwrite
        )

    def answers(self, path, texts):
        labels, probabilities = open_able_to("classify", path).predict(texts)
        most = probabilities.max(axis=1)
        return [f"{label}  {100 * one:.0f} %" for label, one in zip(labels, most, strict=True)]

    def draw(self):
        with quiet():
            from kformer.plot import plot_confusion, save_figure

            scores = self._scores([*self._corpus.test, *self._corpus.unseen])
            path = self._output / "confusion.png"
            save_figure(plot_confusion(scores.matrix, scores.labels), path)
        return path

    def show_scores(self):
        typer.echo(f"\n{'held-out reviews':<34}{'number':>7}{'right %':>9}{'macro F1':>10}")
        for name, title in PARTS.items():
            part = getattr(self._corpus, name)
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

        labels, texts = zip(*examples, strict=True)
        return class_scores(self.model.labels, labels, self.model.predict(texts).labels)

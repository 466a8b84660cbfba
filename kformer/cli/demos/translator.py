"""The demo of a translator."""

import typer

from kformer.cli.demos import PARTS, SHOWN
from kformer.cli.insight.attention import draw
from kformer.cli.model import open_model
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import Recipe


class TranslatorDemo:
    """The demo of a translator, with the phrasebook.

    Args:
        output: Folder for the files.
        quick: Whether to train for less than a minute.
        overwrite: Whether to replace an earlier run.

    Attributes:
        name: Of the files of the model.
        drawn: What the picture shows.
        model: What was trained.
        texts: The held-out texts.
        references: What is right of them; or None.
        shown: Some of the texts, to be printed.
    """

    name = "translator"
    drawn = "its attention"

    def __init__(self, output, quick, overwrite):
        from kformer import phrasebook  # Not for the other commands, which start sooner so.

        self._output = output
        files = phrasebook.write(output / "text")
        self._corpus = phrasebook.phrasebook()
        parts = [getattr(self._corpus, name) for name in PARTS]
        pairs = [pair for part in parts for pair in part]
        self.texts, self.references = map(list, zip(*pairs, strict=True))
        self.shown = [pair.source for part in parts for pair in part[:SHOWN]]
        with quiet():
            from kformer.training import train

        sides = files["train.de"], files["train.en"]
        valid = files["valid.de"], files["valid.en"]
        recipe = Recipe.named("quick" if quick else "demo")
        self.model = train(recipe, *sides, output / "run", *valid, restart=overwrite)

    def answers(self, path, texts):
        """Returns what the form at `path` says of texts."""
        return open_model(path)(texts)

    def draw(self):
        """Writes a picture and returns its path."""
        with quiet():
            from kformer.plot import save_figure

            of_length = min(self._corpus.test, key=lambda pair: abs(len(pair.source) - 30))
            views = self.model.attend(of_length.source).views()
            save_figure(draw(views, of_length.source), self._output / "attention.png")
        return self._output / "attention.png"

    def show_scores(self):
        """Prints the scores of each held-out part."""
        from kformer.text.scores import bleu, chrf, exact

        typer.echo(f"\n{'held-out sentences':<34}{'number':>7}{'exact %':>9}{'BLEU':>8}{'chrF':>8}")
        for name, title in PARTS.items():
            texts, references = zip(*getattr(self._corpus, name), strict=True)
            translations = self.model.translate(texts)
            typer.echo(
                f"{title:<34}{len(texts):>7}{exact(translations, references):>9.1f}"
                f"{bleu(translations, references).value:>8.2f}"
                f"{chrf(translations, references).value:>8.2f}"
            )
        typer.echo("")

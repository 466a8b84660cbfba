"""The demo of a language model."""

import typer

from kformer.cli.demos import PARTS, SHOWN
from kformer.cli.insight.attention import draw
from kformer.cli.model import open_able_to
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import Recipe

SAMPLES = 200
DRAWN = {"temperature": 0.8, "top_p": 0.9}  # Unlikely ids are where a small model errs.


class LanguageModelDemo:
    """The demo of a language model, with the English sentences of the phrasebook.

    It has what `TranslatorDemo` has. Its texts are prompts, the beginnings of held-out sentences.
    """

    name = "language_model"
    drawn = "its attention"

    def __init__(self, output, quick, overwrite):
        from kformer import phrasebook

        self._output = output
        files = phrasebook.write(output / "text")
        corpus = phrasebook.phrasebook()
        self._parts = {name: [pair.target for pair in getattr(corpus, name)] for name in PARTS}
        self.texts = [_beginning(text) for part in self._parts.values() for text in part]
        self.references = None
        self.shown = [_beginning(text) for part in self._parts.values() for text in part[:SHOWN]]
        with quiet():
            from kformer.training import train_language_model

        recipe = Recipe.named("sentences", **({"epochs": 2} if quick else {}))
        self.model = train_language_model(
            recipe, files["train.en"], output / "run", files["valid.en"], restart=overwrite
        )

    def answers(self, path, texts):
        return open_able_to("generate", path).generate(texts)

    def draw(self):
        with quiet():
            from kformer.plot import save_figure

            model, path = self.model, self._output / "attention.png"
            text = min(self._parts["test"], key=lambda text: abs(len(text) - 30))
            save_figure(draw(model.attend(text).views(), text), path)
        return path

    def show_scores(self):
        import kformer
        from kformer.phrasebook.parsing import parse

        typer.echo(f"\n{'held-out sentences':<34}{'number':>7}{'perplexity':>12}")
        for name, title in PARTS.items():
            perplexity = kformer.perplexity(self.model.score(self._parts[name]))
            typer.echo(f"{title:<34}{len(self._parts[name]):>7}{perplexity:>12.2f}")
        with quiet():  # TensorFlow warns of the many searches of a process.
            options = kformer.SearchOptions(sample=True, n_best=SAMPLES, **DRAWN)
            [samples] = self.model.generations([""], options, details=False)
        derived = 100 * sum(parse(one.text) is not None for one in samples) / SAMPLES
        typer.echo(
            f"\nOf {SAMPLES} sentences that it made up (temperature {DRAWN['temperature']}, top-p "
            f"{DRAWN['top_p']}), the grammar of\nthe phrasebook has {derived:.1f} %. "
            "The first of them:"
        )
        for one in samples[: 2 * SHOWN]:
            typer.echo(f"  {one.text}")
        typer.echo("")


def _beginning(text):
    """Returns the first half of the words."""
    words = text.split()
    return " ".join(words[: max(1, len(words) // 2)])

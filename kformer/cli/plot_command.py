"""`kformer plot`: pictures of a model's position encoding, schedule and training."""

from pathlib import Path
from typing import Annotated

import typer

import kformer
from kformer import plot, training
from kformer.arguments import check_integer
from kformer.cli.attention_command import attention
from kformer.cli.terminal.streams import quiet
from kformer.files import check_writable
from kformer.training.recipes.recipe import Recipe, peak_scale, recipe_names

Picture = Annotated[Path, typer.Option(help="The picture to write: .png, .svg or .pdf.")]

EXAMPLES = {
    "attention": 'kformer plot attention runs/de-en "Ein Hund läuft." --output attention.png',
    "positions": "kformer plot positions --output positions.png",
    "schedule": "kformer plot schedule --recipe tiny --recipe base --output schedule.png",
    "history": "kformer plot history runs/de-en --output history.png",
}
app = typer.Typer(help="Draw attention, positions, schedules and learning curves.")
app.command()(attention)


@app.command()
def positions(
    output: Picture,
    d_model: Annotated[int, typer.Option(help="Width of the model, even.")] = 128,
    length: Annotated[int, typer.Option(help="Number of positions.")] = 100,
):
    """Draw the positional encoding, and how alike two positions are by their distance."""
    check_integer("length", length, least=2)
    check_integer("d_model", d_model, least=2)
    if d_model % 2:
        raise ValueError(
            "`d_model` must be even, so that each sine has its cosine. "
            f"Received: d_model={d_model}."
        )
    _check(output)
    with quiet():
        encodings = kformer.PositionalEncoding().encodings(length, d_model)
        _save(plot.plot_positions(encodings), output)


@app.command()
def schedule(
    output: Picture,
    recipe: Annotated[
        list[str] | None,
        typer.Option(help=f"May be repeated: {', '.join(recipe_names())}. By default tiny."),
    ] = None,
    steps: Annotated[int, typer.Option(help="The last step to draw.")] = 20_000,
):
    """Draw the learning rates of recipes, to compare them."""
    check_integer("steps", steps, least=1)
    recipes = {name: Recipe.named(name) for name in recipe or ["tiny"]}
    _check(output)
    with quiet():
        schedules = {
            name: training.WarmupSchedule(recipe.d_model, recipe.warmup_steps, peak_scale(recipe))
            for name, recipe in recipes.items()
        }
        _save(plot.plot_schedules(schedules, steps), output)


@app.command()
def history(
    run: Annotated[Path, typer.Argument(help="Folder of a run, finished or not.")],
    output: Picture,
):
    """Draw the learning curves of a run, and mark its best epoch."""
    from kformer.training.run.history_picture import draw_history, read_history

    logs, monitor = read_history(run)
    _check(output)
    draw_history(logs, monitor, output)
    typer.echo(f"The picture is {output}")


def _check(output):
    """Refuses a name that a picture cannot have, or a place that cannot be written to."""
    plot.check_picture(output)
    check_writable(output)


def _save(figure, output):
    plot.save_figure(figure, output)
    typer.echo(f"The picture is {output}")

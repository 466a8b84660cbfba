"""MODEL on the command line: any of the three saved forms.

LiteRT runs a `.tflite` file, TensorFlow the other forms; nothing is converted. Seconds for 1,000
sentences with the tiny model on two cores, from the start of the process to its end (`make
bench-translate`):

    form                                          greedy   4 beams
    .keras                                           6.9      11.3
    SavedModel                                       8.0      12.9
    .tflite                                          2.3       4.0
    .tflite with batches of 32                       2.1       4.9
    .tflite of int8                                  1.5       2.6
    .tflite of int8 with batches of 32               1.5       3.9

A file with batches uses them. They do not speed up a small model, and slow it down with beams. The
base model reads its weights once for a batch, so 32 sentences of one length take a quarter of the
time, in int8 two fifths, and 1,000 captions 10 s instead of 15.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kformer
from kformer.arguments import check_target_language
from kformer.cli.terminal.progress_line import waiting
from kformer.cli.terminal.streams import quiet
from kformer.export.loading import FORMS, named_model, saved_form, saved_kind
from kformer.imports.published.model_names import published_name
from kformer.inference.search_options import SearchOptions, with_defaults
from kformer.kinds import EXPORTED, known_kind
from kformer.threads import a_core_for_each_operation

_OF_ONE_KIND = {kind.does for kind in EXPORTED}  # Every kind can encode and attend.


def _model_paths(name, suffix):
    """Returns the path of the model that is named on the command line, or of several."""
    if isinstance(name, list | tuple):
        return [_model_paths(each, suffix) for each in name]
    if not name:
        return name
    path = named_model(name) if published_name(name) is None else _published(name, suffix)
    if path.suffix == ".keras" and path.is_file() and saved_form(path) == "keras":
        from kformer.tasks.keras_file import check_has_kind  # It imports SentencePiece.

        check_has_kind(path)  # `kformer.load` also loads networks, which have no tokenizer.
    return path


def _published(name, suffix):
    """Returns the path of a published model in the cache."""
    from kformer.imports.published.downloads import told_by  # It imports urllib3.

    with quiet() as say, told_by(say):
        return named_model(name, suffix)


def a_file_of(help: str, kind: Callable = typer.Option, suffix: str = ".keras", **settings: Any):
    """Returns the parameter of a command for models, or for the folders of their runs.

    The suffix is that of the form that the command takes of a published model.

    The command gets a `Path`. The type of the parameter is `ModelPath` where the word `demo` may
    stand for the model in the package, because a `Path` of typer cannot tell it from `./demo`.
    """

    def model_paths(name):
        return _model_paths(name, suffix)

    return kind(help=help, callback=model_paths, **settings)


if TYPE_CHECKING:
    ModelPath = Path  # What the command gets.
else:
    ModelPath = str  # What typer reads.
AnyModel = Annotated[
    ModelPath,
    a_file_of(
        "A .keras file, the folder of a training run, a SavedModel folder or a .tflite file; or "
        "demo, the small model in the package, where no file or folder has that name; or the name "
        "of a published model, such as firefox://de-en.",
        typer.Argument,
        ".tflite",
    ),
]
KerasModel = Annotated[
    ModelPath,
    a_file_of(
        "A .keras file, the folder of a training run, or the name of a published model, such as "
        "firefox://de-en.",
        typer.Argument,
    ),
]


Others = Annotated[
    list[ModelPath] | None,
    a_file_of(
        "Another .keras file of the same vocabulary, to translate with MODEL by the mean of "
        "their probabilities. May be repeated.",
        metavar="OTHER",
    ),
]


ShortlistTable = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        help="Table of `kformer shortlist`: search among the ids that are likely for each sentence "
        "alone, which is faster with a large vocabulary.",
    ),
]


TargetLanguage = Annotated[
    str | None,
    typer.Option(help="Language to translate into, such as fra, of a model with several."),
]


def open_model(
    path: Path,
    ensemble: Sequence[Path] = (),
    target_language: str | None = None,
    shortlist: Path | None = None,
    **settings: Any,
):
    """Returns a callable (texts, progress) -> translations, for the form at `path`."""
    check_has_options(path, ensemble, shortlist, settings)
    translator = open_ensemble(path, ensemble, target_language, shortlist)
    return lambda texts, progress=None: translator.translate(texts, progress=progress, **settings)


def open_ensemble(
    path: Path,
    ensemble: Sequence[Path] = (),
    target_language: str | None = None,
    shortlist: Path | None = None,
    if_any: bool = False,
):
    """Returns the translator at `path`; with `ensemble`, the `kformer.Ensemble` of all."""
    for member in ensemble:
        check_is_keras(member, "can be part of an ensemble")
    first, *more = (
        open_able_to("translate", member, target_language, if_any) for member in (path, *ensemble)
    )
    if shortlist:
        first.shortlist = kformer.Shortlist.load(shortlist)
    return kformer.Ensemble([first, *more]) if more else first


def open_translator(path: Path, target_language: str | None = None, if_any: bool = False):
    """Returns the translator at `path`, opened by `open_able_to`."""
    return open_able_to("translate", path, target_language, if_any)


def open_able_to(do: str, path: Path, target_language: str | None = None, if_any: bool = False):
    """Returns the model at `path` that can `do` a task, without messages of libraries.

    Args:
        if_any: Whether a translator without a choice of languages ignores it.
    """
    _check_kind(do, path)
    with waiting("Loading the model"), quiet():
        if saved_form(path) != "tflite":
            a_core_for_each_operation()
        model = kformer.load(path)
    if do != known_kind(model).does and not hasattr(model, do):
        raise _unable(do, path, type(model).__name__)
    if hasattr(model, "into"):
        ignored = if_any and not model.target_languages
        return model.into(None if ignored else target_language)
    check_target_language(target_language, ())
    return model


def _check_kind(do, path):
    """Refuses a model of another kind, before the libraries that would load it are imported."""
    kind = saved_kind(path)
    if do != kind.does and do in _OF_ONE_KIND:
        name = getattr(kind, FORMS[saved_form(path)]).rpartition(":")[2]
        raise _unable(do, path, name)


def _unable(do, path, name):
    return ValueError(
        f"The model must be able to {do}. Received: {str(path)!r}, which holds a {name}."
    )


def search_options(path: Path, changes: dict[str, Any]) -> SearchOptions:
    """Returns the options of a search: the user's `changes`, and otherwise the model's own."""
    if saved_form(path) != "keras":
        beams = {"beam_size": changes["n_best"]} if "n_best" in changes else {}
        return SearchOptions(**beams, **changes)
    from kformer.tasks.keras_file import search_defaults_in  # It imports SentencePiece.

    return with_defaults(changes, search_defaults_in(path))


def check_has_options(path: Path, ensemble: Any, shortlist: Any, settings: Any, **more: Any):
    """Refuses options of a search with an export; the arguments are as for `open_model`."""
    if saved_form(path) != "keras":
        choices = {"ensemble": ensemble, "shortlist": shortlist, **more}
        takes_several = saved_form(path) == "tflite"
        chosen = [name for name in settings if name != "n_best" or not takes_several]
        check_no_options(path, [*chosen, *(name for name, value in choices.items() if value)])


def check_no_options(path: Path, names: Any):
    """Refuses options for the search or the output of an export."""
    if names:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        raise ValueError(
            "An export has the search that was chosen for it. "
            f"Received: {options} with {str(path)!r}."
        )


def check_is_keras(path: Path, purpose: str):
    """Refuses other forms than a .keras file, where only that serves the purpose."""
    if saved_form(path) != "keras":
        raise ValueError(f"Only a .keras file {purpose}. Received: {str(path)!r}, which is none.")

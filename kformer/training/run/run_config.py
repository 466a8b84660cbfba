"""The run config, `run.json`: the settings of a run, and their changes when it is resumed."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from kformer.files import sha256
from kformer.json_files import read_json
from kformer.kinds import TRANSLATOR
from kformer.text.documents import LINE
from kformer.training.recipes.recipe import Recipe, numbers_before
from kformer.training.run.run_folder import RUN_CONFIG

if TYPE_CHECKING:  # The command line imports this module, also for --help.
    from kformer.training.run.training_task import Task

CHANGEABLE = [  # Numbers of a recipe that may change when a run is resumed.
    field.name for field in dataclasses.fields(Recipe) if field.metadata["is_changeable"]
]


class _RunConfig(TypedDict, total=False):
    """The fields of a run config; early versions lack some."""

    task: str
    recipe: dict
    options: dict
    files: dict[str, list[str]]
    sha256: dict[str, list[str]]
    changes: list[dict]


def run_config(recipe: Recipe, task: "Task") -> dict:
    """Returns the settings of a run, as JSON holds them."""
    task.check(recipe)
    files = task.files
    return {
        "task": task.kind.task_name,
        "recipe": dataclasses.asdict(recipe),
        "options": {
            name: sha256(value) if isinstance(value, Path) else value
            for name, value in task.options.recorded().items()
        },
        "files": {
            side: [str(Path(file).absolute()) for file in files[side]]
            for side in files
            if side not in task.temporary
        },
        "sha256": {side: [task.checksum(file) for file in files[side]] for side in files},
    }


def read_run_config(folder: str | Path) -> dict:
    """Returns the run config in `folder`; an empty dict if there is none."""
    path = Path(folder) / RUN_CONFIG
    if not path.is_file():
        return {}
    return read_json(path, _RunConfig, rule="A run config must be as `train` writes it.")


def difference(earlier: dict, config: dict) -> str | None:
    """Lists the settings that differ and may not change; returns None if there are none."""
    default = TRANSLATOR.task_name  # Early run configs lack it.
    kinds = [settings.get("task", default) for settings in (earlier, config)]
    if kinds[0] != kinds[1]:
        return f"of another kind, {kinds[0]} instead of {kinds[1]}"
    options = config["options"]  # Early run configs lack the options.
    before = {**earlier.get("recipe", {}), **earlier.get("options", options)}
    if "recipe" in earlier:  # Early run configs lack it.
        before = numbers_before(config["recipe"]) | before
    if "documents" in options:  # Early language models had a document on each line.
        before = {"documents": LINE} | before
    wanted = {**config["recipe"], **options}
    # Options that a run config lacks were added later, and are off by default.
    before = {name: False for name, value in options.items() if value is False} | before
    differing = [
        f"{name}={before.get(name)!r} instead of {wanted.get(name)!r}"
        for name in {**before, **wanted}
        if name not in CHANGEABLE and before.get(name) != wanted.get(name)
    ]
    if earlier.get("sha256") != config["sha256"]:
        sides = [
            side.replace("_", "-")
            for side in config["sha256"]
            if earlier.get("sha256", {}).get(side) != config["sha256"][side]
        ]
        differing.append(f"other text in --{' and --'.join(sides)}")
    return f"with {', '.join(differing)}" if differing else None


def check_same(configs: list[dict]):
    """Raises ValueError if the processes of a run have other settings, text or versions."""
    first = configs[0]
    for process, config in enumerate(configs):
        differing = difference(config, first)
        for name in ("versions", "tokenizer", "target_tokenizer"):
            if config[name] != first[name]:
                differing = differing or f"with {name}={config[name]!r} instead of {first[name]!r}"
        if differing:
            raise ValueError(
                "All processes of a run need the same settings, text and versions. "
                f"Received: process {process} {differing}."
            )


def is_comparable(config: Mapping[str, Any]) -> bool:
    """Whether a value from another process has the form that `check_same` needs."""
    if not isinstance(config, dict):
        return False
    tables = [config.get(name) for name in ("recipe", "options", "sha256", "versions")]
    return all(isinstance(table, dict) for table in tables) and {
        "task",
        "tokenizer",
        "target_tokenizer",
    } <= {*config}


def changed_settings(earlier: dict, config: dict) -> dict[str, list]:
    """Returns, by name, the old and the new value of each setting that may change and does."""
    after = config["recipe"]
    before = numbers_before(after) | earlier.get("recipe", {})
    return {
        name: [before.get(name), after[name]]
        for name in CHANGEABLE
        if before.get(name) != after[name]
    }


def in_words(changed: dict[str, list], step: int) -> list[str]:
    """Describes each change in a line, for a run that resumes at `step`."""
    return [
        f"{name}: {before} -> {after} from step {step:,}"
        for name, (before, after) in changed.items()
    ]


def with_changes(config: dict, changed: dict[str, list], step: int) -> dict:
    """Returns `config` with `changed`, if not empty, added to its list of changes."""
    if not changed:
        return config
    return {**config, "changes": [*config.get("changes", []), {"step": step, **changed}]}

"""Settings that may change when a run goes on, and the record of their changes in `run.json`."""

CHANGEABLE = (
    *("epochs", "patience", "monitor"),
    *("learning_rate_scale", "warmup_steps", "precision"),
    *("validate_every", "keep_best", "average"),
)  # Numbers of a recipe. All others make another run.


def changed_settings(record: dict, settings: dict) -> dict[str, list]:
    """Returns by name what may change and does: the value in `record`, and that in `settings`."""
    before, after = record.get("recipe", {}), settings["recipe"]
    return {
        name: [before.get(name), after[name]]
        for name in CHANGEABLE
        if before.get(name) != after[name]
    }


def in_words(changed: dict[str, list], step: int) -> list[str]:
    """Says each change in a line, for a run that goes on from `step`."""
    return [
        f"{name}: {before} -> {after} from step {step:,}"
        for name, (before, after) in changed.items()
    ]


def with_changes(record: dict, changed: dict[str, list], step: int) -> dict:
    """Returns `record` with one more entry in its list of changes, if there are any."""
    if not changed:
        return record
    return {**record, "changes": [*record.get("changes", []), {"step": step, **changed}]}

"""The model card of an export, in Markdown: what the model is, its training, scores and limits.

A card is written from the facts in the export's report, `kformer.json`. It begins with the metadata
that model cards have on the Hugging Face hub.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kformer.kinds import CLASSIFIER, LANGUAGE_MODEL, TAGGER, TRANSLATOR, kind_named, known_kind
from kformer.text.language_names import direction_codes

CARD = "MODEL_CARD.md"
_TASKS = {  # The hub's names of what a model does.
    TRANSLATOR: "translation",
    CLASSIFIER: "text-classification",
    TAGGER: "token-classification",
    LANGUAGE_MODEL: "text-generation",
}
_LICENCES = {  # The hub's names of licences; others are "other", with a name.
    *("apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "mpl-2.0", "unlicense", "cc0-1.0"),
    *("cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-sa-4.0"),
    *("cc-by-nc-nd-4.0", "cc-by-3.0", "cc-by-sa-3.0", "cc-by-nc-3.0"),
    *("gpl-2.0", "gpl-3.0", "lgpl-3.0", "agpl-3.0"),
}
_SIZES = ("num_layers", "num_decoder_layers", "d_model", "num_heads", "d_ff", "decoder_cell")
_MEASURES = {"bleu": ("BLEU", 1), "accuracy": ("accuracy %", 100)}


def size_facts(model: Any) -> dict[str, Any]:
    """Returns the sizes of the network of a model by name, and the number of its parameters."""
    config = model.get_config()
    for key in known_kind(model).network:
        config = config[key]
    sizes = {name: config[name] for name in _SIZES if config.get(name)}
    return {**sizes, "parameters": model.network.count_params()}


def model_card(
    form: str, facts: Mapping[str, Any], training: Mapping[str, Any] | None = None
) -> str:
    """Returns the model card of an export.

    Args:
        training: Facts about the training run, as JSON: `files`, a dict of sides, each a list of
            files with `name`, `sha256` and, if known, `bytes`; `pairs`; `recipe`, a dict of
            numbers; and `best`, the scores of the chosen epoch. None if they are not known.
    """
    import yaml  # The wheel kformer-runtime does without it.

    kind = kind_named(facts["kind"])
    front = yaml.safe_dump(_front_matter(kind, facts), sort_keys=False, allow_unicode=True)
    lines = [
        f"---\n{front}---\n",
        f"# {_title(kind, facts)}\n",
        *_model(form, facts),
        "\n## Training\n",
        *_training(training),
        "\n## Scores\n",
        *_scores(form, facts, training),
        "\n## Limits\n",
        *_limits(kind, facts),
        "\n## Licence\n",
        *_licence(facts),
    ]
    return "\n".join(lines) + "\n"


def _front_matter(kind, facts):
    """Returns the metadata of the hub that is known."""
    front: dict[str, Any] = {}
    if languages := _languages(facts):
        front["language"] = languages
    if licence := facts.get("licence"):
        name = "-".join(licence.lower().split())
        front |= {"license": name} if name in _LICENCES else {"license": "other"}
        if name not in _LICENCES:
            front["license_name"] = name
    front |= {"library_name": "kformer", "pipeline_tag": _TASKS[kind]}
    if measures := [name for name in _MEASURES if _measured(facts, name) is not None]:
        front["metrics"] = measures
    return front


def _languages(facts):
    """Returns the codes of all languages, the sources first."""
    pairs = [*map(direction_codes, facts.get("directions", ()))]
    sources = [facts.get("source_language"), *(pair[0] for pair in pairs)]
    targets = [facts.get("target_language")]
    if targets == [None]:
        targets = [*facts.get("target_languages", ())]
    return [*dict.fromkeys(code for code in (*sources, *targets) if code)]


def _title(kind, facts):
    source, target = facts.get("source_language"), facts.get("target_language")
    target = target or ", ".join(facts.get("target_languages", ()))
    parts = [kind.words.capitalize(), source and f"from {source}", target and f"to {target}"]
    return facts.get("title") or " ".join(part for part in parts if part)


def _model(form, facts):
    """Yields a table of what the model is."""
    sizes = [f"`{name}` {facts[name]}" for name in _SIZES if facts.get(name)]
    if "parameters" in facts:
        sizes.append(f"{facts['parameters']:,} parameters")
    total = facts["bytes"]["all"] if isinstance(facts["bytes"], dict) else facts["bytes"]
    rows = {
        "form": f"{form}, {facts.get('precision', 'float32')}, {total / 1e6:.1f} MB",
        "network": ", ".join(sizes),
        "labels": ", ".join(facts.get("labels", ())),
        "directions": ", ".join(facts.get("directions", ())),
        "search": _search(facts),
        "written by": f"kformer {facts['kformer']}",
    }
    yield "| | |\n|---|---|"
    for name, value in rows.items():
        if value:
            yield f"| {name} | {_cell(value)} |"


def _search(facts):
    if "beam_size" not in facts:
        return ""
    beams, penalty = facts["beam_size"], facts["length_penalty"]
    return "greedy" if beams == 1 else f"{beams} beams, length penalty {penalty}"


def _training(training):
    """Yields what the model learned from, and how."""
    if not training:
        yield "This export does not know what the model was trained on."
        return
    yield "| text | file | bytes | SHA-256 |\n|---|---|---|---|"
    for side, files in training["files"].items():
        for file in files:
            size = f"{file['bytes']:,}" if file.get("bytes") is not None else ""
            cells = (side.replace("_", " "), f"`{file['name']}`", size, f"`{file['sha256']}`")
            yield f"| {' | '.join(map(_cell, cells))} |"
    if training.get("pairs"):
        yield f"\nThe training text has {training['pairs']:,} pairs of sentences."
    numbers = ", ".join(f"{name} {value}" for name, value in training["recipe"].items())
    yield f"\nThe recipe, as `kformer train` names its numbers: {numbers}."


def _scores(form, facts, training):
    """Yields the scores of the check, and those that chose the model."""
    checked = _checked(facts)
    if checked:
        for name in _MEASURES:
            if (value := _measured(facts, name)) is not None:
                yield from _table(form, checked, name, value)
                break
        else:
            yield "The check had no references, so there is no score."
        number, equal = checked["sentences"], _equal(checked)
        yield f"\nOf {number:,} held-out texts, {equal:,} were answered as in Python."
        if unsure := checked.get("unsure"):
            yield f"\nThe flag `unsure` on these texts: {_figures(unsure)}."
    else:
        yield "This export was not checked on held-out text."
    if training and (best := training.get("best")):
        epoch = best["epoch"]
        scores = {name.removeprefix("val_"): best[name] for name in best if name != "epoch"}
        yield f"\nOn the validation text, after epoch {epoch}: {_figures(scores)}."


def _table(form, checked, name, value):
    words, factor = _MEASURES[name]
    yield f"| held-out text | {words} |\n|---|---|"
    yield f"| Python | {factor * checked[f'{name}_of_python']:.2f} |"
    yield f"| {form} | {factor * value:.2f} |"
    if f"{name}_signature" in checked:
        yield f"\nsacreBLEU's signature: `{checked[f'{name}_signature']}`."


def _figures(values):
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
    )


def _checked(facts):
    """Returns the results of the check, or None: a SavedModel's report has them apart."""
    return facts.get("checked", facts if "sentences" in facts else None)


def _measured(facts, name):
    return (_checked(facts) or {}).get(name)


def _equal(checked):
    return checked["equal"] if "equal" in checked else checked["equal_to_python"]


def _limits(kind, facts) -> Iterator[str]:
    """Yields what the model should not be used for."""
    doing = kind.doing.lower()
    yield (
        f"- A text of over {facts['max_source_length']} ids is cut, and flagged. Text of several "
        "sentences should be split at their ends."
    )
    yield (
        "- The scores are of held-out text like the training text. Other subjects, styles and "
        "languages are answered worse, and fluent answers can be wrong: have a person check them "
        "where health, rights or money depend on them."
    )
    yield f"- Nobody measured how fairly it treats people when {doing}, such as women and men."
    if facts.get("precision", "float32") not in ("float32", "float16"):
        yield f"- Weights are rounded ({facts['precision']}), so some answers differ from Python's."
    if "quality_estimate" in facts:
        yield "- Answers with the flag `unsure` are often wrong; not all without it are right."
    if facts.get("directions"):
        yield "- Directions that are not listed above were not trained."


def _licence(facts):
    yield facts.get("licence") or (
        "No licence is recorded; `kformer export --licence` records one. Without a licence, others "
        "may not use the model."
    )
    if facts.get("citation"):
        yield f"\n## Citation\n\n```\n{facts['citation']}\n```"


def _cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")

"""Directions that a model of several languages was trained in, and those that it was not."""

import warnings
from collections.abc import Iterable

from kformer.arguments import stacklevel_of_user
from kformer.text.language_names import direction_codes

ZERO_SHOT = "zero-shot"  # The flag of such a translation.


def is_zero_shot(
    directions: Iterable[str] | None, source_language: str | None, target_language: str | None
) -> bool:
    """Returns whether a model was trained in other directions only.

    Args:
        directions: Those of the training text, such as "de-en"; None or none if they are not known.
        source_language, target_language: Codes; None if they are not known.
    """
    directions = [*(directions or ())]
    if not directions or source_language is None or target_language is None:
        return False
    return f"{source_language}-{target_language}" not in directions


def warn_of_zero_shot(
    directions: Iterable[str] | None,
    source_language: str | None,
    target_language: str | None,
):
    """Warns of a direction that `is_zero_shot`; Python shows the same warning once.

    The arguments are as for `is_zero_shot`.
    """
    directions = [*(directions or ())]
    if is_zero_shot(directions, source_language, target_language):
        warnings.warn(
            f"The model was trained in the directions {', '.join(directions)}; translations in "
            "others (zero-shot) are often poor. Received: "
            f"source_language={source_language!r}, target_language={target_language!r}.",
            stacklevel=stacklevel_of_user(),
        )


def facts_of(directions: Iterable[str], target_language: str | None = None) -> dict:
    """Returns the facts about a model that was trained in some directions, for `Translator.about`.

    Args:
        target_language: The only target language, of which the other directions are left out; None
            for all.
    """
    kept = [name for name in directions if target_language in (None, direction_codes(name)[1])]
    sources = {direction_codes(name)[0] for name in kept}
    return {"directions": kept} | ({"source_language": sources.pop()} if len(sources) == 1 else {})


def zero_shot_directions(directions: Iterable[str]) -> list[str]:
    """Returns the directions between the languages of some directions that are not among these.

    Their targets are targets of the directions, too: no other language has a symbol.
    """
    directions = [*directions]
    sources, targets = (
        [*dict.fromkeys(codes)] for codes in zip(*map(direction_codes, directions), strict=True)
    )
    pairs = (f"{source}-{target}" for source in sources for target in targets if source != target)
    return [pair for pair in pairs if pair not in directions]

"""The parallel text that the arguments of a translator's run name, in one of several ways."""

from collections.abc import Mapping, Sequence
from typing import Any

from kformer.training.data.directions import Direction, both_directions, text_of_directions
from kformer.training.data.pairs import ParallelText, parallel_text


def folders_of_directions(directions: Sequence[Direction], shards: Any) -> list:
    """Returns the folders of shards of directions, instead of `shards`; or raises a ValueError."""
    if shards or not all(direction.shards for direction in directions):
        raise ValueError(
            "A run of several directions trains on shards or on text, not on both. Received: "
            f"{shards=} and directions {', '.join(map(repr, directions))}."
        )
    return [direction.shards for direction in directions]


def text_of_arguments(text: tuple, options: Mapping[str, Any], kind: str = "") -> ParallelText:
    """Returns the parallel text of source, target and pairs, or of directions."""
    source, target, pairs = text
    directions, languages = options.get(f"{kind}directions"), options.get("both_directions")
    if not directions:
        text = parallel_text(source, target, pairs, options.get("columns"), kind)
        return text if languages is None else both_directions(text, languages)
    if source or target or pairs is not None or languages is not None:
        raise ValueError(
            f"Text is given as `{kind}directions`, or as files or pairs, perhaps of "
            f"`both_directions`, not as both. Received: {kind}source={source}, "
            f"{kind}target={target} or {kind}pairs, both_directions={languages!r}, beside "
            f"{len(directions)} of {kind}directions."
        )
    return text_of_directions(directions, kind)

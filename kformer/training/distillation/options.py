"""The settings of `distill`, each with its description and its check."""

import dataclasses
import functools

from kformer.arguments import check_choice, check_integer, check_number
from kformer.decoding.options import SearchOptions


def _setting(default, description, check, **limits):
    metadata = {"description": description, "check": functools.partial(check, **limits)}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationOptions:
    """How the teachers of `distill` translate."""

    beam_size: int = _setting(
        5,
        "Number of sequences that the teachers keep at each step; where there is a reference, the "
        "student learns the best of as many translations.",
        check_integer,
        least=1,
    )
    length_penalty: float = _setting(
        SearchOptions.length_penalty,
        "With several beams: 0 prefers short translations, 1 long ones.",
        check_number,
        least=0,
    )
    metric: str = _setting(
        "bleu",
        "What compares a translation with its reference: bleu or chrf, of the sentence.",
        check_choice,
        among=("bleu", "chrf"),
    )

    distributions: int = _setting(
        8,
        "Number of ids at each place of a translation whose probability, as the teachers find it, "
        "the student learns, too; 0 for the translations alone.",
        check_integer,
        least=0,
    )

    def search(self) -> dict:
        """Returns the options that change the translations, by name."""
        names = ("beam_size", "length_penalty", "metric")
        return {name: getattr(self, name) for name in names}

    def __post_init__(self):
        for field in dataclasses.fields(self):
            field.metadata["check"](field.name, getattr(self, field.name))


DistillationOptions.__doc__ += "\n\nAttributes:\n" + "\n".join(
    f"    {field.name}: {field.metadata['description']}"
    for field in dataclasses.fields(DistillationOptions)
)

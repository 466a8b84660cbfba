"""The settings of `distill`, each with its description and its check."""

import dataclasses
import functools

from kformer.arguments import check_choice, check_integer, check_number
from kformer.decoding.options import SearchOptions
from kformer.text.bleu_tokenizers import DEFAULT, TOKENIZERS, bleu_tokenizer


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
    length_penalty: float | None = _setting(
        None,
        "With several beams: 0 prefers short translations, 1 long ones; by default the first "
        f"teacher's own, usually {SearchOptions.length_penalty}.",
        check_number,
        least=0,
    )
    metric: str = _setting(
        "bleu",
        "What compares a translation with its reference: bleu or chrf, of the sentence.",
        check_choice,
        among=("bleu", "chrf"),
    )
    tokenize: str | None = dataclasses.field(
        default=None,
        metadata={
            "description": f"Tokenizer of BLEU: {', '.join(TOKENIZERS)}. By default that of the "
            "target language, else 13a.",
            "check": lambda name, value: value is None or bleu_tokenizer(value),
        },
    )
    distributions: int = _setting(
        8,
        "Number of ids at each place of a translation whose probability, as the teachers find it, "
        "the student learns, too; 0 for the translations alone.",
        check_integer,
        least=0,
    )

    def search(self) -> dict:
        """Returns the options that change the translations, by name.

        The length penalty of a teacher is in its file, which counts, too.
        """
        names = ["beam_size", "length_penalty", "metric"]
        if self.metric == "bleu" and self.tokenize not in (None, DEFAULT):
            names.append("tokenize")
        found = {name: getattr(self, name) for name in names}
        if self.length_penalty is None:
            found["length_penalty"] = SearchOptions.length_penalty
        return found

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None or field.default is not None:
                field.metadata["check"](field.name, value)


DistillationOptions.__doc__ += "\n\nAttributes:\n" + "\n".join(
    f"    {field.name}: {field.metadata['description']}"
    for field in dataclasses.fields(DistillationOptions)
)

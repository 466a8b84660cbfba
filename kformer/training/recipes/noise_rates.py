"""Names and rates of noise, which `kformer.training.data.noise` makes: a recipe's `noise`."""

from collections.abc import Collection, Sequence

from kformer.arguments import check_number, check_text

NOISES = {  # In the order in which they are applied.
    "join": "two short sentences in one line",
    "repeat": "a short sentence twice",
    "symbols": "symbols and emoji before or after a sentence",
    "lower": "lower case, in the source alone",
    "title": "A Capital Letter For Each Word",
    "upper": "UPPER CASE",
    "accents": "letters without their accents, in the source alone",
    "punctuation": "a final mark dropped, or said again",
    "typos": "typing errors, in the source alone",
}
OF_LABELLED_TEXT = [name for name in NOISES if name not in ("join", "repeat")]
OF_TAGGED_WORDS = [name for name in OF_LABELLED_TEXT if name not in ("symbols", "punctuation")]
NO_NOISE = "none"
ROBUST = "robust"  # Stands for these rates.
ROBUST_RATES = {
    "join": 0.05,
    "repeat": 0.02,
    "symbols": 0.04,
    "lower": 0.05,
    "title": 0.02,
    "upper": 0.04,
    "accents": 0.03,
    "punctuation": 0.05,
    "typos": 0.1,
}


def noise_rates(text: str, among: Collection[str] = tuple(NOISES)) -> dict[str, float]:
    """Returns the share of sentences that get each kind of noise."""
    received = f"Received: noise={check_text('noise', text)!r}"
    rates: dict[str, float] = {}
    entries = [] if text == NO_NOISE else [entry.strip() for entry in text.split(",")]
    if entries[:1] == [ROBUST]:
        rates = {name: rate for name, rate in ROBUST_RATES.items() if name in among}
        entries = entries[1:]
    names = [entry.partition("=")[0].strip() for entry in entries]
    for name, entry in zip(names, entries, strict=True):
        if name not in among or names.count(name) > 1:
            raise ValueError(
                f"`noise` is {NO_NOISE} or {ROBUST}, or has names and rates such as "
                f"{_example(among)}, each name once, among {', '.join(among)}. {received}."
            )
        rates[name] = _rate(entry, received)
    return {name: rates[name] for name in NOISES if rates.get(name)}


def _rate(entry, received):
    """Returns the rate of an entry, such as "upper=0.05"."""
    name, _, number = entry.partition("=")
    try:
        return check_number(name.strip(), float(number), least=0, most=1)
    except ValueError as error:
        raise ValueError(
            f"Each kind of `noise` has a rate from 0 to 1, such as {name.strip()}=0.05. {received}."
        ) from error


def _example(among: Collection[str]) -> str:
    names: Sequence[str] = [*among]
    return f"{names[-2]}=0.05,{names[-1]}=0.1"

"""Flags of answers: loops and absurd lengths, found in the ids alone; prompts that are too long."""

from collections.abc import Iterable, Sequence

MIN_ECHOES = 8  # Least number of ids in a loop that repeat the n-gram before them.
MIN_TIMES = 3  # Least number of times that a loop has its n-gram.
MAX_RATIO = 3  # A length is absurd over this many times the other side's length,
SLACK = 10  # plus this many ids, because a short sentence may need them.


def degenerate_flags(source: Sequence[int], target: Sequence[int]) -> tuple[str, ...]:
    """Returns the flags of a translation: none, "loop", "length ratio", or both.

    "loop": the same n-gram comes three or more times in a row, so that at least 8 ids, and at least
    half of all, repeat the n-gram before them: the same id 9 times, for instance, or the same 4 ids
    three times. There is no flag if the source repeats itself half as often.

    "length ratio": one side has more than 3 times the ids of the other plus 10; or the target is
    empty and the source is not.
    """
    flags = []
    times = repetitions(target)
    if times >= MIN_TIMES and times > 2 * repetitions(source):
        flags.append("loop")
    fewer, more = sorted((len(source), len(target)))
    if more > MAX_RATIO * fewer + SLACK or (source and not target):
        flags.append("length ratio")
    return tuple(flags)


def repetitions(ids: Sequence[int]) -> int:
    """Returns how many times in a row an n-gram comes that fills half of `ids`; 1 if none does."""
    ids = list(ids)
    needed = max(MIN_ECHOES, (len(ids) + 1) // 2)
    if len(ids) - len(set(ids)) < needed:  # Too few ids occur more than once.
        return 1
    most = 1
    for n in range(1, len(ids) // 2 + 1):
        echoes = longest = 0
        for now, before in zip(ids[n:], ids, strict=False):
            echoes = echoes + 1 if now == before else 0
            longest = max(longest, echoes)
        if longest >= needed:
            most = max(most, longest // n + 1)
    return most


TOO_LONG = "prompt too long"  # A flag of an export's answer.


def check_prompts(flags: Iterable[tuple[str, ...]]):
    """Raises ValueError for the first prompt that was too long to be continued."""
    for number, raised in enumerate(flags, start=1):
        if TOO_LONG in raised:
            raise ValueError(
                "A prompt must leave room for its continuation, within the model's limit of ids. "
                f"Received: prompt {number}, which is too long."
            )

"""Flags of degenerate output: loops and absurd lengths, found in the ids alone."""

MIN_ECHOES = 8  # Ids that must repeat what came one n-gram before, for a loop.
MIN_TIMES = 3  # How often the n-gram of a loop must come.
MAX_RATIO = 3  # Times as many ids as the other side, from where a length is absurd,
SLACK = 10  # and so many more, because a short sentence may well need them.


def degenerate_flags(source, target) -> tuple[str, ...]:
    """What is wrong with a translation: nothing, "loop", "length ratio", or both.

    "loop": an n-gram follows itself, three times or more, so that at least 8 ids, and at least
    half of all, merely repeat the n-gram before them. That is 9 times the same word, or three
    times the same 4 of them. A source that repeats itself half as often excuses it.

    "length ratio": one side has over 3 times the ids of the other and 10 more; or the target
    has none.

    Args:
        source, target: sequences of ids, without start, end and padding.
    """
    flags = []
    times = repetitions(target)
    if times >= MIN_TIMES and times > 2 * repetitions(source):
        flags.append("loop")
    fewer, more = sorted((len(source), len(target)))
    if more > MAX_RATIO * fewer + SLACK or (source and not target):
        flags.append("length ratio")
    return tuple(flags)


def repetitions(ids) -> int:
    """How often an n-gram follows itself that makes up most of `ids`; 1 if none does."""
    ids = list(ids)
    needed = max(MIN_ECHOES, (len(ids) + 1) // 2)
    if len(ids) - len(set(ids)) < needed:  # Every id that repeats one is not the first of its kind.
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

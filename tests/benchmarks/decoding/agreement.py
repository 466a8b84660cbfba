"""Whether the contenders say the same: else their speeds cannot be compared."""

TIES = 0.02  # Share of float32's sentences that may differ: at a tie, sums' last digits decide.
TOKENS = 0.01  # Share by which the numbers of tokens may differ.


class Agreement:
    """Compares every contender's translations with those of the first.

    Args:
        show: Is called with a line about each contender.
    """

    def __init__(self, show=print):
        self._show = show
        self._first = None
        self.tokens = {}  # name -> number of tokens of a round, ends not counted
        self.unfair = []  # A line about each contender that has not done the same work.

    def check(self, name: str, report: dict):
        """Takes the translations out of a report, `ids`: of each sentence a list."""
        rows = report.pop("ids")
        tokens = self.tokens[name] = sum(map(len, rows))
        if self._first is None:
            self._first = (name, rows)
            self._show(f"{name}: {tokens:,} tokens; the others are compared with these")
            return
        first, expected = self._first
        equal = sum(row == other for row, other in zip(rows, expected, strict=True))
        said = (
            f"{name}: {equal:,} of {len(rows):,} translations equal, "
            f"{tokens:,} tokens for {self.tokens[first]:,}"
        )
        self._show(said)
        differ = len(rows) - equal
        too_many = " float32," in name and differ > max(1, TIES * len(rows))
        if too_many or abs(tokens - self.tokens[first]) > TOKENS * self.tokens[first]:
            self.unfair.append(f"NOT FAIR: {said}")

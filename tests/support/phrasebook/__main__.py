"""Writes `kformer/phrasebook.xz`: `PYTHONPATH=tests python -m support.phrasebook`."""

import lzma

from support import REPOSITORY
from support.phrasebook import generate, reviews


def content() -> str:
    """Returns the lines of the file: corpus, part and two fields, separated by tabs."""
    corpora = {"pairs": generate(), "reviews": reviews.generate()}
    rows = [
        (corpus, part, *example)
        for corpus, parts in corpora.items()
        for part, examples in parts._asdict().items()
        for example in examples
    ]
    return "".join("\t".join(row) + "\n" for row in rows)


if __name__ == "__main__":
    compressed = lzma.compress(content().encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)
    (REPOSITORY / "kformer" / "phrasebook.xz").write_bytes(compressed)

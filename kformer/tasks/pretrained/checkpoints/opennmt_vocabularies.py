"""The ids of OpenNMT-py and OpenNMT-tf, whose vocabularies name special pieces alike."""

from pathlib import Path

from kformer.tasks.pretrained.id_table import IdTable, with_common_padding

START, END, UNKNOWN, PADDING = "<s>", "</s>", "<unk>", "<blank>"
LONGEST = 512  # Ids of a source; a checkpoint does not say how long those of the training were.


def tables_of(vocabularies, path: Path, toolkit: str, start: str = START) -> list[IdTable]:
    """Returns the `IdTable`s of both sides, with padding at the same id.

    Args:
        vocabularies: Lists of pieces, of source and target. The source may lack start and end:
            these get ids behind its own.
        path, toolkit: For messages.
        start: The piece that starts a translation.

    Raises:
        ValueError: Special pieces are missing.
    """
    special = {"end": END, "unknown": UNKNOWN, "start": start}
    source, target = vocabularies
    source = [*source, *(piece for piece in special.values() if piece not in source)]
    missing = [piece for piece in special.values() if piece not in target]
    if missing or UNKNOWN not in vocabularies[0]:
        raise ValueError(
            f"A vocabulary of {toolkit} must hold {', '.join(special.values())}. "
            f"Received: no {', '.join(missing) or UNKNOWN} in {str(path)!r}."
        )
    padding, sides = with_common_padding([source, target], (PADDING,))
    tables = [IdTable(pieces, padding=padding, **special) for pieces in sides]
    return tables if tables[0] != tables[1] else tables[:1] * 2

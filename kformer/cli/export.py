"""`kformer export`."""


def export():
    """Not yet."""

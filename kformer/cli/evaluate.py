"""`kformer evaluate`."""


def evaluate():
    """Not yet."""

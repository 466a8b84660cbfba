"""`kformer attention`."""


def attention():
    """Not yet."""

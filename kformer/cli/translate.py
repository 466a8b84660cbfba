"""`kformer translate`."""


def translate():
    """Not yet."""

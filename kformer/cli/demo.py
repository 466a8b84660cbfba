"""`kformer demo`."""


def demo():
    """Not yet."""

"""`make bench-page`: see `__main__.py`."""

"""`make bench-serve`: see `__main__.py`."""

"""`make bench-translate`: see `__main__.py`."""

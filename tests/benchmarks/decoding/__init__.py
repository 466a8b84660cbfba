"""`make bench-decode`: see `__main__.py`."""

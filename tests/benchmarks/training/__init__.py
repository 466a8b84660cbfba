"""`make bench-train`: see `__main__.py`."""

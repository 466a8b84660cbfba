"""How fast text becomes shards, and shards become batches; and other forms of records.

- `__main__`: `make bench-shards`. `record_formats`: random access to the same pairs in other files.
"""

"""A translation of a large file that goes on where a process was killed.

- `resume`: translates a file in this way.
- `journal`: how much of an output is whole, and with which settings it began.
- `unfinished`: the output and its journal beside the final name, until all is written.
- `settings`: what must be the same in every process that works on an output.
"""

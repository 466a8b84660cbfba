"""Learns shortlists from parallel text.

- `learning`: from text files to a `kformer.Shortlist`.
- `ibm1`: how likely each target id is a translation of each source id.
- `entries`: from those probabilities to the table.
"""

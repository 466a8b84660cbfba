"""The search of all of kformer's forms, so that it is CTranslate2's search."""

import kformer.decoding.search_ids
from benchmarks.decoding.process import LENGTH_PENALTY
from kformer.decoding.search.beam import Beam
from kformer.decoding.search.greedy import Greedy


def search_of(beam_size: int):
    """Returns kformer's search, with the ids of its own tokenizers."""
    return Greedy() if beam_size == 1 else Beam(beam_size, LENGTH_PENALTY)


def limited_to(extra_length: int):
    """Lets translations, in all of this process, have so many ids more than their source."""
    kformer.decoding.search_ids.EXTRA_LENGTH = extra_length

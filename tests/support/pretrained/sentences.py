"""Sources to translate."""

import random
from itertools import islice

from support import phrasebook


def sentences(count):
    """Returns beginnings of German sentences, of one word to twenty."""
    chance = random.Random(7)
    sources = [source for (source, _), _ in islice(phrasebook.sample(chance), count)]
    return [" ".join(source.split()[: chance.randint(1, 20)]) for source in sources]

"""Words of the phrasebook: its lexicon, closed word classes, and inflection in both languages."""

"""Phrases of the phrasebook: noun phrases, people, places, times, circumstances."""

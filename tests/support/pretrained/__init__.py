"""Small models as others publish them, and files of their formats."""

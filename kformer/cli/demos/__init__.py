"""What each demo has of its own: its text, its model, and what it shows.

- `translator`: translations of the phrasebook.
- `classifier`: labels of built-in reviews.
- `language_model`: sentences like the English ones of the phrasebook.
"""

PARTS = {"test": "like those of training", "unseen": "with combinations never seen"}  # Held out.
SHOWN = 5  # Held-out texts printed in full, of each part.

"""Pictures: attention, confusion, learning curves, positional encodings, schedules.

- `attention_page`: a web page that shows attention, from the template `attention.html`.
- `attention_plot`, `history_plot`: attention, and the learning curves of a run.
- `curve_plots`: schedules, positional encodings, and the confusion of a classifier.
- `figures`: sizes and colours that they share, and how they are saved.

Every other function returns a matplotlib `Figure`, which needs no window.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

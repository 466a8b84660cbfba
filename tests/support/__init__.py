"""What the tests share: references to compare with, small models, damaged files, odd texts.

- `reference`, `scripted`, `tied`, `pairs`, `odd_text`: what results are compared with, and inputs.
- `toy`, `codec_models`, `made_once`: small models, each made once for all tests.
- `disturbances`, `same_run`, `train_on_replicas`: runs that are interrupted, compared, or in a
  process of their own.
- `native`: programs in C++, other versions of LiteRT and an emulated Arm processor.
- `processes`: Python in a process of its own.
- `serving`: a stand-in for TensorFlow Serving, and requests to it.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
REPOSITORY = TESTS.parent
SAVED = TESTS / "saved"  # Files that released versions wrote.

"""What the tests share: references to compare with, small models, damaged files, odd texts.

- `reference`, `scripted`, `tied`, `odd_text`, `layers`: what results are compared with, and inputs.
- `toy`, `codec_models`, `made_once`: small models, each made once for all tests.
- `backend`: gradients and tolerances on both of Keras's backends.
- `disturbances`: files that are damaged, and power cuts.
- `phrasebook`: the generator of `kformer/phrasebook.xz`, and the word alignments of its sentences.
- `training`: parallel text, and runs that are compared, or in a process of their own.
- `pretrained`, `tflite_content`, `beam`: folders as others publish them, the content of a `.tflite`
  file, and pipelines of Apache Beam.
- `guides`: the guides of the package, and what they tell a reader to type.
- `release`, `runtime_wheel`: what `make release` builds and checks.
- `android_app`: an exported Android project, compiled and run with stand-ins in `android/`.
- `native`: programs in C++, other versions of LiteRT and an emulated Arm processor.
- `processes`: Python in a process of its own.
- `house_figures`: a command that counts sizes, types, names and English of a source tree.
- `serving`: a stand-in for TensorFlow Serving, and requests to it.
"""

from pathlib import Path

TESTS = Path(__file__).parents[1]
REPOSITORY = TESTS.parent
SAVED = TESTS / "saved"  # Files that released versions wrote.

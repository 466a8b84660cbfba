from pathlib import Path

import kformer

translator = kformer.load("translator.keras")
print(translator.export("served/de-en"))
translator.export("de-en.tflite", format="litert")
Path("expected.txt").write_text(translator.translate("ein Hund"))

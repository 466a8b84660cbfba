import kformer  # isort: skip
import keras  # After kformer.

first, *others = [
    keras.saving.load_model(name) for name in ("copy.keras", "other.keras", "translator.keras")
]
for other in others:
    assert other.translate(["ein Hund"]) == first.translate(["ein Hund"])
assert kformer.load("copy.keras").translate(["ein Hund"]) == first.translate(["ein Hund"])

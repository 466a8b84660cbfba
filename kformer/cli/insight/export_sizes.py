"""How large a model's exports would be, without making them.

Weights have the size of their precision. What else a file holds was measured: of translators of 1
to 4 layers, of classifiers and language models of 1 and 4 layers, with 400 to 8,000 ids.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The command line imports this module, also for --help.
    from kformer.tasks.parts import Part

# Of a weight in a table of vectors, and of another.
_BYTES = {
    "float32": (4, 4),
    "float16": (2, 2),
    "int8": (1, 1),
    "int4": (1, 0.5),
    "int4-all": (0.5, 0.5),
}
# Of a `.tflite` file, in bytes: for any model, for each layer of a stack, for each id.
_BESIDE_WEIGHTS = {
    "Translator": (420_000, 50_000, 35),
    "TextClassifier": (300_000, 60_000, 35),
    "LanguageModel": (0, 170_000, 130),
}
_BESIDE_WEIGHTS_SAVED = {  # The same, of a SavedModel.
    "Translator": (1_400_000, 300_000, 55),
    "TextClassifier": (640_000, 300_000, 55),
    "LanguageModel": (1_400_000, 300_000, 55),
}


def export_sizes(kind: str, stacks: Iterable, parts: "Iterable[Part]") -> Iterator[tuple[str, str]]:
    """Yields the forms in which a model can be exported, and their sizes in words.

    Args:
        kind: Name of the model's class; others than those above are not exported.
        stacks: The stacks of layers of its network.
        parts: The parts of its network.
    """
    if kind not in _BESIDE_WEIGHTS:
        return
    stacks, parts = [*stacks], [*parts]
    parameters = sum(part.parameters for part in parts)
    in_tables = sum(part.parameters for part in parts if part.name.endswith("embedding"))
    ids = in_tables // stacks[0].d_model
    layers = sum(stack.num_layers for stack in stacks)

    def beside(of_any, of_layer, of_id):
        return of_any + of_layer * layers + of_id * ids

    sizes = []
    for precision, (of_table, of_other) in _BYTES.items():
        weights = of_table * in_tables + of_other * (parameters - in_tables)
        sizes.append(f"{precision} {(weights + beside(*_BESIDE_WEIGHTS[kind])) / 1e6:.1f}")
    yield ".tflite", f"{', '.join(sizes)} MB"
    yield "SavedModel", f"{(4 * parameters + beside(*_BESIDE_WEIGHTS_SAVED[kind])) / 1e6:.1f} MB"

"""Settings and weights in a toolkit's checkpoint, one file of `torch.save`.

Nothing in the file is run. Objects of the toolkit, such as its meters, are read as `Record`s.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

from kformer.imports.torch_file import Record, read_tensors

_STANDARD = ("argparse",)


def read_checkpoint(path: Path, toolkit: str, packages: Collection[str] = ()) -> dict:
    """Returns the content of the file: a dict by name."""
    if not path.exists():
        raise FileNotFoundError(f"There is no such file. Received: {str(path)!r}.")
    content = read_tensors(path, (*_STANDARD, *packages))
    if not isinstance(content, dict) or not isinstance(content.get("model"), dict):
        raise ValueError(
            f"A checkpoint of {toolkit} must hold `model`, the weights by name. "
            f"Received: {str(path)!r}, which does not."
        )
    return content


def settings_in(value: Any) -> dict:
    """Returns settings by name: a dict, or the attributes of a `Record`; {} for other values."""
    return vars(value) if isinstance(value, Record) else value if isinstance(value, dict) else {}


class ToolkitSettings:
    """The settings of a checkpoint, with checks that a `kformer.Transformer` can compute them.

    Args:
        values: dict by name.
        toolkit, path: For messages.
    """

    def __init__(self, values: dict, toolkit: str, path: Path):
        self.values = values
        self._toolkit, self._path = toolkit, str(path)

    def refuse(self, rule: str, *names: str) -> NoReturn:
        """Raises a ValueError that shows the values of `names`."""
        received = ", ".join(f"{name}={self.values.get(name)!r:.99}" for name in names)
        raise ValueError(f"{rule} Received: {received} in {self._path!r}.")

    def refuse_features(self, features: dict[str, str]):
        """Raises a ValueError if a setting turns on a feature that a `Transformer` lacks."""
        for name, words in features.items():
            if self.values.get(name):
                self.refuse(f"Models of {self._toolkit} with {words} cannot be imported.", name)

    def number(self, name: str) -> int:
        """Returns a number of at least 1."""
        value = self.values.get(name)
        if type(value) is not int or value < 1:
            self.refuse("A checkpoint's settings must be whole, with its sizes as numbers.", name)
        return value

    def common(self, *names: str):
        """Returns the common value of settings that must be equal."""
        values = [self.values.get(name) for name in names]
        if any(value != values[0] for value in values):
            self.refuse(f"{' and '.join(names)} must be equal.", *names)
        return values[0]

    def choice(self, name: str, among: dict, default: Any = None):
        """Returns the value in `among` whose key is the value of a setting."""
        value = self.values.get(name, default)
        if value not in among:
            self.refuse(f"`{name}` must be one of {', '.join(among)}.", name)
        return among[value]

"""Arguments that layers of other libraries take: ours refuse them and say what to type instead."""

from typing import Any


class ExplainsArguments:
    """A layer that refuses arguments of layers of the same name; a mixin for `keras.layers.Layer`.

    Python itself would only say that an argument is missing, or take a number for another one.
    """

    def __new__(cls, *args: Any, **kwargs: Any):
        rule = cls._explain(args, kwargs)
        if rule is not None:
            by_name = (f"{name}={value!r:.50}" for name, value in kwargs.items())
            received = ", ".join([*(f"{value!r:.50}" for value in args), *by_name])
            raise TypeError(f"{rule} Received: {cls.__name__}({received}).")
        return super().__new__(cls, *args, **kwargs)

    @classmethod
    def _explain(cls, args: tuple, kwargs: dict) -> str | None:
        """Returns the rule that arguments break, a sentence; None if they break none."""
        raise NotImplementedError

"""Values that a client returns: about texts, and about the server."""

import dataclasses
from typing import NamedTuple

from kformer.inference.results import Generation, Translation

NO_SIGNATURE = "__saved_model_"  # Prefix of listed names that are not signatures.


# Names of version 0.2.
ServedTranslation = Translation
ServedGeneration = Generation


class ServedClass(NamedTuple):
    """The label of a text, and the probabilities of all labels.

    Attributes:
        label: The most probable label.
        probabilities: {label: probability}, in the order of the classifier.
        flags: "source cut": the text was too long and was cut. "source not UTF-8".

    Examples:
        >>> from kformer.serving import ServedClass
        >>> answer = ServedClass("spam", {"ham": 0.1, "spam": 0.9})
        >>> answer.probabilities[answer.label]
        0.9
    """

    label: str
    probabilities: dict[str, float]
    flags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class ServedScore:
    """The score of a given translation, computed like `kformer.Translator.score`.

    Attributes:
        log_probability: Natural logarithm of the translation's probability, with its end.
        length: Number of tokens with the end.
        flags: "source cut", "target cut": a text was too long and was cut.
        quality: Estimate of its chrF, from 0 to 1; None if the model has none.

    Examples:
        >>> from kformer.serving import ServedScore
        >>> score = ServedScore(log_probability=-1.5, length=3)
        >>> score.mean
        -0.5
    """

    log_probability: float
    length: int
    flags: tuple[str, ...] = ()
    quality: float | None = None

    @property
    def mean(self) -> float:
        """The mean log-probability of a token."""
        return self.log_probability / self.length


@dataclasses.dataclass(frozen=True)
class Tokenized:
    """The ids of a text, as the model reads them.

    Attributes:
        ids: Ids of its pieces, the end id last.
        flags: "source cut": the text was too long and was cut.

    Examples:
        >>> from kformer.serving import Tokenized
        >>> tokenized = Tokenized((17, 4, 2))
        >>> len(tokenized.ids)
        3
    """

    ids: tuple[int, ...]
    flags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class VersionStatus:
    """The state of a version of a model.

    Attributes:
        version: Its number.
        state: "START", "LOADING", "AVAILABLE", "UNLOADING" or "END".
        error: Its error message, usually "".

    Examples:
        >>> from kformer.serving import VersionStatus
        >>> status = VersionStatus(1, "AVAILABLE")
        >>> status.state == "AVAILABLE" and not status.error
        True
    """

    version: int
    state: str
    error: str = ""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output of a signature.

    Attributes:
        dtype: Name in TensorFlow's protocol, such as "DT_STRING".
        shape: -1 stands for any size.

    Examples:
        >>> from kformer.serving import Tensor
        >>> tensor = Tensor("DT_STRING", (-1,))
        >>> tensor.shape
        (-1,)
    """

    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Signature:
    """A function of a served model.

    Attributes:
        inputs, outputs: `Tensor`s by name.

    Examples:
        >>> from kformer.serving import Signature, Tensor
        >>> texts = Tensor("DT_STRING", (-1,))
        >>> signature = Signature({"text": texts}, {"translation": texts})
        >>> [*signature.outputs]
        ['translation']
    """

    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]

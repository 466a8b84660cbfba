"""What a server tells: of texts, and of itself."""

import dataclasses

NO_SIGNATURE = "__saved_model_"  # So begin the names of what is listed, but cannot be asked.


@dataclasses.dataclass(frozen=True)
class ServedTranslation:
    """One translation of a sentence; as `kformer.Translation`, without what a server leaves out.

    Attributes:
        text: The translation.
        score: What the search sorts by; see `kformer.Greedy` and `kformer.Beam`.
        flags: What is wrong with it, nothing most of the time; see `kformer.Translation`.
    """

    text: str
    score: float
    flags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class ServedScore:
    """How likely the model finds a given translation; see `kformer.Translator.score`.

    Attributes:
        log_probability: Natural logarithm of its probability, its end's included.
        length: Number of its tokens, the end included.
        flags: "source cut", "target cut": a text was too long, only its beginning counts.
    """

    log_probability: float
    length: int
    flags: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """The log-probability of a token, on average."""
        return self.log_probability / self.length


@dataclasses.dataclass(frozen=True)
class Tokenized:
    """What the model reads of a text.

    Attributes:
        ids: Of its pieces, the end id last.
        flags: "source cut": the text was too long, only its beginning is read.
    """

    ids: tuple[int, ...]
    flags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class VersionStatus:
    """How a version of a model is.

    Attributes:
        version: Its number.
        state: "START", "LOADING", "AVAILABLE", "UNLOADING" or "END".
        error: What went wrong, "" most of the time.
    """

    version: int
    state: str
    error: str = ""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or an output of a signature.

    Attributes:
        dtype: As TensorFlow's protocol names it: "DT_STRING".
        shape: -1 where any size will do.
    """

    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Signature:
    """What can be asked of a model under one name.

    Attributes:
        inputs, outputs: `Tensor`s by name.
    """

    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]

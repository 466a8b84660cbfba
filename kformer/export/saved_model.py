"""The SavedModel: strings in, strings out, tokenizer and decode loop in the graph.

TensorFlow Serving loads it with nothing but the ops that it has built in.
"""

import warnings
from pathlib import Path

import tensorflow as tf
import tensorflow_text  # noqa: F401  Registers the tokenizer's ops, for loading.

from kformer.export.signatures import Signatures
from kformer.files import replacing
from kformer.translator import batches_by_length


def export_saved_model(
    translator,
    folder,
    beam_size: int = 1,
    length_penalty: float = 0.6,
    check=None,
    xla: bool = False,
):
    """Writes the next version of a model that a server mounts.

    Its signature `serving_default` takes `text`, string (B,), and gives `translation`, string
    (B,); `score`, float32 (B,), see `kformer.Greedy` and `kformer.Beam`; and `truncated`, bool
    (B,), True where the text had more than `translator.max_source_length` ids and only its
    beginning was translated.

    Args:
        translator: `kformer.Translator`.
        folder: The folder of all versions; this one becomes `folder/1`, or the next free number.
        beam_size, length_penalty: See `kformer.Translator.translate`.
        check: Called with the path of the SavedModel before it gets its name; what it raises
            keeps a server from ever seeing it.
        xla: Whether the decode loop is to be compiled: for a server that was started with
            `--xla_cpu_compilation_enabled`; any other will refuse requests. See
            `kformer.export.compiled`: each new shape takes seconds, once.

    Returns:
        `Path` of the version written.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(
            f"A SavedModel is a folder. Received: {str(folder)!r}, which is a file."
        )
    path = folder / str(max(_versions(folder), default=0) + 1)
    module = _Serving(translator, beam_size, length_penalty, xla)
    with replacing(path) as temporary:
        tf.saved_model.save(module, str(temporary), dict(module.functions))
        if check:
            check(temporary)
    return path


class _Serving(tf.Module):
    """What is saved: tokenizers and variables, but no Keras object.

    With a Keras model in it, the folder would load in Python, and fail in a server.
    """

    def __init__(self, translator, beam_size, length_penalty, xla):
        super().__init__()
        transformer = translator.transformer.copy()
        self.weights = [variable.value for variable in transformer.variables]
        self.tokenizers = [translator.tokenizer.in_graph, translator.target_tokenizer.in_graph]
        signatures = Signatures(translator, transformer, beam_size, length_penalty, xla)
        self.functions = signatures.functions()


class ServedTranslator:
    """Runs an exported SavedModel in Python, through its signature.

    Args:
        path: The folder of a version, or that of all versions: the newest is taken.

    Raises:
        ValueError: The folder holds no such model.
    """

    def __init__(self, path):
        path = newest_version(path)
        try:
            self._model = tf.saved_model.load(str(path))
        except (OSError, ValueError, tf.errors.OpError) as error:
            raise ValueError(
                f"The folder must hold a whole SavedModel. Received: path={str(path)!r} "
                f"({type(error).__name__})."
            ) from error
        signature = self._model.signatures.get("serving_default")
        if signature is None or not {"translation", "truncated"} <= {*signature.structured_outputs}:
            raise ValueError(
                "The SavedModel must be a kformer export, with a signature from `text` to "
                f"`translation`. Received: path={str(path)!r}."
            )
        self._signature = signature

    def translate(self, texts, batch_size: int = 32, progress=None) -> list[str]:
        """As `kformer.Translator.translate`; the search was chosen by the export."""
        if isinstance(texts, str):
            raise TypeError(f"`texts` must be a list of strings. Received: texts={texts!r}.")
        translations = [""] * len(texts)
        for batch in batches_by_length([len(text) for text in texts], batch_size):
            result = self._signature(text=tf.constant([texts[i] for i in batch], tf.string))
            answers = result["translation"].numpy(), result["truncated"].numpy()
            for i, translation, cut in zip(batch, *answers, strict=True):
                translations[i] = translation.decode("utf-8")
                if cut:
                    warnings.warn(
                        f"Sentence {i + 1} is over the model's limit of ids: only its beginning "
                        "was translated.",
                        stacklevel=2,
                    )
            if progress:
                progress(len(batch))
        return translations


def newest_version(path) -> Path:
    """Returns the SavedModel folder at `path`: itself, or its subfolder of the highest number.

    Raises:
        ValueError: There is none.
    """
    path = Path(path)
    if (path / "saved_model.pb").is_file():
        return path
    versions = _versions(path)
    if not versions:
        raise ValueError(
            "A SavedModel folder holds saved_model.pb, or numbered versions. "
            f"Received: path={str(path)!r}."
        )
    return path / str(max(versions))


def _versions(folder):
    if not folder.is_dir():
        return []
    return [int(child.name) for child in folder.iterdir() if child.name.isdecimal()]

"""The versions of a model in a folder, for `serving_stand_in.py`: loaded, run, unloaded."""

import threading
import time
from contextlib import contextmanager
from pathlib import Path

import tensorflow as tf
from tensorflow.errors import InvalidArgumentError, NotFoundError

from support.serving.batching import batched


class Version:
    """A version of the model, loaded as a server loads it.

    Args:
        path: Its folder.
        batching: Arguments of `batched`, or none for requests that run alone.
    """

    def __init__(self, path, batching):
        # Small models are fastest with a core for an operation, as the README has it of a server.
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1)
        self.users, self.session = 0, tf.compat.v1.Session(graph=tf.Graph(), config=config)
        with self.session.graph.as_default():
            loaded = tf.compat.v1.saved_model.load(self.session, ["serve"], str(path))
        self.signatures, self.runs = dict(loaded.signature_def), {}
        for name, signature in self.signatures.items():
            run = self._runner({k: one.name for k, one in signature.outputs.items()}, signature)
            self.runs[name] = batched(run, **batching) if batching else run

    def _runner(self, outputs, signature):
        def run(inputs):
            feeds = {signature.inputs[name].name: value for name, value in inputs.items()}
            return self.session.run(outputs, feeds)

        return run

    def types(self, name):
        """What the inputs of a signature must be, by name."""
        if name not in self.signatures:
            message = f'Serving signature name: "{name}" not found in signature def'
            raise InvalidArgumentError(None, None, message)
        return {k: tf.as_dtype(one.dtype) for k, one in self.signatures[name].inputs.items()}

    def predict(self, name, inputs):
        """Returns the outputs of a signature, as arrays by name."""
        wanted, shapes = self.types(name), {value.shape for value in inputs.values()}
        given = {k: tf.as_dtype(value.dtype) for k, value in inputs.items()}
        if given != wanted or len(shapes) != 1 or len(*shapes) != 1:
            message = f"Expects lists, all as long, {wanted}, but got {given} of shapes {shapes}"
            raise InvalidArgumentError(None, None, message)
        return self.runs[name](inputs)


class Versions:
    """The versions in a folder.

    Args:
        folder: Where the server looks for them.
        model: Name of the model.
        labels: Versions by label.
        versions: How many are served at a time, the newest ones.
        batching: See `Version`.
    """

    def __init__(self, folder, model="translator", labels=None, versions=1, batching=None):
        self.folder, self.model, self.labels = Path(folder), model, labels or {}
        self.keep, self.batching, self.lock = versions, batching, threading.Lock()
        self.loaded, self.states = {}, {}  # By number; (state, error) of those that ended, too.

    def look(self):
        """Loads what is new; then unloads what is old, when its last request has ended."""
        found = sorted(int(path.name) for path in self.folder.iterdir() if path.name.isdecimal())
        newest = found[-self.keep :]
        for number in [n for n in newest if n not in self.states]:
            self.states[number] = ("LOADING", "")
            try:
                self.loaded[number] = Version(self.folder / str(number), self.batching)
                self.states[number] = ("AVAILABLE", "")
            except Exception as error:
                self.states[number] = ("END", str(error))
        for number in [n for n in self.loaded if n not in newest and n < max(self.loaded)]:
            with self.lock:
                old = self.loaded.pop(number)
            self.states[number] = ("UNLOADING", "")
            while old.users:
                time.sleep(0.01)
            old.session.close()
            self.states[number] = ("END", "")

    @contextmanager
    def using(self, spec):
        """The version that a `ModelSpec` means, which stays loaded meanwhile."""
        with self.lock:
            if spec.version_label and spec.version_label not in self.labels:
                message = f"Unrecognized servable version label: {spec.version_label}"
                raise InvalidArgumentError(None, None, message)
            number, wanted = max(self.loaded, default=0), f"Latest({spec.name})"
            if spec.version_label or spec.HasField("version"):
                number = self.labels.get(spec.version_label, spec.version.value)
                wanted = f"Specific({spec.name}, {number})"
            version = self.loaded.get(number)
            if version is None or spec.name != self.model:
                raise NotFoundError(None, None, f"Servable not found for request: {wanted}")
            version.users += 1
        try:
            yield version
        finally:
            with self.lock:
                version.users -= 1
            spec.version.value = number

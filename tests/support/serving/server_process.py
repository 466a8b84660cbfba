"""Starts the stand-in for TensorFlow Serving in a process of its own."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from kformer.serving import Client

BATCHING = {"max_batch_size": 64, "batch_timeout_micros": 2000}
PADDED = {**BATCHING, "allowed_batch_sizes": [1, 8, 32, 64]}


def batching_of(folder):
    """The batching that an export set for its server, as arguments of `batched`."""
    text = re.sub("#.*", "", (Path(folder) / "batching.config").read_text())
    values = {name: int(value) for name, value in re.findall(r"(\w+) \{ value: (\d+) \}", text)}
    sizes = re.findall(r"allowed_batch_sizes: (\d+)", text)
    return {**values, "allowed_batch_sizes": [int(size) for size in sizes]}


class StandIn(NamedTuple):
    """A running stand-in."""

    rest: str  # URLs.
    grpc: str
    process: subprocess.Popen

    def url(self, protocol):
        return getattr(self, protocol)

    def client(self, protocol="rest", **options):
        return Client(self.url(protocol), options.pop("model", "translator"), **options)

    @property
    def memory(self):
        """Bytes of its own that its process uses: without files, and what the allocator keeps."""
        self.process.send_signal(signal.SIGUSR1)
        time.sleep(0.3)  # Its main thread looks about every 0.1 seconds.
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"RssAnon:\s*(\d+) kB", status)[1])


@contextlib.contextmanager
def stand_in(folder, variables=None, **options):
    """Yields a `StandIn` for the versions in `folder`.

    Args:
        variables: Of its environment, beside those of this process.
        **options: Those of `Versions`.
    """
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    environment |= variables or {}
    process = subprocess.Popen(
        [sys.executable, "-m", "support.serving.stand_in", folder, json.dumps(options)],
        stdin=subprocess.PIPE,  # It ends when this does.
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        ports = json.loads(process.stdout.readline())
        yield StandIn(
            f"http://127.0.0.1:{ports['rest']}", f"grpc://127.0.0.1:{ports['grpc']}", process
        )
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)


def wait_until(true, seconds=60):
    """Waits until `true()` is."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "It took too long."
        time.sleep(0.02)


def write_scripted(folder, version, sign):
    """Writes a model that only puts `sign` before each text, as the next version of a folder."""
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def translate(text):
        said = tf.strings.join([sign, text])
        return {
            "translation": said,
            "score": -tf.cast(tf.strings.length(said), tf.float32),
            "truncated": tf.strings.length(text) > 1000,
        }

    module = tf.Module()
    module.translate = translate
    temporary = Path(folder) / f"{version}.new"
    tf.saved_model.save(module, str(temporary), {"serving_default": translate})
    temporary.rename(Path(folder) / str(version))

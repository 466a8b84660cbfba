"""Exports of translators as models of Beam's RunInference."""

import contextlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler

import kformer
from kformer.export.loading import saved_form
from kformer.export.saved_model.serving_files import newest_version, read_report
from kformer.kinds import TRANSLATOR
from kformer.pocket.metadata import check_kind, read_metadata
from kformer.scale.addresses import local_copy
from kformer.scale.runner import errors_of_users

FLAGS = "kformer"  # Namespace of the counters.
_BATCH = 2000  # Texts at once, at most.


class TranslatorHandler(ModelHandler[str, str, "_Loaded"]):
    """Translates batches of texts with an export.

    Counts translations with a problem, by the names of `kformer.Translation.flags`.

    Args:
        model: Path or address of the export.
    """

    def __init__(self, model: str):
        self._model = model

    def load_model(self):
        # A warning's number counts within a batch, which means nothing here: counters replace it.
        warnings.filterwarnings("ignore", r"Sentence \d+ ", UserWarning)
        with errors_of_users():
            return _Loaded(self._model)

    def run_inference(
        self, batch: Sequence[str], model: Any, inference_args: Any = None
    ) -> list[str]:
        with errors_of_users():
            best = [translations[0] for translations in model.translator.translations(batch)]
        for translation in best:
            for flag in translation.flags:
                Metrics.counter(FLAGS, flag).inc()
        return [translation.text for translation in best]

    def batch_elements_kwargs(self):
        return {"max_batch_size": _BATCH}

    def get_metrics_namespace(self):
        return "kformer_translate"


class _Loaded:
    """An export on this machine, which any number of threads may use."""

    def __init__(self, model: Any):
        self._copies = contextlib.ExitStack()  # A copy is deleted with this object.
        path = self._copies.enter_context(local_copy(model))
        check_is_export(path)
        self.translator = kformer.load(path)

    def __del__(self):
        self._copies.close()


def check_is_export(path: str | Path):
    """Checks that a saved form on this machine can translate on a runner."""
    form = saved_form(path)
    if form == "tflite":
        check_kind(path, read_metadata(Path(path)), TRANSLATOR)
        return
    if form == "ctranslate2":
        return
    report = read_report(newest_version(path)) if form == "saved_model" else {"kind": form}
    kind = report.get("kind", TRANSLATOR.name)
    if kind != TRANSLATOR.name:
        raise ValueError(
            "A .tflite file, a SavedModel or a folder of CTranslate2 translates on a runner: "
            f"`kformer export` writes them. Received: {str(path)!r}, a "
            f"{kind.replace('_', ' ')} file."
        )

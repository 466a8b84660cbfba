"""Translates texts on a runner of Beam: a transform for any pipeline, and a whole text file."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import MetricsFilter
from apache_beam.ml.inference.base import MaybeKeyedModelHandler, RunInference

from kformer.files import replacing
from kformer.scale.addresses import as_address, check_readable, is_local, opened, published
from kformer.scale.line_blocks import ReadLines
from kformer.scale.runner import pipeline_options, run
from kformer.scale.worker_models import FLAGS, TranslatorHandler, check_is_export

_LINES = 20_000  # Lines in a part of the output.
_REPORT = "report.json"  # Numbers of lines by part.


class Translate(beam.PTransform):
    """Translates texts with an export, by Beam's RunInference.

    The input is a PCollection of strings, the output a PCollection of translations; or (key,
    string) and (key, translation). A text that is too long is cut. Counters of the namespace
    "kformer" count translations with a problem, by the names of `kformer.Translation.flags`.

    Args:
        model: Path or address of a `.tflite` file, a SavedModel or a folder of CTranslate2, which
            all workers can read.

    Raises:
        FileNotFoundError: There is no such file or folder.
        ValueError: It is none of these.
    """

    def __init__(self, model: str | os.PathLike):
        super().__init__()
        self._model = as_address(model)
        if is_local(self._model):
            check_is_export(self._model)

    def expand(self, texts: Any):
        return texts | RunInference(MaybeKeyedModelHandler(TranslatorHandler(self._model)))


def translate_text(
    model: str | os.PathLike,
    input: str | os.PathLike,
    output: str | os.PathLike,
    *,
    runner: str = "DirectRunner",
    beam_options: Sequence[str] = (),
) -> dict[str, int]:
    """Translates a text file line by line on a runner of Beam; the output has the same order.

    Paths must mean the same files on all workers; they may be addresses of Beam's file systems,
    such as gs://bucket/file.

    Args:
        model: As for `Translate`.
        input: A UTF-8 text file. Plain text is read by all workers, a compressed file by one.
        output: The file to write, which appears whole or not at all.
        runner, beam_options: As for `prepare_shards`.

    Returns:
        Numbers of translations with a problem, by the names of `kformer.Translation.flags`.

    Raises:
        FileNotFoundError, ValueError: A file is missing or malformed, or Beam has no such option.
        RuntimeError: The pipeline failed for another reason.
    """
    pipeline_settings = pipeline_options(runner, beam_options)
    input, output = as_address(input), as_address(output)
    check_readable(input)
    translate = Translate(model)
    with _places(output) as (folder, whole):
        result = run(lambda pipeline: _build(pipeline, input, translate, folder), pipeline_settings)
        with opened(f"{folder}/{_REPORT}") as content:
            parts = json.load(content)
        with FileSystems.create(whole, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            for number in sorted(parts):
                with opened(f"{folder}/{number:07}") as content:
                    shutil.copyfileobj(content, file)
    counters = result.metrics().query(MetricsFilter().with_namespace(FLAGS))["counters"]
    return {counter.key.metric.name: counter.result for counter in counters}


def _build(pipeline, input, translate, folder):
    parts = (
        pipeline
        | "Read" >> ReadLines(input)
        | "Translate" >> translate
        | "Divide" >> beam.Map(lambda line: (line[0] // _LINES, line))
        | "Collect" >> beam.GroupByKey()
        | "Write" >> beam.Map(_write, folder)
    )
    _ = (
        pipeline
        | "Once" >> beam.Create([f"{folder}/{_REPORT}"])
        | "WriteReport" >> beam.Map(_write_report, beam.pvalue.AsList(parts))
    )


def _write(part, folder):
    """Writes the lines of a part in order; returns its number."""
    number, lines = part
    text = "".join(f"{' '.join(line.splitlines())}\n" for _, line in sorted(lines))
    _publish(text, f"{folder}/{number:07}")
    return number


def _write_report(address, parts):
    _publish(json.dumps(parts), address)


def _publish(text, address):
    with tempfile.TemporaryDirectory(prefix="kformer-") as folder:
        path = Path(folder, "text")
        path.write_text(text, "utf-8", newline="\n")
        published(path, address)


@contextlib.contextmanager
def _places(output: str) -> Iterator[tuple[str, str]]:
    """Yields a folder for the parts, which is deleted afterwards, and a path for the whole."""
    if is_local(output):
        if Path(output).exists() and not Path(output).is_file():
            raise ValueError(f"On a runner the output must be a file. Received: {output!r}.")
        with (
            replacing(Path(output).absolute()) as whole,
            tempfile.TemporaryDirectory(prefix=f"{whole.name}-", dir=whole.parent) as folder,
        ):
            yield folder, str(whole)
        return
    folder = f"{output}.parts"
    try:
        yield folder, output
    finally:
        [match] = FileSystems.match([f"{folder}/*"])
        FileSystems.delete([entry.path for entry in match.metadata_list])

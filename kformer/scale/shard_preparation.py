"""`kformer.scale.prepare_shards`: `kformer.training.prepare_shards` as a Beam pipeline."""

import contextlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from kformer.files import replacing
from kformer.scale.addresses import (
    as_address,
    check_readable,
    is_local,
    local_copy,
    opened,
    published,
)
from kformer.scale.deduplication import Different, FindNearDuplicates, ReadPairs, in_order, parts_of
from kformer.scale.runner import pipeline_options, run
from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.training.preparation import near_duplicates, spill
from kformer.training.preparation import shards_writer as prepare
from kformer.training.preparation.cleaning import Cleaning, none_left
from kformer.training.preparation.preparation_options import PreparationOptions
from kformer.training.preparation.raw_pairs import PairFiles, Paths, pair_files
from kformer.training.preparation.spill import Tokenizing
from kformer.training.preparation.vocabulary_sample import vocabularies_of
from kformer.training.run.run_vocabularies import Vocabularies, read_vocabularies
from kformer.training.shards.manifest import MANIFEST, Manifest
from kformer.training.shards.shard_file import joined

_REPORT = "report.json"  # The workers' counts and shards, for the manifest.


def prepare_shards(
    output: str | Path,
    source: Paths | None = None,
    target: Paths | None = None,
    *,
    pairs: Paths | None = None,
    columns: Sequence[str] | None = None,
    tokenizer: str | Path | None = None,
    target_tokenizer: str | Path | None = None,
    options: PreparationOptions | None = None,
    runner: str = "DirectRunner",
    beam_options: Sequence[str] = (),
) -> Manifest:
    """Prepares shards as `kformer.training.prepare_shards`, on a runner of Beam.

    The same text gives the same shards. Paths must mean the same files on all workers; they may be
    addresses of Beam's file systems, such as gs://bucket/file.

    Args:
        output: The folder to write, which must not exist. A local one appears whole or not at all;
            elsewhere the manifest is written last, and without it nothing is read.
        source, target, pairs, columns, target_tokenizer, options: As for
            `kformer.training.prepare_shards`. Plain `source` and `target` are read in blocks by all
            workers, every other file by one.
        tokenizer: File of a SentencePiece model. Without it, this process learns a model from a
            sample of the text, which must then be on this machine.
        runner: Name of the runner: "DirectRunner", "DataflowRunner", "FlinkRunner", "SparkRunner".
        beam_options: Options of Beam as on the command line, such as "--direct_num_workers=2".

    Returns:
        The `Manifest` of the folder, with the numbers of dropped pairs by reason.

    Raises:
        FileNotFoundError, ValueError: A file is missing or malformed, no pair is left, or Beam has
            no such option.
        IsADirectoryError: The folder exists.
        RuntimeError: The pipeline failed for another reason.
    """
    options = options or PreparationOptions()
    files = checked_files(source, target, pairs, columns)
    pipeline_settings = pipeline_options(runner, beam_options)
    with _folder(as_address(output)) as (folder, address):
        vocabularies = _vocabularies(files, options, tokenizer, target_tokenizer)
        run(
            lambda pipeline: _build(pipeline, files, options, vocabularies, address),
            pipeline_settings,
        )
        with opened(f"{address}/{_REPORT}") as content:
            report = json.load(content)
        FileSystems.delete([f"{address}/{_REPORT}"])
        counts = Counter(report["counts"])
        shards = sorted(report["shards"], key=lambda shard: shard["name"])
        if not shards:
            raise none_left(counts, files)
        prepare.count_rest(counts, report["near"], shards)
        return prepare.write_manifest(folder, vocabularies, shards, counts, options, files)


def checked_files(source: Any, target: Any, pairs: Any, columns: Any) -> PairFiles:
    """Checks that files exist, here or elsewhere, and belong together, like `pair_files`."""
    source, target, pairs = (
        None if files is None else [*map(as_address, as_list(files))]
        for files in (source, target, pairs)
    )
    return pair_files(source, target, pairs, columns, check=check_readable)


@contextlib.contextmanager
def _folder(address: str) -> Iterator[tuple[Path, str]]:
    """Yields a local folder and the address where workers write; merges both at the end."""
    if is_local(address):
        with replacing(address) as folder:
            folder.mkdir()
            yield folder, str(folder.absolute())
        return
    [match] = FileSystems.match([f"{address.rstrip('/')}/*"], limits=[1])
    if match.metadata_list:
        raise IsADirectoryError(f"An existing folder is not replaced. Received: {address!r}.")
    with tempfile.TemporaryDirectory(prefix="kformer-") as folder:
        yield Path(folder), address.rstrip("/")
        # The manifest last: without it, it is no folder of shards.
        for path in sorted(Path(folder).iterdir(), key=lambda path: path.name == MANIFEST):
            published(path, f"{address.rstrip('/')}/{path.name}")


def _vocabularies(files, options, tokenizer, target_tokenizer) -> Vocabularies:
    if tokenizer is None:
        elsewhere = [
            path for side in files.paths_by_name().values() for path in side if not is_local(path)
        ]
        if elsewhere:
            raise ValueError(
                "A vocabulary is learned from text on this machine; for other text, set "
                f"`tokenizer`. Received: tokenizer=None, {elsewhere[0]!r}."
            )
        return vocabularies_of(files, options, Cleaning(options), None, target_tokenizer)
    with contextlib.ExitStack() as copies:
        tokenizer, target_tokenizer = (
            path and copies.enter_context(local_copy(as_address(path)))
            for path in (tokenizer, target_tokenizer)
        )
        return read_vocabularies(tokenizer, target_tokenizer)


def _build(pipeline, files, options, vocabularies, address):
    """Adds the transforms from files to shards, and to a file of counts and shards."""
    to_ids = _ToIds(vocabularies.models, options)
    dtype = Tokenizing(to_ids.tokenizers(), options).dtype
    outputs = (
        pipeline
        | "Read" >> ReadPairs(files)
        | "ToIds" >> beam.ParDo(to_ids).with_outputs("bands", "counts", main="pairs")
    )
    dropped = outputs.bands | FindNearDuplicates() if options.drop_near_duplicates else None
    pairs, sizes, near = outputs.pairs | Different(dtype, dropped)
    shards = (
        pairs
        | "ToShards" >> beam.Map(_with_shard, beam.pvalue.AsDict(sizes), prepare.PAIRS_PER_SHARD)
        | "ByShard" >> beam.GroupByKey()
        | "Write" >> beam.Map(_write, dtype, address)
    )
    _ = (
        pipeline
        | "Once" >> beam.Create([f"{address}/{_REPORT}"])
        | "WriteReport"
        >> beam.Map(
            _write_report,
            beam.pvalue.AsSingleton(outputs.counts | "AddCounts" >> beam.CombineGlobally(_added)),
            beam.pvalue.AsSingleton(near | "AddNear" >> beam.CombineGlobally(sum)),
            beam.pvalue.AsList(shards),
        )
    )


class _ToIds(beam.DoFn):
    """Function of `Pairs` to (group, pairs as bytes); tagged outputs: "bands" (bytes), "counts"."""

    def __init__(self, models: Any, options: Any):
        self._models, self._options = models, options

    def tokenizers(self):
        tokenizers = [Tokenizer(model) for model in self._models]
        return tokenizers[0], tokenizers[-1]

    def setup(self):
        self._clean = Cleaning(self._options)
        self._tokenize = Tokenizing(self.tokenizers(), self._options)

    def process(self, pairs: Any):
        rows, hashes, counts, _ = prepare.ids_of(pairs, self._clean, self._tokenize)
        yield beam.pvalue.TaggedOutput("counts", dict(counts))
        yield from spill.packed(rows, hashes)
        if self._options.drop_near_duplicates:
            for packed in near_duplicates.packed(near_duplicates.bands(rows), hashes):
                yield beam.pvalue.TaggedOutput("bands", packed)


def _added(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(total)


def _with_shard(pairs, sizes, least):
    return parts_of(sizes, least)[pairs.group], pairs


def _write(shard, dtype, address):
    """Writes a shard; returns its entry of the manifest."""
    number, pairs = shard
    with tempfile.TemporaryDirectory(prefix="kformer-") as folder:
        entry = prepare.write_part(Path(folder), f"{number:05}", joined(in_order(pairs, dtype)))
        for path in Path(folder).iterdir():
            published(path, f"{address}/{path.name}")
    return entry


def _write_report(address, counts, near, shards):
    with tempfile.TemporaryDirectory(prefix="kformer-") as folder:
        path = Path(folder, _REPORT)
        path.write_text(json.dumps({"counts": counts, "near": near, "shards": shards}), "utf-8")
        published(path, address)

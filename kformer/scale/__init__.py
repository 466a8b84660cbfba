"""The work on large text as Apache Beam pipelines: on a laptop, on Dataflow, Flink or Spark.

- `shard_preparation`, `deduplication`: `prepare_shards`, from text files to shards.
- `file_translation`, `worker_models`: `Translate`, a transform for any pipeline, and
  `translate_text`, a whole file.
- `line_blocks`, `addresses`: parts of text files, on any file system of Beam.
- `runner`: options of Beam, and errors in one line.

Beam, the extra `beam`, is imported when one of the public names is first used.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

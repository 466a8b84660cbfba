"""A training run of a translator on shards, before TensorFlow loads."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from kformer.text.text_files import as_list
from kformer.training.data.pairs import ParallelText
from kformer.training.data.parallel_files import check_parallel
from kformer.training.run.vocabularies import read_vocabularies
from kformer.training.shards.manifest import MANIFEST
from kformer.training.shards.shard_set import check_shards_are_left, shard_sets, vocabularies_of
from kformer.training.translation.task import TranslationOptions, TranslationTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardsOptions(TranslationOptions):
    """The optional arguments of `kformer.training.train` on shards.

    Attributes:
        shards: A path or a list of paths of folders that `prepare_shards` wrote.
        skip_damaged: Whether to leave out damaged shards.
        left_out: Paths of those that are, once they are known: a run resumes without the same ones.
    """

    shards: str | Path | Sequence[str | Path]
    skip_damaged: bool = False
    left_out: Sequence[str] = ()

    @property
    def vocabulary(self):
        return as_list(self.shards)[0]

    def recorded(self):
        return {**super().recorded(), "left_out": [*self.left_out]}


class ShardsTask(TranslationTask):
    """A translator, trained on shards instead of text.

    Args:
        validation: `ParallelText`.
        options: `ShardsOptions`.
    """

    options: ShardsOptions

    def __init__(self, validation: ParallelText, options: ShardsOptions):
        self.sets = shard_sets(options.shards, options.skip_damaged)
        left_out = [name for one in self.sets for name in one.left_out()]
        options = dataclasses.replace(options, left_out=left_out)
        manifests = [str(one.folder / MANIFEST) for one in self.sets]
        super().__init__(ParallelText([], [], {"shards": manifests}), validation, options)

    @property
    def corpora(self):
        return len(self.sets)

    def read_examples(self):
        validation = self.validation
        if validation.source or validation.target:
            check_parallel(validation.source, validation.target)
        return {"pairs": sum(one.manifest.pairs for one in self.sets)}

    def given_vocabularies(self):
        """Returns the vocabularies of the shards.

        Raises:
            ValueError: The user wants those of a file, and they are others.
        """
        found, options = vocabularies_of(self.sets[0]), self.options
        given = options.tokenizer or options.warm_start
        if given is not None:
            wanted = read_vocabularies(given, options.target_tokenizer)
            if any(found.models[i] != wanted.models[i] for i in (0, -1)):
                raise ValueError(
                    "Shards hold the ids of their own tokenizer: prepare them with --tokenizer. "
                    f"Received: {str(given)!r}, which is not that of {str(self.sets[0].folder)!r}."
                )
        return found

    def check_some_are_left(self, recipe, vocabularies):
        check_shards_are_left(self.sets, recipe.max_length, recipe.max_length_ratio or None)
        super().check_some_are_left(recipe, vocabularies)

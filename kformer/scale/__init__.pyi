from .file_translation import Translate, translate_text
from .shard_preparation import prepare_shards

__all__ = ["Translate", "prepare_shards", "translate_text"]

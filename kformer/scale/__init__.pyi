from .preparation import prepare_shards
from .translation import Translate, translate_text

__all__ = ["Translate", "prepare_shards", "translate_text"]

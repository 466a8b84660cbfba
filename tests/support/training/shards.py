"""Shards whose manifest was changed."""

import hashlib
import json


def signed(content: dict) -> dict:
    """Returns the content of a manifest with its checksum, as a forger would write it."""
    content = {name: value for name, value in content.items() if name != "sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"sha256": hashlib.sha256(text.encode()).hexdigest()}

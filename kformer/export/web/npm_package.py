"""The `package.json` of an exported page, with which bundlers and Node.js import its module.

A page's module is `kformer.js` in browsers and `kformer-node.js` in Node.js.
"""

import re
from collections.abc import Mapping
from typing import Any

MANIFEST, TYPES, NODE = "package.json", "kformer.d.ts", "kformer-node.js"
UNUSED_BY_PAGE = (MANIFEST, TYPES, NODE)
_VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")  # As npm reads it.


def npm_package(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of `package.json` for a translator.

    The name has the languages, such as "kformer-de-en". The version is the model's if npm can read
    it, else "1.0.0".
    """
    codes = [metadata.get(f"{side}_language") for side in ("source", "target")]
    known = [code.lower() for code in codes if code and re.fullmatch(r"[\w-]+", code, re.ASCII)]
    version = str(metadata.get("version", ""))
    description = f"Translator {' to '.join(known)}".strip()
    if licence := metadata.get("licence"):
        description += f"; licence of the model: {licence}"
    return {
        "name": "-".join(["kformer", *known] if known else ["kformer", "translator"]),
        "version": version if _VERSION.fullmatch(version) else "1.0.0",
        "description": description,
        "license": "Apache-2.0",
        "type": "module",
        "engines": {"node": ">=20.16"},
        "types": f"./{TYPES}",
        "exports": {
            ".": {"types": f"./{TYPES}", "node": f"./{NODE}", "default": "./kformer.js"},
            "./translator.tflite": "./translator.tflite",
            "./package.json": "./package.json",
        },
        "sideEffects": ["./kformer.js", "./worker.js", "./worker-compat.js"],
        "files": [
            "*.js",
            TYPES,
            "fields.css",
            "litert",
            "translator.tflite",
            "LICENSE",
            "!page.js",
            "!offline.js",
            "!opened-as-file.js",
            "!service-worker.js",
        ],
    }

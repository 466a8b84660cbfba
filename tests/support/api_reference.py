"""Builds the API reference from the docstrings: `make docs`."""

import importlib.util
import sys
from pathlib import Path

import pdoc
import pdoc.docstrings
import pdoc.render

MODULES = [
    "kformer",
    "kformer.training",
    "kformer.export",
    "kformer.pocket",
    "kformer.serving",
    "kformer.phrasebook",
]
if importlib.util.find_spec("apache_beam"):  # The extra `beam`, whose classes its own extend.
    MODULES.append("kformer.scale")


def build(folder):
    """Writes HTML pages of all public names into `folder`; `index.html` is the first."""
    pdoc.docstrings.GOOGLE_LIST_SECTIONS += ["Call arguments", "Warns"]
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*MODULES, output_directory=Path(folder))


if __name__ == "__main__":
    build(sys.argv[1])

"""`make docs` builds the site without a warning; it has the guides and all that is public."""

import os
import re
import zlib
from pathlib import Path

import pytest

import kformer
import kformer.export
import kformer.scale
import kformer.server
import kformer.training
from support.docs_site import GROUPS
from support.guides import GUIDES
from support.processes import run_python


def names_in(inventory):
    """The names that a site's `objects.inv` leads to, read as Sphinx documents the format."""
    content = inventory.read_bytes().split(b"\n", 4)[4]
    return {line.split(" ")[0] for line in zlib.decompress(content).decode().splitlines()}


def test_each_guide_is_in_one_group_of_the_side_bar():
    entries = [
        entry.removesuffix(">").split(" <")[-1] for group in GROUPS.values() for entry in group
    ]
    notebooks = {entry for entry in entries if entry.endswith(".ipynb")}
    assert sorted(entries) == sorted({"self", *GUIDES} - {"README.md"} | notebooks)


@pytest.mark.prove
def test_the_site_has_every_guide_and_every_public_name(tmp_path):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    result = run_python("-m", "support.docs_site", tmp_path / "docs", env=environment)
    assert result.returncode == 0, result.stderr  # Also if Sphinx warns of anything.
    for guide in GUIDES:
        page = "index.html" if guide == "README.md" else str(Path(guide).with_suffix(".html"))
        assert (tmp_path / "docs" / page).exists(), page
    named = names_in(tmp_path / "docs" / "objects.inv")
    for package in (kformer, kformer.training, kformer.export, kformer.server, kformer.scale):
        assert {f"{package.__name__}.{name}" for name in package.__all__} <= named
    pages = (tmp_path / "docs").rglob("*.html")
    titles = [re.search("<title>(.*?)</title>", page.read_text("utf-8"))[1] for page in pages]
    assert len(titles) == len({*titles})
    for page in (tmp_path / "docs" / "reference").glob("*.html"):
        # A colon in the first line of a property's docstring would end the name of a type.
        assert ">Type<" not in page.read_text("utf-8"), page.name
    page = (tmp_path / "docs" / "reference" / "training.html").read_text("utf-8")
    names = re.findall(r'title="kformer\.training\.(\w+)"', page)
    assert names[0] == "train" and {*names} >= {*kformer.training.__all__}

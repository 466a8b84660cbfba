"""The rooms of the house and the arrows between them, as the design has them."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kformer

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kformer"
ALONE = [
    "arguments",
    "masks",
    "gather",
    "dense",
    "lazy",
    "vocabulary",
    "pocket_manifest",
    "pocket_process",
    "pocket_text",
    "pocket_workers",
    "runaway",
    "scores",
]  # Import nothing of ours but the checks of arguments.
ARGUMENTS = {"kformer.arguments"}  # Python's own library alone, so that all may use them.
TOP_LEVEL = {
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "export",
    "kformer",
    "pyproject.toml",
    "tests",
    "training",
}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(name):
    """The modules of ours that `name` imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            # `from kformer.training import loss` may mean the module or a name in it.
            found |= {
                whole if whole in MODULES else node.module
                for whole in (f"{node.module}.{alias.name}" for alias in node.names)
            }
    return {module for module in found if room(module) is not None}


def room(module):
    """kformer.training.loss -> training; kformer.masks -> model; what is not ours -> None."""
    first, second, *_ = [*module.split("."), None, None]
    if first != "kformer":
        return None
    second = {"__main__": "cli"}.get(second, second)
    return second if second in ("training", "export", "cli") else "model"


def in_room(name):
    return [module for module in MODULES if room(module) == name]


def rooms_reached_from(name):
    return {room(imported) for module in in_room(name) for imported in imports_of(module)}


def test_the_model_knows_neither_learning_nor_shipping():
    assert rooms_reached_from("model") == {"model"}


@pytest.mark.parametrize("name", ["training", "export"])
def test_learning_and_shipping_know_the_model_and_not_each_other(name):
    assert rooms_reached_from(name) <= {"model", name}
    assert "model" in rooms_reached_from(name)


@pytest.mark.parametrize("name", ALONE)
def test_these_import_nothing_of_ours(name):
    assert imports_of(f"kformer.{name}") <= ARGUMENTS
    assert imports_of("kformer.arguments") == set()


def test_the_pocket_translator_imports_nothing_but_its_own_parts():
    own = {"kformer.pocket_manifest", "kformer.pocket_text", "kformer.pocket_workers"}
    assert imports_of("kformer.pocket") == own | ARGUMENTS | {"kformer.runaway"}


def test_search_knows_no_model():
    searches = {name for name in MODULES if f"{name}.".startswith("kformer.search.")}
    reached = {imported for name in searches for imported in imports_of(name)}
    assert len(searches) > 4
    assert reached <= searches | ARGUMENTS | {"kformer.gather"}


def test_the_client_knows_nothing_of_models():
    client = {name for name in MODULES if f"{name}.".startswith("kformer.serving.")}
    reached = {imported for name in client for imported in imports_of(name)}
    assert len(client) > 4
    assert reached <= client | ARGUMENTS


def test_no_module_imports_itself_in_a_circle():
    order = TopologicalSorter({module: imports_of(module) for module in MODULES}).static_order()
    assert set(MODULES) <= set(order)


def test_the_reader_of_imports_sees_some():
    """The tests above must not pass because nothing was read."""
    parts = ("attention", "dense", "feed_forward", "masks", "residual", "stack")
    assert imports_of("kformer.encoder") == {f"kformer.{part}" for part in parts}
    assert len(MODULES) > 15


def test_importing_kformer_costs_neither_tensorflow_nor_keras():
    code = "import sys, kformer; print({'tensorflow', 'keras', 'numpy'} & {*sys.modules})"
    assert run(code).stdout.strip() == "set()"


@pytest.mark.parametrize("name", [*kformer.__all__, "__version__"])
def test_every_public_name_can_be_used(name):
    assert getattr(kformer, name) is not None
    assert name in dir(kformer)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Transfomer'"):
        kformer.Transfomer  # noqa: B018


@pytest.mark.parametrize("name", ["training", "export"])
def test_the_links_are_for_reading_and_not_for_importing(name):
    link = ROOT / name
    assert link.is_symlink() and link.readlink() == Path("kformer", name)
    result = run(f"import {name}")
    assert result.returncode == 1
    assert "ImportError" in result.stderr and f"kformer.{name}" in result.stderr


def test_the_top_level_holds_what_the_design_lists():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("Not a git checkout.")
    top_level = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top_level if not name.startswith(".")} <= TOP_LEVEL
    assert {"kformer", "tests", "training", "export"} <= top_level


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

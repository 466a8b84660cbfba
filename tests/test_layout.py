"""The rooms of the house and the arrows between them."""

import ast
import collections
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kformer
import kformer.export
import kformer.pocket
import kformer.scale
import kformer.serving
import kformer.training
from support import REPOSITORY, TESTS
from support.processes import run_python

PACKAGE = REPOSITORY / "kformer"
TOP_LEVEL = {
    *("CHANGELOG.md", "LICENSE", "Makefile", "README.md", "pyproject.toml"),
    *("export", "kformer", "tests", "training"),
}
# Each room, and the rooms that it may import; every one may import those of `EVERYWHERE`.
EVERYWHERE = {"archives", "arguments", "files", "json_files"}
ARROWS = {
    "archives": set(),
    "arguments": set(),
    "backend": set(),
    "cli": {
        "cli.terminal",
        "decoding",
        "export",
        "export.saved_model",
        "export.tflite",
        "export.web",
        "phrasebook",
        "plot",
        "pocket",
        "scale",
        "serving",
        "tasks",
        "text",
        "threads",
        "training",
        "training.data",
        "training.kinds",
        "training.parallel",
        "training.preparation",
        "training.recipes",
        "training.resumption",
        "training.run",
        "training.shards",
    },
    "cli.terminal": {"serving", "text"},
    "decoding": {"backend", "decoding.search", "model", "threads"},
    "decoding.search": {"backend"},
    "export": {"decoding", "export.saved_model", "pocket", "tasks", "text.paragraphs"},
    "export.byte_codec": set(),
    "export.saved_model": {
        "backend",
        "decoding",
        "decoding.search",
        "serving",
        "tasks",
        "text",
        "text.paragraphs",
        "threads",
    },
    "export.tflite": {
        "decoding",
        "decoding.search",
        "export.byte_codec",
        "export.tflite_graph",
        "model",
        "pocket",
        "tasks",
    },
    "export.tflite_graph": set(),
    "export.verify": {"decoding", "export.byte_codec", "model", "tasks", "text"},
    "export.web": {"pocket", "text.paragraphs"},
    "files": set(),
    "imports": {"model", "tasks", "text"},
    "json_files": set(),
    "model": {"backend"},
    "phrasebook": set(),
    "plot": set(),
    "pocket": {"text", "text.paragraphs", "threads"},
    "scale": {
        "export",
        "export.saved_model",
        "pocket",
        "text",
        "training.preparation",
        "training.run",
        "training.shards",
    },
    "serving": {"text", "text.paragraphs"},
    "tasks": {"backend", "decoding", "model", "text", "text.paragraphs", "threads"},
    "text": set(),
    "text.paragraphs": set(),
    "threads": set(),
    "training.callbacks": {"backend", "tasks", "text"},
    "training.data": {"backend", "text"},
    "training.kinds": {
        "model",
        "tasks",
        "text",
        "training.callbacks",
        "training.data",
        "training.objective",
        "training.recipes",
        "training.run",
        "training.shards",
    },
    "training.objective": {"backend", "model"},
    "training.parallel": {
        "backend",
        "training.callbacks",
        "training.recipes",
        "training.resumption",
    },
    "training.preparation": {
        "text",
        "training.data",
        "training.recipes",
        "training.run",
        "training.shards",
    },
    "training.recipes": {"backend"},
    "training.resumption": {"backend", "training.callbacks"},
    "training.run": {
        "backend",
        "model",
        "plot",
        "tasks",
        "text",
        "training.callbacks",
        "training.objective",
        "training.parallel",
        "training.recipes",
        "training.resumption",
    },
    "training.shards": {"text", "training.data", "training.run"},
}
LAZY = {"", "training", "export"}  # They name what is public, and import nothing at once.


def module_name(path):
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
DOORS = [name for name, path in MODULES.items() if path.stem == "__init__"]


def imports_of(name):
    """The modules of ours that `name` imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            # `from kformer.training.run import folder` may mean the module or a name in it.
            found |= {
                whole if whole in MODULES else node.module
                for whole in (f"{node.module}.{alias.name}" for alias in node.names)
            }
    return {module for module in found if module.split(".")[0] == "kformer"}


def room(module):
    """kformer.training.run.run_folder -> training.run; kformer.files -> files; kformer -> ''."""
    name = module.removeprefix("kformer").removeprefix(".")
    if name == "__main__":
        return "cli"
    is_folder = (PACKAGE / name.replace(".", "/")).is_dir()
    folder, _, _ = name.rpartition(".")
    return name if is_folder or not folder else folder


def arrows_from(name):
    imported = {found for module in MODULES if room(module) == name for found in imports_of(module)}
    return {room(module) for module in imported} - {name} - LAZY


def test_every_room_is_named_here():
    assert {room(module) for module in MODULES} - LAZY == ARROWS.keys() - LAZY


@pytest.mark.parametrize("name", ARROWS)
def test_a_room_imports_the_rooms_that_it_may(name):
    assert arrows_from(name) <= ARROWS[name] | EVERYWHERE


@pytest.mark.parametrize("name", ARROWS)
def test_no_arrow_is_allowed_that_nobody_needs(name):
    assert ARROWS[name] - LAZY <= arrows_from(name)


def test_no_module_imports_itself_in_a_circle():
    order = TopologicalSorter({module: imports_of(module) for module in MODULES}).static_order()
    assert set(MODULES) <= set(order)


def test_the_reader_of_imports_sees_some():
    """The tests above must not pass because nothing was read."""
    assert imports_of("kformer.model.encoder") == {"kformer.model.masks", "kformer.model.stack"}
    assert room("kformer.training.run.run_folder") == room("kformer.training.run") == "training.run"
    assert room("kformer.files") == "files"


def test_the_top_of_the_package_can_be_seen_at_a_glance():
    assert len([path for path in PACKAGE.iterdir() if path.name != "__pycache__"]) <= 24


@pytest.mark.parametrize("name", DOORS)
def test_a_folder_is_described_with_each_of_its_modules(name):
    documentation = ast.get_docstring(ast.parse(MODULES[name].read_text()))
    assert documentation.splitlines()[0].endswith((".", ":"))
    folder = MODULES[name].parent
    parts = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    parts |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert {part for part in parts if f"`{part}`" not in documentation} == set()


def test_a_file_has_a_name_of_its_own_and_at_most_400_lines():
    stems = collections.Counter(
        path.stem
        for name, path in MODULES.items()
        if path.stem != "__init__" and "phrasebook" not in name  # It becomes one file of data.
    )
    assert [stem for stem, count in stems.items() if count > 1] == []
    assert [
        name for name, path in MODULES.items() if len(path.read_text().splitlines()) > 400
    ] == []


def test_a_folder_holds_at_least_five_files_and_is_at_most_two_deep():
    folders = {path.parent for path in MODULES.values()}
    assert [folder for folder in folders if len(folder.relative_to(PACKAGE).parts) > 2] == []
    sizes = {
        folder: sum(path.name != "__pycache__" for path in folder.iterdir()) for folder in folders
    }
    assert [folder for folder, size in sizes.items() if size < 6] == []  # With `__init__.py`.


@pytest.mark.parametrize(
    "package", ["kformer", "kformer.serving", "kformer.pocket", "kformer.scale"]
)
def test_importing_it_costs_neither_tensorflow_nor_keras(package):
    code = f"import sys, {package}; print({{'tensorflow', 'keras'}} & {{*sys.modules}})"
    assert run_python("-c", code).stdout.strip() == "set()"


@pytest.mark.parametrize("package", [kformer, kformer.training, kformer.export])
def test_every_public_name_can_be_used(package):
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    assert len(package.__all__) > 4


@pytest.mark.parametrize(
    "package",
    [kformer, kformer.training, kformer.export, kformer.pocket, kformer.serving, kformer.scale],
)
def test_the_types_of_every_public_name_are_checked(package):
    script = (TESTS / "typed_script.py").read_text()
    used = {node.attr for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Attribute)}
    assert used >= {*package.__all__}


def test_the_version_is_that_of_the_installed_package():
    assert kformer.__version__.count(".") >= 2


@pytest.mark.parametrize(
    "name", ["Translator", "training.translation_dataset", "export.export_tflite"]
)
def test_what_needs_tensorflow_says_so_where_it_is_not_installed(name):
    missing = "import sys; sys.modules['tensorflow'] = sys.modules['tensorflow_text'] = None; "
    result = run_python("-c", f"{missing}import kformer.export, kformer.training; kformer.{name}")
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: `kformer.{name}` needs TensorFlow")
    assert last.endswith("Received: no module named 'tensorflow'.")


def test_what_needs_beam_says_so_where_it_is_not_installed():
    code = "import sys; sys.modules['apache_beam'] = None; import kformer.scale; "
    result = run_python("-c", f"{code}kformer.scale.Translate")
    assert result.stderr.splitlines()[-1] == (
        "ImportError: `kformer.scale.Translate` needs Apache Beam: pip install 'kformer[beam]'. "
        "Received: no module named 'apache_beam'."
    )


def test_nothing_but_scale_imports_beam():
    for name, path in MODULES.items():
        if not name.startswith("kformer.scale"):
            assert "import apache_beam" not in path.read_text(), name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Transfomer"):
        kformer.Transfomer  # noqa: B018


@pytest.mark.parametrize("name", ["training", "export"])
def test_the_links_are_for_reading_and_not_for_importing(name):
    link = REPOSITORY / name
    assert link.is_symlink() and link.readlink() == Path("kformer", name)
    result = run_python("-c", f"import {name}")
    assert result.returncode == 1
    assert "ImportError" in result.stderr and f"kformer.{name}" in result.stderr


def test_the_top_level_holds_what_the_design_lists():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("Not a git checkout.")
    top_level = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top_level if not name.startswith(".")} <= TOP_LEVEL
    assert {"kformer", "tests", "training", "export"} <= top_level

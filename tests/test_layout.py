"""The rooms of the house and the arrows between them."""

import ast
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
    "files": set(),
    "json_files": set(),
    "plot": set(),
    "text": set(),
    "text.paragraphs": set(),
    "model": {"backend"},
    "model.networks": {"backend", "model"},
    "decoding": {"backend", "decoding.search", "decoding.shortlist", "model"},
    "decoding.search": {"backend"},
    "decoding.shortlist": {"backend"},
    "tasks": {
        *("backend", "decoding", "decoding.shortlist", "model", "model.networks", "text"),
        "text.paragraphs",
    },
    "tasks.pretrained": {"model", "model.networks", "tasks", "text"},
    "tasks.pretrained.checkpoints": {"model.networks", "tasks", "tasks.pretrained"},
    "pocket": {"decoding", "text", "text.paragraphs"},
    "scale": {
        *("", "export.saved_model", "pocket", "text", "training.run"),
        *("training.shards", "training.shards.preparation"),
    },
    "serving": {"text", "text.paragraphs"},
    "phrasebook": {"phrasebook.words", "phrasebook.phrases"},
    "phrasebook.words": set(),
    "phrasebook.phrases": {"phrasebook", "phrasebook.words"},
    "training.data": {"backend", "text"},
    "training.objective": {"backend", "model"},
    "training.recipes": {"backend"},
    "training.callbacks": {"backend", "tasks", "text"},
    "training.parallel": {
        *("backend", "training.callbacks", "training.recipes", "training.resumption"),
    },
    "training.resumption": {"backend", "training.callbacks", "training.objective"},
    "training.run": {
        *("backend", "model.networks", "plot", "tasks", "text"),
        *("training.callbacks", "training.objective", "training.parallel"),
        *("training.recipes", "training.resumption"),
    },
    "training.classification": {
        *("", "model.networks", "tasks", "text", "training.data", "training.objective"),
        *("training.recipes", "training.run"),
    },
    "training.language": {
        *("", "model.networks", "tasks", "text", "training.data", "training.objective"),
        *("training.callbacks", "training.recipes", "training.run"),
    },
    "training.distillation": {
        *("decoding", "tasks", "text", "training.data", "training.run", "training.shards"),
        "training.shards.preparation",
    },
    "training.shortlist": {"decoding", "decoding.shortlist", "tasks", "text", "training.data"},
    "training.shards": {"text", "training.data", "training.run"},
    "training.shards.preparation": {
        *("text", "training.data", "training.recipes", "training.run", "training.shards"),
    },
    "training.translation": {
        *("model.networks", "tasks", "text"),
        *("training.callbacks", "training.data", "training.objective", "training.recipes"),
        *("training.run", "training.shards"),
    },
    "export": {"export.saved_model", "pocket", "tasks", "text.paragraphs"},
    "export.ctranslate2": {"decoding", "tasks"},
    "export.saved_model": {
        "backend",
        *("decoding", "export.saved_model.graph", "serving", "tasks", "text", "text.paragraphs"),
    },
    "export.saved_model.graph": {
        *("decoding", "decoding.search", "decoding.shortlist", "tasks", "text"),
    },
    "export.tflite": {
        *("decoding", "decoding.search", "decoding.shortlist", "export.tflite.byte_codec"),
        *("export.tflite.constants", "model", "model.networks", "pocket", "tasks"),
    },
    "export.tflite.byte_codec": set(),
    "export.tflite.constants": set(),
    "export.web": {"pocket", "text.paragraphs"},
    "export.verify": {
        *("decoding", "decoding.shortlist", "export.tflite.byte_codec", "model.networks"),
        *("tasks", "text"),
    },
    "cli": {
        *("cli.exporting", "cli.resumption", "cli.terminal", "cli.training"),
        *("decoding", "plot", "scale", "serving", "tasks", "text"),
        *("export.saved_model", "export.tflite", "export.web"),
        *("training.classification", "training.data", "training.language"),
        "training.recipes",
    },
    "cli.exporting": {
        *("", "cli", "cli.terminal", "decoding", "export", "export.ctranslate2"),
        *("export.saved_model", "export.tflite", "text", "training.classification"),
        *("training.data", "training.run"),
    },
    "cli.training": {
        *("cli", "cli.resumption", "cli.terminal", "training.distillation"),
        *("training.parallel", "training.recipes", "training.resumption", "training.run"),
        *("decoding", "training.shards", "training.shards.preparation", "training.shortlist"),
        *("tasks", "text", "training.translation"),
    },
    "cli.demos": {
        *(
            "",
            "cli",
            "cli.exporting",
            "cli.insight",
            "cli.terminal",
            "phrasebook",
            "plot",
            "text",
            "training",
        ),
        *("training.recipes", "training.run"),
    },
    "cli.insight": {
        *("", "cli", "cli.terminal", "decoding", "export", "export.saved_model", "export.tflite"),
        *("plot", "pocket", "tasks", "text"),
        *("training", "training.data", "training.recipes", "training.run"),
    },
    "cli.resumption": {"", "cli.terminal", "export.saved_model"},
    "cli.terminal": {"serving", "text"},
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
    """kformer.training.run.folder -> training.run; kformer.files -> files; kformer -> ''."""
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
    assert room("kformer.training.run.folder") == room("kformer.training.run") == "training.run"
    assert room("kformer.files") == "files"


def test_the_top_of_the_package_can_be_seen_at_a_glance():
    assert len([path for path in PACKAGE.iterdir() if path.name != "__pycache__"]) <= 21


@pytest.mark.parametrize("name", DOORS)
def test_a_room_says_what_it_is_for(name):
    documentation = ast.get_docstring(ast.parse(MODULES[name].read_text()))
    assert documentation.splitlines()[0].endswith((".", ":"))


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

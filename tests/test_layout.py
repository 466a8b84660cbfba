"""The folders and files of the package, and its public names. `make lint` checks the imports."""

import ast
import collections
import re
import subprocess
from pathlib import Path

import pytest

import kformer
import kformer.export
import kformer.pocket
import kformer.scale
import kformer.server
import kformer.serving
import kformer.training
from support import REPOSITORY, TESTS
from support.processes import run_python

PACKAGE = REPOSITORY / "kformer"
TOP_LEVEL = {
    "CHANGELOG.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "README.md",
    "pyproject.toml",
    "export",
    "kformer",
    "tests",
    "training",
}


def module_name(path):
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
DOORS = [name for name, path in MODULES.items() if path.stem == "__init__"]


def test_the_top_of_the_package_can_be_seen_at_a_glance():
    assert len([path for path in PACKAGE.iterdir() if path.name != "__pycache__"]) <= 31


@pytest.mark.parametrize("name", DOORS)
def test_a_folder_is_described_with_each_of_its_modules(name):
    documentation = ast.get_docstring(ast.parse(MODULES[name].read_text()))
    assert documentation.splitlines()[0].endswith((".", ":"))
    folder = MODULES[name].parent
    parts = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    parts |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert {part for part in parts if f"`{part}`" not in documentation} == set()


def test_a_file_has_a_name_of_its_own():
    stems = collections.Counter(path.stem for path in MODULES.values() if path.stem != "__init__")
    assert [stem for stem, count in stems.items() if count > 1] == []


def test_a_folder_holds_at_least_five_files_and_is_at_most_two_deep():
    folders = {path.parent for path in MODULES.values()}
    assert [folder for folder in folders if len(folder.relative_to(PACKAGE).parts) > 2] == []
    sizes = {
        folder: sum(path.name != "__pycache__" for path in folder.iterdir()) for folder in folders
    }
    assert [folder for folder, size in sizes.items() if size < 6] == []  # With `__init__.py`.


def test_each_file_of_tests_is_in_one_part_of_the_proofs():
    makefile = (REPOSITORY / "Makefile").read_text("utf-8").replace("\\\n", " ")
    parts = dict(re.findall(r"^PROOFS_(\w+) := (.+)$", makefile, re.MULTILINE))
    [names] = re.findall(r"^PARTS := (.+)$", makefile, re.MULTILINE)
    assert sorted(names.split()) == sorted([*parts, "jax"])  # JAX runs tests of other parts again.
    patterns = " ".join(parts.values()).split()
    paths = [path for pattern in patterns for path in REPOSITORY.glob(pattern)]
    for file in TESTS.rglob("test_*.py"):
        assert sum(file.is_relative_to(path) for path in paths) == 1, file


@pytest.mark.parametrize(
    "package", ["kformer", "kformer.server", "kformer.serving", "kformer.pocket", "kformer.scale"]
)
def test_importing_it_costs_neither_tensorflow_nor_keras(package):
    code = f"import sys, {package}; print({{'tensorflow', 'keras'}} & {{*sys.modules}})"
    assert run_python("-c", code).stdout.strip() == "set()"


WITHOUT_TENSORFLOW = [
    *(
        name
        for name in MODULES
        if name.startswith(("kformer.cli", "kformer.pocket", "kformer.server"))
    ),
    "kformer.serving.client",
    "kformer.serving.rest",
    "kformer.training.run.history_picture",
    "kformer.training.kinds.translation_task",
    "kformer.training.kinds.language_task",
]


def test_what_checks_arguments_imports_no_tensorflow():
    """Importing it takes 5 s, which neither a refusal nor a phone's file shall wait for."""
    code = "import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None\n"
    code += "".join(f"import {name}\n" for name in WITHOUT_TENSORFLOW if "__main__" not in name)
    assert run_python("-c", code).stderr == ""


@pytest.mark.parametrize("package", [kformer, kformer.training, kformer.export])
def test_every_public_name_can_be_used(package):
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    assert len(package.__all__) > 4


@pytest.mark.parametrize(
    "package",
    [
        kformer,
        kformer.training,
        kformer.export,
        kformer.pocket,
        kformer.server,
        kformer.serving,
        kformer.scale,
    ],
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

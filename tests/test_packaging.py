"""What is handed out: a wheel and an archive of the package alone, which work from anywhere."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from support.processes import printed_by
from support.release import choose_archived

ROOT = Path(__file__).parent.parent
SOURCES = ["pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"]
SOURCES += [".readme", "kformer", "training", "export", "tests"]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
NAME = f"kformer-{VERSION}"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of an archive, and of the wheel built from it."""
    checkout, output = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("dist")
    for name in SOURCES:  # Building leaves traces, which are none of the checkout's business.
        path = ROOT / name
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, checkout / name, follow_symlinks=False)
    choose_archived(checkout)
    result = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", output, checkout],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return output


@pytest.fixture(scope="module")
def wheel(built):
    [path] = built.glob("*.whl")
    return path


def package_files():
    """All that the package consists of, as the checkout has it."""
    found = (ROOT / "kformer").rglob("*")
    return {
        path.relative_to(ROOT).as_posix()
        for path in found
        if path.is_file() and path.suffix != ".pyc"
    }


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    information = {name for name in names if name.startswith(f"{NAME}.dist-info/")}
    assert names - information == package_files()
    assert f"{NAME}.dist-info/licenses/LICENSE" in information
    assert "kformer/training/recipes/tiny.toml" in names


def test_its_name_is_its_version(built):
    names = sorted(path.name for path in built.iterdir())
    assert names == [f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"]


def test_the_wheel_says_what_it_needs_and_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{NAME}.dist-info/METADATA").decode()
        scripts = archive.read(f"{NAME}.dist-info/entry_points.txt").decode()
    assert f"\nVersion: {VERSION}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Dist: tensorflow-text" in metadata
    assert "kformer = kformer.cli:main" in scripts


def test_the_archive_holds_no_link_and_no_second_copy(built):
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        members = archive.getmembers()
    assert not any(member.issym() or member.islnk() for member in members)
    names = [PurePosixPath(member.name) for member in members]
    top_level = {name.parts[1] for name in names if len(name.parts) > 1}
    assert {"kformer", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= top_level
    assert not top_level & {"training", "export"}


def test_the_archive_holds_the_pictures_of_its_front_page_and_no_tests(built):
    """Tests without `tests/support` could not run."""
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        files = {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    pictures = re.findall(r"\]\((\.readme/[^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert pictures and {PurePosixPath(picture) for picture in pictures} <= files
    assert not [file for file in files if file.parts[:1] == ("tests",)]


def test_the_wheel_works_from_an_empty_folder(wheel, tmp_path):
    target, elsewhere = tmp_path / "target", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-deps", "--no-index", "--target", target, wheel], check=True)
    code = (
        "import importlib.util, kformer, kformer.cli, kformer.training.recipes.recipe as recipe\n"
        "print(kformer.__file__, kformer.__version__, *recipe.recipe_names())\n"
        "print(importlib.util.find_spec('training'), importlib.util.find_spec('export'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(target)}
    printed = printed_by("-c", code, cwd=elsewhere, env=environment)
    file, version, *recipes, no_training, no_export = printed.split()
    assert Path(file) == target / "kformer" / "__init__.py"
    assert version == VERSION
    files = (ROOT / "kformer" / "training" / "recipes").glob("*.toml")
    assert recipes == sorted(path.stem for path in files)
    assert (no_training, no_export) == ("None", "None")

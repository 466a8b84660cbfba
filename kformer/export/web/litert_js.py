"""LiteRT.js, copied from an installed npm package into a web page.

A page needs two of the package's builds: the default one, and one for browsers without relaxed
SIMD; LiteRT.js chooses.
"""

import shutil
from importlib import resources
from pathlib import Path
from typing import TypedDict

from kformer.json_files import read_json

PACKAGE = "@litertjs/core"
TESTED = "2.5.3"
INSTALL = f"npm install {PACKAGE}@{TESTED}"
BUILDS = [
    f"litert_wasm{kind}_internal.{ending}" for kind in ("", "_compat") for ending in ("js", "wasm")
]
_LOADER = "@litertjs/wasm-utils"  # The package that the script imports by name.
_CHANGED = "// Changed by kformer export: the script beside this one is imported by its path.\n"


class _Package(TypedDict):
    """The fields of a package.json that are used here."""

    name: str
    version: str


def find_litert_js(folder: str | Path | None = None) -> Path:
    """Returns the folder of the installed npm package.

    Args:
        folder: The package's folder; by default it is searched as Node.js does, in `node_modules`
            of the current folder and of its parents.

    Raises:
        FileNotFoundError: The package is missing or incomplete.
        ValueError: The folder holds another package, or a version with another interface.
    """
    if folder is None:
        here = Path.cwd()
        folder = _installed(PACKAGE, here)
        if folder is None:
            raise FileNotFoundError(
                f"A web page needs LiteRT.js: run `{INSTALL}`, here or in a folder above, or give "
                "its folder with --litert-js. "
                f"Received: no node_modules/{PACKAGE} in {str(here)!r} or above."
            )
    folder = Path(folder).resolve()
    about = folder / "package.json"
    if not about.is_file():
        raise FileNotFoundError(
            f"LiteRT.js must be the folder of the npm package {PACKAGE}; `{INSTALL}` makes it, as "
            f"node_modules/{PACKAGE}. Received: no package.json in {str(folder)!r}."
        )
    name, version = _name_and_version(about)
    if name != PACKAGE or version.split(".")[0] != TESTED.split(".")[0]:
        raise ValueError(
            f"LiteRT.js must be {PACKAGE} of version {TESTED}, or one like it: `{INSTALL}`. "
            f"Received: {name} {version} in {str(folder)!r}."
        )
    _sources(folder)
    return folder


def copy_litert_js(folder: Path, into: Path):
    """Copies script, two builds and licence to the new folder `into`.

    Args:
        folder: From `find_litert_js`.
    """
    into.mkdir()
    sources = _sources(folder)
    for name, path in sources.items():
        if path.suffix == ".wasm" or name in BUILDS:
            shutil.copyfile(path, into / name)
    (into / "wasm-utils.js").write_text(_without_map(sources["wasm-utils.js"]), "utf-8")
    script = _without_map(sources["index.js"])
    by_name = f'"{_LOADER}"'
    if script.count(by_name) != 1:
        raise ValueError(
            f"The script of {PACKAGE} must import {_LOADER} once, as version {TESTED} does: "
            f"`{INSTALL}`. Received: {str(sources['index.js'])!r}."
        )
    changed = _CHANGED + script.replace(by_name, '"./wasm-utils.js"')
    (into / "index.js").write_text(changed, "utf-8")
    shutil.copyfile(folder / "package.json", into / "package.json")
    _copy_licence(folder, into)


def _installed(package, here):
    """Returns the folder of an npm package, searched as Node.js does; or None."""
    for above in (here, *here.parents):
        folder = above / "node_modules" / package
        if folder.is_dir():
            return folder
    return None


def _name_and_version(about):
    content = read_json(about, _Package, rule="An npm package has a name and a version.")
    return content["name"], content["version"]


def _sources(folder):
    """Returns dict name -> path of all files to copy except the licence."""
    paths = {name: folder / "wasm" / name for name in BUILDS}
    paths["index.js"] = folder / "dist" / "index.js"
    loader = _installed(_LOADER, folder)
    paths["wasm-utils.js"] = (loader or folder / "node_modules" / _LOADER) / "dist" / "index.js"
    for path in paths.values():
        if not path.is_file():
            raise FileNotFoundError(
                f"LiteRT.js is incomplete: run `{INSTALL}`. Received: no file {str(path)!r}."
            )
    return paths


def _without_map(path):
    """Returns the text of a script without the line that names its source map."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def _copy_licence(folder, into):
    """Copies the package's licence; if it has no file, the text of the one it names, Apache 2.0."""
    own = [path for path in folder.iterdir() if path.stem.upper() in ("LICENSE", "NOTICE")]
    for path in own:
        shutil.copyfile(path, into / path.name)
    if not own:
        text = (resources.files("kformer.export.web") / "LICENSE").read_text("utf-8")
        (into / "LICENSE").write_text(text, "utf-8")

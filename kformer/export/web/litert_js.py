"""LiteRT.js, copied from an installed npm package into a web page.

A page needs two of the package's builds: the default one, and one for browsers without relaxed
SIMD. Their scripts become modules, which module workers and bundlers can load.
"""

import re
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
_CHANGED = "// Changed by kformer export: {}.\n"
_BY_NAME = f'"{_LOADER}"'
_NODE = re.compile(r"var ENVIRONMENT_IS_NODE = [^\n;]+;")  # Modules lack `require`.
_REQUIRED = re.compile(r'require\("node:\w+"\)')
_ENVIRONMENT = "Environment.create()"
_EXPORTS = "// Export using a UMD style export"


class _Package(TypedDict):
    """The fields of a package.json that are used here."""

    name: str
    version: str


def find_litert_js(folder: str | Path | None = None) -> Path:
    """Returns the folder of the installed npm package.

    Args:
        folder: The package's folder; by default it is searched as Node.js does, in `node_modules`
            of the current folder and of its parents.
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
    """Copies script, two builds and licence to the new folder `into`."""
    into.mkdir()
    for name, path in _sources(folder).items():
        if path.suffix == ".wasm":
            shutil.copyfile(path, into / name)
        else:
            change = _with_library if name == "index.js" else _as_module
            (into / name).write_text(change(path), "utf-8")
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
    for path in paths.values():
        if not path.is_file():
            raise FileNotFoundError(
                f"LiteRT.js is incomplete: run `{INSTALL}`. Received: no file {str(path)!r}."
            )
    return paths


def _with_library(path):
    """Returns the package's script, which imports `litert-library.js` of the page."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    script = "".join(line for line in lines if not line.startswith("//# sourceMappingURL="))
    if script.count(_BY_NAME) != 1 or script.count(_ENVIRONMENT) != 1:
        raise _unknown(path, f"import {_LOADER} and create an environment once")
    change = _CHANGED.format(
        "the loader of its builds is imported by its path, and no GPU is woken"
    )
    script = script.replace(_ENVIRONMENT, "Environment.create({ webGpuDevice: null })")
    return change + script.replace(_BY_NAME, '"../litert-library.js"')


def _as_module(path):
    """Returns the script of a build, which exports what it defined for all scripts of a page."""
    script = path.read_text("utf-8")
    if script.count(_EXPORTS) != 1 or len(_NODE.findall(script)) != 1:
        raise _unknown(path, "define ENVIRONMENT_IS_NODE and its exports once")
    script = _NODE.sub("var ENVIRONMENT_IS_NODE = false;", script[: script.index(_EXPORTS)])
    script = _REQUIRED.sub("null", script)  # Never reached; bundlers would look for it.
    change = _CHANGED.format("this is a module, and loads its code in the same way in Node.js")
    return f"{change}{script}export default ModuleFactory;\n"


def _unknown(path, what):
    return ValueError(
        f"The scripts of {PACKAGE} must {what}, as those of version {TESTED} do: `{INSTALL}`. "
        f"Received: {str(path)!r}."
    )


def _copy_licence(folder, into):
    """Copies the package's licence; if it has no file, the text of the one it names, Apache 2.0."""
    own = [path for path in folder.iterdir() if path.stem.upper() in ("LICENSE", "NOTICE")]
    for path in own:
        shutil.copyfile(path, into / path.name)
    if not own:
        text = (resources.files("kformer.export.web") / "LICENSE").read_text("utf-8")
        (into / "LICENSE").write_text(text, "utf-8")

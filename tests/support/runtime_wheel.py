"""Builds the wheel `kformer-runtime`: the files of kformer with fewer dependencies.

python tests/support/runtime_wheel.py FOLDER
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("README.md", "LICENSE", "kformer")


def build(folder, root=ROOT) -> Path:
    """Builds the wheel in `folder`, without fetching anything; returns its path.

    Args:
        root: The folder of the sources.
    """
    with tempfile.TemporaryDirectory() as checkout:
        checkout = Path(checkout)
        for name in SOURCES:
            if (root / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(root / name, checkout / name, ignore=ignored)
            else:
                shutil.copy(root / name, checkout / name)
        text = project_file((root / "pyproject.toml").read_text("utf-8"))
        (checkout / "pyproject.toml").write_text(text, "utf-8")
        command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir"]
        done = subprocess.run(
            [*command, folder, checkout], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = Path(folder).glob("kformer_runtime-*.whl")
    return wheel


def project_file(text: str) -> str:
    """Returns pyproject.toml for the wheel, made of the project's own."""
    config = tomllib.loads(text)
    project, light = config["project"], config["tool"]["kformer-runtime"]
    ranges = {re.split("[<>=!~; ]", line)[0]: line for line in project["dependencies"]}
    project |= {
        "name": "kformer-runtime",
        "description": light["description"],
        "dependencies": [ranges[name] for name in light["dependencies"]],
        "optional-dependencies": {
            name: project["optional-dependencies"][name] for name in light["extras"]
        },
    }
    tables = {
        "build-system": config["build-system"],
        "project": project,
        "tool.setuptools": config["tool"]["setuptools"],
    }
    return "\n".join(line for name, table in tables.items() for line in _lines(name, table))


def _lines(name, table):
    """Yields the lines of a table in TOML, whose strings and lists are written as in JSON."""
    yield f"[{name}]"
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    for key, value in table.items():
        if key not in tables:
            yield f"{json.dumps(key)} = {json.dumps(value)}"
    for key, inner in tables.items():
        yield from _lines(f"{name}.{json.dumps(key)}", inner)


if __name__ == "__main__":
    print(build(sys.argv[1]))

"""Builds and checks what a release consists of, in a folder.

python tests/support/release.py FOLDER

From the last commit: the archive of the sources, the wheels `kformer` and `kformer-runtime`, for
each wheel a list of the packages that it was tried with (an SBOM in the form of CycloneDX), and
SHA256SUMS. Each wheel is installed into an empty environment, where it must translate. FOLDER gets
all files, or none if a check fails.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # It runs without the project's environment.

from support import runtime_wheel  # noqa: E402

SAVED = ROOT / "tests" / "saved" / "0.1.0"  # Models whose answers are known.
TRIED = {
    "kformer": ("translator.keras", "translator.tflite"),
    "kformer_runtime": ("translator.tflite",),
}
CHECKSUMS = "SHA256SUMS"


def main():
    output = Path(sys.argv[1])
    if changed := _git("status", "--porcelain", "--untracked-files=no"):
        sys.exit(f"A release is built from a commit. Received: changes of {changed.split()[1]}.")
    os.environ["SOURCE_DATE_EPOCH"] = _git(
        "log", "-1", "--format=%ct"
    )  # Archives are reproducible.
    with tempfile.TemporaryDirectory() as folder:
        checkout, built = Path(folder, "checkout"), Path(folder, "dist")
        _show("Building ...")
        unpack(checkout)
        choose_archived(checkout)
        project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
        _link_readme(checkout, project)
        _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", built, checkout)
        runtime_wheel.build(built, checkout)
        archives = sorted(built.iterdir())
        _run(sys.executable, "-m", "twine", "check", "--strict", *archives)
        for name in TRIED:
            [wheel] = built.glob(f"{name}-*.whl")
            _show(f"Trying {wheel.name} in an empty environment ...")
            try_wheel(wheel, name, project["version"], Path(folder, name))
        write_checksums(built)
        output.mkdir(parents=True, exist_ok=True)
        for path in sorted(built.iterdir()):
            temporary = output / f".{path.name}"
            shutil.copyfile(path, temporary)
            temporary.replace(output / path.name)
            _show(f"Written: {output / path.name}")


def unpack(folder: Path):
    """Writes the files of the last commit into a new folder."""
    folder.mkdir()
    archive = folder.with_suffix(".tar")
    _git("archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as members:
        members.extractall(folder, filter="tar")


def choose_archived(checkout: Path):
    """Tells setuptools which other files an archive of the sources holds: no tests, for example."""
    shutil.copyfile(Path(__file__).with_name("sdist_manifest.in"), checkout / "MANIFEST.in")


def _link_readme(checkout, project):
    """Makes the links of the README absolute, if the address of the repository is known."""
    address = project.get("urls", {}).get("Repository")
    if address is None:
        _show("[project.urls] has no Repository: links in the long description stay relative.")
        return
    readme = checkout / "README.md"
    text = with_absolute_links(readme.read_text("utf-8"), address, f"v{project['version']}")
    readme.write_text(text, "utf-8")


def with_absolute_links(text: str, address: str, tag: str) -> str:
    """Returns Markdown whose links to files of the repository are addresses, outside of code.

    Args:
        address: Of the repository.
        tag: Of the version.
    """

    def absolute(match):
        kind = "raw" if match["image"] else "blob"
        url = f"{address.rstrip('/')}/{kind}/{tag}/{match['path']}"
        return f"{match['image']}[{match['words']}]({url})"

    link = r"(?P<image>!?)\[(?P<words>[^\]]*)\]\((?!\w+:|#)(?P<path>[^)]+)\)"
    blocks = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    blocks[::2] = [re.sub(link, absolute, block) for block in blocks[::2]]
    return "".join(blocks)


def try_wheel(wheel: Path, name: str, version: str, folder: Path):
    """Installs a wheel into an empty environment, has it translate, and lists the packages there.

    Args:
        name: Of the wheel, as in `TRIED`.
        version: What it must say that it is.
        folder: Where to make the environment.
    """
    _run(sys.executable, "-m", "venv", folder)
    command = folder / "bin" / "kformer"
    _run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    if _run(command, "--version", folder=folder).split()[-1] != version:
        sys.exit(f"{wheel.name} must have the version {version}.")
    answers = json.loads((SAVED / "said.json").read_text("utf-8"))
    texts = [text for text in answers if text]
    for model in TRIED[name]:
        given = _run(command, "translate", SAVED / model, input="\n".join(texts), folder=folder)
        if given.splitlines() != [answers[text] for text in texts]:
            sys.exit(f"{wheel.name} must translate with {model} as 0.1.0 did. Received: {given!r}.")
    project = folder / "pyproject.toml"
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project.write_text(text if name == "kformer" else runtime_wheel.project_file(text), "utf-8")
    sbom = wheel.with_name(f"{name}-{version}.cdx.json")
    options = ["--pyproject", project, "--mc-type", "library", "--output-reproducible"]
    tool = Path(sys.executable).with_name("cyclonedx-py")
    _run(tool, "environment", *options, "--output-file", sbom, folder / "bin" / "python")


def write_checksums(folder: Path):
    """Writes the SHA-256 of each file in a folder, as `sha256sum --check` reads them."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name != CHECKSUMS
    ]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8")


def _git(*arguments):
    return _run("git", "-C", ROOT, *arguments).strip()


def _run(*command, input=None, folder=None):
    """Returns what a command prints; ends this program if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)],
        input=input,
        cwd=folder,
        env={**environment, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def _show(line):
    print(line, flush=True)


if __name__ == "__main__":
    main()

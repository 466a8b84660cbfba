"""The wheel `kformer-runtime`, for machines without TensorFlow."""

import os
import subprocess
import sys
import zipfile

import pytest

from support import toy
from support.runtime_wheel import build

PLATFORMS = {  # Tags of wheels, the newest last.
    "Linux Arm64": ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64"),
    "macOS Arm64": ("macosx_11_0_arm64", "macosx_12_0_arm64", "macosx_14_0_arm64"),
    "Windows": ("win_amd64",),
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def succeeded(result):
    """Returns whether pip succeeded; skips the test where it reaches no index of packages."""
    if "No matching distribution found for sentencepiece" in result.stderr:
        pytest.skip("No index of packages can be reached.")
    return result.returncode == 0


@pytest.mark.prove
def test_it_is_small_and_needs_no_tensorflow(wheel):
    assert wheel.stat().st_size < 4_000_000  # A third of it is the demo model.
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        metadata = archive.read(name).decode()
    assert "\nName: kformer-runtime\n" in metadata
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert not [line for line in needed if "tensorflow" in line or "keras" in line]
    assert len(needed) < 12


@pytest.mark.prove
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_package_has_a_wheel_for_python_3_14(platform, wheel, tmp_path):
    tags = (word for tag in PLATFORMS[platform] for word in ("--platform", tag))
    options = ["--dry-run", "--python-version", "3.14", "--only-binary", ":all:"]
    target = ["--target", tmp_path / "target", *tags]
    assert succeeded(pip("install", *options, *target, f"{wheel}[serve]"))


@pytest.mark.prove
def test_it_translates_serves_and_explains_in_an_empty_environment(
    wheel, toy_tflite, toy_keras, tmp_path
):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    assert succeeded(pip("--python", python, "install", wheel))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*arguments, **options):
        command = [python, "-m", "kformer", *arguments]
        options |= {"capture_output": True, "text": True, "cwd": tmp_path, "env": environment}
        return subprocess.run(command, check=False, **options)

    translated = run("translate", toy_tflite, input=f"{toy.SOURCES[0]}\n")
    assert translated.stdout == f"{toy.TARGETS[0]}\n"
    assert run("translate", "demo", input="Ein Hund läuft.\n").stdout == "A dog runs.\n"
    application = "from kformer.server import create_app, host; create_app(host(['demo']))"
    options = {"cwd": tmp_path, "env": environment, "check": True}
    subprocess.run([python, "-W", "error", "-c", application], **options)
    assert run("inspect", toy_tflite).returncode == run("serve", "--help").returncode == 0
    refused = run("translate", toy_keras, input="wir\n")
    assert refused.returncode == 2
    assert "needs the package tensorflow: pip install kformer" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1

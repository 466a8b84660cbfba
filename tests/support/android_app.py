"""Compiles and runs an Android project, with stand-ins for Android and LiteRT."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from browser.chromium import NotHere, installed_packages

STAND_INS = Path(__file__).parent / "android"
APP, MAIN = "app/src", "app/src/main"
SOURCES, ASSETS = f"{MAIN}/kotlin", f"{MAIN}/assets"
PACKAGE = f"{SOURCES}/kformer"
_ANDROID = "{http://schemas.android.com/apk/res/android}"


def resources(project):
    """Returns the resources of a project: pairs such as ("string", "app_name")."""
    defined = {
        (kind, path.stem)
        for kind in ("layout", "drawable")
        for path in (project / MAIN / "res").glob(f"{kind}*/*.xml")
    }
    for path in (project / MAIN / "res").glob("values*/*.xml"):
        for element in ElementTree.parse(path).getroot():
            defined.add((element.tag, element.get("name")))
    for path in (project / MAIN / "res/layout").iterdir():
        for element in ElementTree.parse(path).iter():
            if identity := element.get(f"{_ANDROID}id"):
                defined.add(("id", identity.removeprefix("@+id/")))
    return defined


def installed_compiler(folder) -> Path:
    """Installs the Kotlin compiler of npm in `folder`, unless it is; returns its folder.

    Raises:
        NotHere: It cannot be installed, or there is no Java.
    """
    if not shutil.which("java"):
        raise NotHere("Java is not installed: apt-get install default-jdk-headless.")
    if not shutil.which("node"):
        raise NotHere("Node.js is not installed: apt-get install nodejs.")
    return installed_packages(folder, STAND_INS / "package.json") / "kotlin-compiler"


def compile_app(compiler, project, folder) -> Path:
    """Compiles all Kotlin files of a project, without a warning; returns the jar.

    Args:
        compiler: The folder of the compiler.
        project: The folder of the project.
        folder: An empty folder.
    """
    jar, numbers = folder / "app.jar", folder / "R.kt"
    numbers.write_text(_class_of_resources(project), "utf-8")
    sources = [*(project / APP).rglob("*.kt"), *STAND_INS.glob("*.kt"), numbers]
    result = subprocess.run(
        [
            "bash",
            compiler / "bin" / "kotlinc",
            "-Werror",
            *_class_path(compiler),
            "-d",
            jar,
            *sources,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return jar


def _class_of_resources(project):
    """Returns the class `R` of a project, as the tools of Android make it."""
    kinds = {}
    for number, (kind, name) in enumerate(sorted(resources(project))):
        kinds.setdefault(kind, []).append(f"const val {name.replace('.', '_')} = {number}")
    objects = [f"object {kind} {{ {'; '.join(names)} }}" for kind, names in kinds.items()]
    return "\n".join(("package com.example.translator", "object R {", *objects, "}"))


def _class_path(compiler, *more):
    names = ("kotlin-stdlib.jar", "kotlinx-coroutines-core-jvm.jar")
    return [
        "-classpath",
        os.pathsep.join(map(str, (*(compiler / "lib" / name for name in names), *more))),
    ]


class App:
    """The Kotlin package of a project on the Java virtual machine; `Driver.kt` has its requests."""

    def __init__(self, compiler, jar, project):
        runtime = f"{sys.executable} {STAND_INS / 'runtime.py'}"
        segmenter = f"node {STAND_INS / 'segmenter.mjs'}"
        self._process = subprocess.Popen(
            ["java", *_class_path(compiler, jar), "kformer.DriverKt"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "RUNTIME": runtime, "SEGMENTER": segmenter},
        )
        self("rules", file=str(project / ASSETS / "text_rules.json"))

    def __call__(self, what, **arguments):
        """Does one thing, and returns what came of it."""
        self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["answer"]

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=60)

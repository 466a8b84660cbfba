"""What the guides tell a reader to type works; what they name exists.

A guide's blocks of `sh` and `python` run in their order, in a folder with small text files and the
toy translator's three forms. Blocks of another language are shown only.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import typer.main

import kformer
from kformer.cli.commands import app_for
from kformer.phrasebook import LABELS, reviews
from support import REPOSITORY, TESTS, toy
from support.pretrained import marian
from support.processes import printed_by

GUIDES = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text("utf-8")
    for path in (
        REPOSITORY / "README.md",
        *sorted((REPOSITORY / "kformer").glob("*/README.md")),
        TESTS / "README.md",
    )
}
LONG = ("cli", "decoding", "export", "model", "serving", "training")
LONG = [f"kformer/{room}/README.md" for room in LONG]
COMMANDS = typer.main.get_command(app_for([]))
SMALL_RUN = [str(word) for option in toy.RECIPE.items() for word in option]
AS_SMALL = ["--vocab-size", SMALL_RUN[SMALL_RUN.index("--vocab-size") + 1]]
FEWER_IDS = ["--vocab-size", "290"]  # One side of the text alone supports no more.
SMALL_NUMBERS = {
    "8000": "308",
    "num_layers=4": "num_layers=1",
    "d_model=128": "d_model=16",
    "d_ff=256": "d_ff=24",
    "epochs=20": "epochs=1",
    "num_layers=6, d_model=512": "num_layers=2, d_model=64",
    '"characters"': '"characters", epochs=1',
    "9_000": "1_400",
    "20_000": "1_400",
    "15_000": "1_400",
}
MADE_BY_OPTION = ("--output", "--saved-model", "--tflite", "--web")
FROM_ELSEWHERE = {
    "--help",
    "--sdk_container_image",
    "--xla_cpu_compilation_enabled",
}  # Flags that others define.


def blocks(guide):
    """Pairs of language and content: the blocks that are run."""
    return re.findall(r"^```(sh|python)\n(.*?)^```$", GUIDES[guide], re.DOTALL | re.MULTILINE)


def repeated(guide):
    """The commands of the guides before this one."""
    earlier = list(GUIDES)[: list(GUIDES).index(guide)]
    return {line for other in earlier for line in commands(other)}


def lines_of(block):
    return [line for line in block.replace("\\\n", "").splitlines() if line.strip()]


def commands(guide):
    return [line for kind, block in blocks(guide) if kind == "sh" for line in lines_of(block)]


def small(script):
    for number, smaller in SMALL_NUMBERS.items():
        script = script.replace(number, smaller)
    return script


def label_of(word):
    return "B-animal" if word in ("cat", "dog") else "O"


@pytest.fixture
def folder(toy_run, toy_served, toy_tflite, tiny_language_model, tmp_path, monkeypatch):
    """A folder with the files that the guides name, in which the test runs."""
    for part, named in (("train", "train"), ("valid", "val"), ("valid", "test")):
        for language in ("de", "en"):
            lines = toy_run.files[f"{part}.{language}"].read_text("utf-8").splitlines()
            text = "".join(f"{line}\n" for line in lines[:320])
            (tmp_path / f"{named}.{language}").write_text(text, "utf-8")
    for language in ("de", "en"):  # A hundred pairs or more, as a calibration needs.
        shutil.copy(tmp_path / f"train.{language}", tmp_path / f"held-out.{language}")
    for name, part in (("play", "train"), ("valid", "val")):
        sides = [(tmp_path / f"{part}.{side}").read_text("utf-8") for side in ("de", "en")]
        text = "".join(sides).replace("\n", "\n\nANNA:\n")
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    for name in ("train", "val"):
        sides = [(tmp_path / f"{name}.{side}").read_text("utf-8") for side in ("de", "en")]
        pairs = [*zip(*map(str.splitlines, sides), strict=True)]
        table = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (tmp_path / f"{name}.tsv").write_text(table, "utf-8")
        records = ({"translation": {"de": source, "en": target}} for source, target in pairs)
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines, "utf-8")
    for name, part in (("reviews", "train"), ("valid", "valid")):
        lines = [f"{one.label}\t{one.text}\n" for one in getattr(reviews(), part)[:320]]
        (tmp_path / f"{name}.tsv").write_text("".join(lines), "utf-8")
    for name, part in (("names", "train"), ("valid", "val")):
        words = (tmp_path / f"{part}.en").read_text("utf-8").splitlines()
        texts = ("".join(f"{word} {label_of(word)}\n" for word in line.split()) for line in words)
        (tmp_path / f"{name}.conll").write_text("\n".join(texts), "utf-8")
    for name in ("de-en", "second"):
        shutil.copytree(toy_run.folder, tmp_path / "runs" / name)
    translator = kformer.load(toy_run.folder / "translator.keras")
    encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
    classifier = kformer.TextClassifier(translator.tokenizer, encoder, LABELS)
    (tmp_path / "runs" / "reviews").mkdir()
    recorded = {"files": {"valid": [str(tmp_path / "valid.tsv")]}}
    (tmp_path / "runs" / "reviews" / "run.json").write_text(json.dumps(recorded), "utf-8")
    classifier.save(tmp_path / "runs" / "reviews" / "classifier.keras")
    (tmp_path / "runs" / "lm").mkdir()
    recorded = {"files": {"valid_text": [str(tmp_path / "val.en")]}}
    (tmp_path / "runs" / "lm" / "run.json").write_text(json.dumps(recorded), "utf-8")
    words = marian.vocabulary()
    marian.write_folder(tmp_path / "opus-mt-de-en", words, marian.transformer(words.pieces))
    tiny_language_model.save(tmp_path / "runs" / "lm" / "language_model.keras")
    shutil.copytree(tmp_path / "runs" / "lm", tmp_path / "runs" / "play")
    shutil.copytree(toy_served, tmp_path / "served" / "de-en")
    shutil.copy(toy_tflite, tmp_path / "de-en.tflite")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def addressed(request):
    """A function that puts the addresses of a running server into a text that names one."""

    def address(text):
        if "localhost:850" in text:
            server = request.getfixturevalue("toy_server")
            text = text.replace("http://localhost:8501", server.rest)
            text = text.replace("grpc://localhost:8500", server.grpc)
        if "localhost:5000" in text:
            api = request.getfixturevalue("toy_api")
            text = text.replace("http://localhost:5000", api.url)
        if "localhost:8601" in text:
            server = request.getfixturevalue("classifier_server")
            text = text.replace("http://localhost:8601", server.rest)
        if "localhost:8701" in text:
            server = request.getfixturevalue("language_model_server")
            text = text.replace("http://localhost:8701", server.rest)
        return text

    return address


def check_make(line):
    """Asks make what it would do."""
    words = shlex.split(line, comments=True)
    result = subprocess.run(
        ["make", "-n", *words[1:]], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def parsed(words):
    """Lets a command read its arguments, without running it."""
    context = COMMANDS.make_context("kformer", [*words])
    name, command, rest = COMMANDS.resolve_command(context, [*words])
    command.make_context(name, rest, parent=context)


@pytest.mark.parametrize(
    "guide",
    [pytest.param(guide, marks=pytest.mark.prove) if guide in LONG else guide for guide in GUIDES],
)
def test_what_a_guide_says_to_type_works(guide, folder, command, addressed):
    """In this process, each command once. Training is a dry run; exports and others are parsed."""
    done = repeated(guide)
    for kind, block in blocks(guide):
        if kind == "python":
            exec(compile(addressed(small(block)), guide, "exec"), {"__name__": "__main__"})
            continue
        for line in lines_of(block):
            if line in done:
                continue
            if line.startswith("make "):
                check_make(line)
                continue
            text, _, kformer = line.rpartition(" | ")
            name, *words = shlex.split(addressed(kformer), comments=True)
            assert name == "kformer", line
            parsed(words)
            if words[0] in ("export", "demo", "distill", "serve"):
                continue
            if words[0] == "tag" and words[1] != "train":  # No tagger is there without training.
                continue
            if "train" in words[:2]:
                words += [
                    *SMALL_RUN,
                    *(FEWER_IDS if words[0] in ("lm", "tag") else ()),
                    "--dry-run",
                    "--restart",
                ]
            if words[0] == "prepare" and "--tokenizer" not in words:
                words += AS_SMALL
            stdin = "\n".join(shlex.split(text)[1:]).encode()
            result = command(*words, stdin=stdin)
            assert result.returncode == 0, (line, result.stderr)


@pytest.mark.prove
@pytest.mark.parametrize("guide", GUIDES)
def test_what_a_guide_says_to_type_works_as_it_stands(guide, folder, addressed, request):
    """In processes of their own, with all training and exports."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    lent = {"runs/de-en", "runs/second", "runs/reviews", "runs/lm", "runs/play"}
    lent |= {"served/de-en", "de-en.tflite"}
    if "--web " in " ".join(commands(guide)):
        (folder / "node_modules").symlink_to(request.getfixturevalue("packages"))

    def run(*process):
        result = subprocess.run(
            process, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert result.returncode == 0, (process, result.stderr)

    for kind, block in blocks(guide):
        if kind == "python":
            run(sys.executable, "-W", "error::UserWarning", "-c", addressed(small(block)))
            continue
        for line in lines_of(block):
            if line.startswith("make "):
                check_make(line)
                continue
            words = shlex.split(line, comments=True)
            if "serve" in words:  # Which would not end.
                parsed(words[1:])
                continue
            if {"train", "export"} & {*words}:
                for option, path in pairwise(words):
                    if option in MADE_BY_OPTION and path in lent:
                        lent.remove(path)
                        made = folder / path
                        shutil.rmtree(made) if made.is_dir() else made.unlink()
            extra = (
                SMALL_RUN
                if {"train", "distill"} & {*words}
                else ["--quick"]
                if "demo" in words
                else []
            )
            one_side = "train" in words and {"lm", "tag"} & {*words}
            extra = [*extra, *FEWER_IDS] if one_side else extra
            extra = AS_SMALL if "prepare" in words and "--tokenizer" not in words else extra
            run("bash", "-euo", "pipefail", "-c", f"{addressed(line)} {shlex.join(extra)}")


ANSWER = re.compile(r"(.*?)\s+# -> (.*)")  # "..." stands for whatever may differ.
WITH_ANSWERS = [guide for guide in GUIDES if any("# -> " in text for _, text in blocks(guide))]


def check_answer(printed, answer):
    pattern = ".+".join(map(re.escape, answer.split(" ... ")))
    assert re.fullmatch(pattern, " ".join(printed.split())), (printed, answer)


@pytest.fixture
def demo_folder(demo, tmp_path, monkeypatch):
    """A folder with what the guides name, all of it the demo's, in which the test runs."""
    made, result = demo
    assert result.returncode == 0, result.stderr
    for name, part in (("train", "train"), ("val", "valid"), ("test", "test")):
        for language in ("de", "en"):
            shutil.copy(made / "text" / f"{part}.{language}", tmp_path / f"{name}.{language}")
    for run in ("de-en", "second"):
        shutil.copytree(made / "run", tmp_path / "runs" / run)
    shutil.copytree(made / "served", tmp_path / "served" / "de-en")
    shutil.copy(made / "translator.tflite", tmp_path / "de-en.tflite")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.prove
@pytest.mark.parametrize("guide", WITH_ANSWERS)
def test_the_answers_that_a_guide_shows_are_those_of_the_demo(
    guide, demo_folder, demo_server, demo_api, command
):
    """Of a script that trains, only the lines with answers run, with the demo's translator."""

    def addressed(text):
        text = text.replace("http://localhost:5000", demo_api.url)
        text = text.replace("http://localhost:8501", demo_server.rest)
        return text.replace("grpc://localhost:8500", demo_server.grpc)

    for kind, block in blocks(guide):
        if kind == "sh":
            for found in filter(None, map(ANSWER.fullmatch, lines_of(block))):
                line, answer = found.groups()
                text, _, kformer_ = addressed(line).rpartition(" | ")
                stdin = "\n".join(shlex.split(text)[1:]).encode()
                result = command(*shlex.split(kformer_)[1:], stdin=stdin)
                assert result.returncode == 0, (line, result.stderr)
                check_answer(result.stdout.splitlines()[0], answer)
        elif "# -> " in block:
            for answer, printed in answers_of(addressed(block)):
                check_answer(printed, answer)


def answers_of(script):
    """Yields each answer that a script shows, and what its line prints first."""
    answers = {
        number: found[2]
        for number, line in enumerate(script.splitlines(), start=1)
        if (found := ANSWER.fullmatch(line))
    }
    printed = {}

    def record(*values):
        printed.setdefault(sys._getframe(1).f_lineno, " ".join(map(str, values)))

    names = {"print": record}
    if ".fit(" in script or "train(" in script:
        names["translator"] = kformer.load("runs/de-en/translator.keras")
        lines = [line if "# -> " in line else "" for line in script.splitlines()]
        script = "\n".join(lines)
    exec(compile(script, "guide", "exec"), names)
    for number, answer in answers.items():
        yield answer, printed[number]


@pytest.mark.prove
@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("dates", "2026-11-22"),
        ("numbers", "two thousand twenty six"),
        ("reversed", "remrofsnart"),
    ],
)
def test_a_small_task_of_the_guide_is_learned(task, answer, tmp_path):
    (script,) = (
        block
        for kind, block in blocks("kformer/training/README.md")
        if kind == "python" and f'"runs/{task}"' in block
    )
    assert len(script.splitlines()) <= 25
    last_line = printed_by("-c", script, cwd=tmp_path).splitlines()[-1]
    share = re.fullmatch(rf"([\d.]+)% exact \['{answer}'\]", last_line)
    assert share, last_line
    assert float(share[1]) >= 99


def test_every_subcommand_has_an_example():
    used = {word for guide in GUIDES for line in commands(guide) for word in shlex.split(line)}
    assert set(COMMANDS.commands) <= used


@pytest.mark.parametrize("guide", GUIDES)
def test_the_flags_that_a_guide_names_exist(guide):
    commands = COMMANDS.commands.values()
    nested = (one for command in commands for one in getattr(command, "commands", {}).values())
    known = {
        option
        for command in (*commands, *nested)
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    for benchmark in (REPOSITORY / "tests" / "benchmarks").rglob("*.py"):
        known.update(re.findall(r'"(--[\w-]+)"', benchmark.read_text("utf-8")))
    prose = re.sub(r"^```.*?^```$", "", GUIDES[guide], flags=re.DOTALL | re.MULTILINE)
    named = {
        flag for code in re.findall("`([^`]+)`", prose) for flag in re.findall(r"--[\w-]+", code)
    }
    assert named - known <= FROM_ELSEWHERE


@pytest.mark.parametrize("guide", GUIDES)
def test_the_links_of_a_guide_lead_somewhere(guide):
    here = (REPOSITORY / guide).parent
    for link in re.findall(r"\]\(([^)]+)\)", GUIDES[guide]):
        if re.match("https?:", link):
            continue
        path, _, heading = link.partition("#")
        target = here / path if path else REPOSITORY / guide
        assert target.exists(), link
        if heading:
            assert heading in {*headings(target.read_text("utf-8"))}, link


def headings(text):
    """The names that GitHub gives to the headings of a text."""
    for title in re.findall("^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_of_the_code_that_a_guide_names_exist(guide):
    here = (REPOSITORY / guide).parent
    for name in re.findall(
        r"`((?:kformer|tests)/[\w./-]+|[\w./-]+\.(?:py|pyi|cc|mjs))`", GUIDES[guide]
    ):
        assert (REPOSITORY / name).exists() or any(here.rglob(name)), name


def test_the_fixtures_that_the_contributors_page_names_exist():
    table = GUIDES["tests/README.md"].split("| fixture | what it is |\n")[1].split("\n\n")[0]
    first_column = "".join(row.split("|")[1] for row in table.splitlines())
    files = TESTS / "conftest.py", *(TESTS / "support" / "fixtures").glob("*.py")
    defined = "".join(file.read_text("utf-8") for file in files)
    for name in re.findall(r"`(\w+)`", first_column):
        assert f"def {name}(" in defined, name


def test_the_front_page_leads_to_every_guide():
    linked = re.findall(r"\]\(([^)]+)\)", GUIDES["README.md"])
    assert {guide for guide in GUIDES if guide != "README.md"} <= {
        Path(os.path.normpath(link)).as_posix() for link in linked
    }

"""What the guides tell a reader to type works; what they name exists.

A guide's blocks of `sh` and `python` run in their order, in a folder with small text files and the
toy translator's three forms. Blocks of another language are shown only.
"""

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
from kformer.cli.terminal.text_width import width_of
from kformer.phrasebook import phrasebook, write
from support import REPOSITORY, TESTS
from support.guides import (
    ANSWER,
    AS_SMALL,
    FEWER_IDS,
    GUIDES,
    SMALL_RUN,
    blocks,
    commands,
    conversations,
    fenced,
    headings,
    lines_of,
    links,
    repeated,
    small,
)
from support.hub_stand_in import TOKEN
from support.processes import printed_by

QUICK = {
    "README.md",
    "kformer/documents/README.md",
    "kformer/server/README.md",
    *(guide for guide in GUIDES if not blocks(guide) or guide.startswith("tests/")),
}
COMMANDS = typer.main.get_command(app_for([]))
MADE_BY_OPTION = ("--output", "--saved-model", "--tflite", "--web")
FROM_ELSEWHERE = {
    "--help",
    "--model_type",
    "--sdk_container_image",
    "--task",
    "--xla_cpu_compilation_enabled",
}  # Flags that others define.


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
    [guide if guide in QUICK else pytest.param(guide, marks=pytest.mark.prove) for guide in GUIDES],
)
def test_what_a_guide_says_to_type_works(guide, guide_folder, command, addressed):
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
            if words[0] in ("export", "publish", "demo", "distill", "serve"):
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
            if words[0] == "split":  # The text here is smaller than that of the demo.
                words += ["--valid", "50", "--unlike", "5"]
            stdin = "\n".join(shlex.split(text)[1:]).encode()
            result = command(*words, stdin=stdin)
            assert result.returncode == 0, (line, result.stderr)


@pytest.mark.prove
@pytest.mark.parametrize("guide", GUIDES)
def test_what_a_guide_says_to_type_works_as_it_stands(guide, guide_folder, addressed, request):
    """In processes of their own, with all training and exports."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    lent = {"runs/de-en", "runs/second", "runs/reviews", "runs/lm", "runs/play"}
    lent |= {"served/de-en", "de-en.tflite"}
    if "--web " in " ".join(commands(guide)):
        (guide_folder / "node_modules").symlink_to(request.getfixturevalue("packages"))
    if "kformer publish " in " ".join(commands(guide)):
        hub = request.getfixturevalue("hub")
        environment |= hub.environment(guide_folder / "hf-home", HF_TOKEN=TOKEN)

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
                        made = guide_folder / path
                        shutil.rmtree(made) if made.is_dir() else made.unlink()
            extra = (
                SMALL_RUN
                if {"train", "distill"} & {*words}
                else ["--quick"]
                if words[1:2] == ["demo"]
                else []
            )
            one_side = "train" in words and {"lm", "tag"} & {*words}
            extra = [*extra, *FEWER_IDS] if one_side else extra
            extra = AS_SMALL if "prepare" in words and "--tokenizer" not in words else extra
            run("bash", "-euo", "pipefail", "-c", f"{addressed(line)} {shlex.join(extra)}")


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_loads_a_model_in_another_process_than_the_one_that_saved_it(guide):
    """The process that saved it knows its classes already. Each block is a process, above."""
    for _, block in blocks(guide):
        for saved in re.findall(r'\bsave(?:_model)?\((?:\w+, )?"([^"]+)"', block):
            assert not re.search(rf'load(?:_model)?\("{re.escape(saved)}"', block), saved


WITH_ANSWERS = [guide for guide in GUIDES if any("# -> " in text for _, text in blocks(guide))]


def check_answer(printed, answer):
    pattern = ".+".join(map(re.escape, answer.split(" ... ")))
    assert re.fullmatch(pattern, " ".join(printed.split())), (printed, answer)


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


ASKED = [guide for guide in GUIDES if re.search(r"^\$ curl ", GUIDES[guide], re.MULTILINE)]


@pytest.mark.prove
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed.")
@pytest.mark.parametrize("guide", ASKED)
def test_a_server_answers_a_request_by_curl_as_a_guide_shows(
    guide, demo_folder, demo_server, demo_api
):
    (demo_folder / "page.html").write_text("<p>Ein Hund läuft.</p>", "utf-8")
    addresses = {"localhost:5000": demo_api.url, "localhost:8501": demo_server.rest}
    for kind, block in fenced(guide):
        for line, shown in conversations(block) if kind == "console" else ():
            if not line.startswith("curl "):
                continue
            for address, url in addresses.items():
                line = re.sub(rf"(http://)?{address}", url, line)
                shown = shown.replace(f"http://{address}", url)
            result = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
            parts = re.split(r"\.\.\.|…", "".join(shown.split()))  # Dots stand for what may differ.
            pattern = ".*".join(map(re.escape, parts))
            assert re.fullmatch(pattern, "".join(result.stdout.decode().split())), line


OF_TRANSLATORS = {"split", "prepare", "evaluate"}  # Commands whose whole output guides show.


def printing(guide):
    """Yields the commands of a block whose output is the next block, and that block."""
    every = fenced(guide)
    for (kind, block), (next_kind, output) in pairwise(every):
        if (kind, next_kind) == ("sh", "text"):
            words = [shlex.split(line, comments=True)[1:] for line in lines_of(block)]
            shown = [line for line in words if line[0] in OF_TRANSLATORS or "--dry-run" in line]
            if shown:
                yield shown, output


def without_measurements(text):
    """The text with "#" for what differs between machines: scores, memory and times."""
    sentences = re.split(r"(?<=[^.]\.)\s+", text)
    for number, sentence in enumerate(sentences):
        if re.search("takes|BLEU", sentence):
            number_or_unit = r"\d[\d.,:]*\d|\d|seconds?|minutes?|hours?"
            sentences[number] = re.sub(number_or_unit, "#", sentence)
    return " ".join(" ".join(sentences).split())


@pytest.mark.prove
@pytest.mark.parametrize("guide", [guide for guide in GUIDES if [*printing(guide)]])
def test_a_command_prints_what_a_guide_shows(guide, demo_folder, command):
    for lines, shown in printing(guide):
        results = [command(*words) for words in lines]
        assert not any(result.returncode for result in results), results
        printed = [without_measurements(result.stdout) for result in results]
        parts = without_measurements(shown).split("...")
        pattern = ".*".join(map(re.escape, parts))
        assert any(re.fullmatch(pattern, text) for text in printed), (shown, printed)


@pytest.mark.prove
def test_the_text_of_the_demo_supports_the_vocabularies_of_the_guides(tmp_path):
    call = r'Tokenizer\.train\(\["train\.de", "train\.en"\], vocab_size=([\d_]+)\)'
    sizes = {int(size) for guide in GUIDES for size in re.findall(call, GUIDES[guide])}
    files = write(tmp_path)
    for size in sizes:
        tokenizer = kformer.Tokenizer.train([files["train.de"], files["train.en"]], vocab_size=size)
        assert tokenizer.vocab_size == size


def test_the_files_of_text_that_a_command_reads_are_those_that_the_demo_writes():
    """Or they are made by a command of the guides, or stand for text that only a reader has."""
    own = {"held-out.de", "held-out.en", "terms.de", "terms.en", "mono.de", "mono.en"}
    written = {f"{part}.{side}" for part in phrasebook()._fields for side in ("de", "en")}
    shown = [
        line
        for guide in GUIDES
        for kind, block in fenced(guide)
        if kind in ("sh", "console")
        for line in lines_of(re.sub(r"--columns \S+", "", block))
    ]
    words = [word for line in shown for word in line.split()]
    made = {path for option, path in pairwise(words) if option in MADE_BY_OPTION}
    text_file = re.compile(r"(?<![\w/.-])[\w-]+\.(?:de|en)(?![\w.])")
    read = {path for line in shown for path in text_file.findall(line)}
    assert read - written - made - own == set()


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_asks_a_server_at_the_port_where_it_listens(guide):
    serve = COMMANDS.commands["serve"]
    port = next(option.default for option in serve.params if option.name == "port")
    is_started = False
    for line in commands(guide):
        is_started = is_started or line.startswith("kformer serve ")
        asked = re.search(r"kformer request \w+://localhost:(\d+)", line)
        if is_started and asked:
            assert int(asked[1]) == port, line


@pytest.mark.parametrize("guide", GUIDES)
def test_a_line_of_code_has_at_most_80_columns(guide):
    """So it is not cut on the site; output wraps there."""
    for kind, block in fenced(guide):
        if kind == "console" and "$ " in block:
            code = "\n".join(line for line, _ in conversations(block))
        else:
            code = "" if kind == "text" else block
        assert [line for line in code.splitlines() if width_of(line) > 80] == []


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
        for guide in GUIDES
        for kind, block in blocks(guide)
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
        flag
        for code in re.findall("`([^`]+)`", prose)
        if not code.startswith(("git ", "hf "))  # Commands that others define.
        for flag in re.findall(r"--[\w-]+", code)
    }
    assert named - known <= FROM_ELSEWHERE


@pytest.mark.parametrize("guide", GUIDES)
def test_the_links_of_a_guide_lead_somewhere(guide):
    here = (REPOSITORY / guide).parent
    for link in links(guide):
        if re.match("https?:", link):
            continue
        path, _, heading = link.partition("#")
        target = here / path if path else REPOSITORY / guide
        assert target.exists(), link
        if heading:
            assert heading in {*headings(target.read_text("utf-8"))}, link


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_of_the_code_that_a_guide_names_exist(guide):
    here = (REPOSITORY / guide).parent
    for name in re.findall(
        r"`((?:kformer|tests)/[\w./-]+|[\w./-]+\.(?:py|pyi|cc|mjs))`", GUIDES[guide]
    ):
        folders = here, REPOSITORY / "kformer"
        found = (path for folder in folders for path in folder.rglob(name))
        assert (REPOSITORY / name).exists() or any(found), name


def test_the_fixtures_that_the_contributors_page_names_exist():
    table = GUIDES["tests/README.md"].split("| fixture | what it is |\n")[1].split("\n\n")[0]
    first_column = "".join(row.split("|")[1] for row in table.splitlines())
    files = TESTS / "conftest.py", *(TESTS / "support" / "fixtures").glob("*.py")
    defined = "".join(file.read_text("utf-8") for file in files)
    for name in re.findall(r"`(\w+)`", first_column):
        assert f"def {name}(" in defined, name


def linked_from(guide):
    """The paths, from the top of the repository, of what a guide links to."""
    folder = Path(guide).parent
    paths = (link.partition("#")[0] for link in links(guide) if not re.match("https?:", link))
    return {Path(os.path.normpath(folder / path)).as_posix() for path in paths if path}


def test_the_front_page_leads_to_every_guide():
    """Directly, or by a guide that it links to."""
    direct = {"README.md", *linked_from("README.md")} & {*GUIDES}
    assert {*GUIDES} == direct | {*GUIDES} & {path for one in direct for path in linked_from(one)}


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_has_at_most_400_lines(guide):
    assert len(GUIDES[guide].splitlines()) <= 400

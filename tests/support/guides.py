"""The guides: which files they are, and what they tell a reader to type."""

import re

from support import REPOSITORY, TESTS, toy

# A guide has a name in capitals; other Markdown files are templates that exports fill in.
GUIDES = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text("utf-8")
    for path in (
        REPOSITORY / "README.md",
        *sorted((REPOSITORY / "kformer").rglob("*.md")),
        *sorted(TESTS.rglob("*.md")),
    )
    if path.name.split(".")[0].isupper()
}
SMALL_RUN = [str(word) for option in toy.RECIPE.items() for word in option]
AS_SMALL = ["--vocab-size", SMALL_RUN[SMALL_RUN.index("--vocab-size") + 1]]
FEWER_IDS = ["--vocab-size", "290"]  # One side of the text alone supports no more.
SMALL_NUMBERS = {
    "1500": "308",
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
ANSWER = re.compile(r"(.*?)\s+# -> (.*)")  # "..." stands for whatever may differ.


def blocks(guide):
    """Pairs of language and content: the blocks that are run.

    Those of a translated guide are the original's, as a test of its own holds.
    """
    if guide.endswith(".zh.md"):
        return []
    return re.findall(r"^```(sh|python)\n(.*?)^```$", GUIDES[guide], re.DOTALL | re.MULTILINE)


def lines_of(block):
    return [line for line in block.replace("\\\n", "").splitlines() if line.strip()]


def commands(guide):
    return [line for kind, block in blocks(guide) if kind == "sh" for line in lines_of(block)]


def repeated(guide):
    """The commands of the guides before this one."""
    earlier = list(GUIDES)[: list(GUIDES).index(guide)]
    return {line for other in earlier for line in commands(other)}


def small(script):
    """The script with models that are trained in seconds."""
    for number, smaller in SMALL_NUMBERS.items():
        script = script.replace(number, smaller)
    return script


def fenced(guide):
    """Pairs of language and content: all blocks, also those that are only shown."""
    return re.findall(r"^```([\w-]*)\n(.*?)^```$", GUIDES[guide], re.DOTALL | re.MULTILINE)


def conversations(block):
    """Pairs of a command behind a prompt, with the lines that continue it, and its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        number = 1
        while lines[number - 1].endswith("\\") or "".join(lines[:number]).count("'") % 2:
            number += 1
        yield "\n".join(lines[:number]), "\n".join(lines[number:])


def links(guide):
    return re.findall(r"\]\(([^)]+)\)", GUIDES[guide])


def headings(text):
    """The names that GitHub gives to the headings of a text."""
    for title in re.findall("^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")

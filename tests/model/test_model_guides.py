"""The guide of the model and its translation: the same code, and the results that it shows."""

import io
import re
import tokenize

import pytest

from support.guides import GUIDES
from support.processes import printed_by

ENGLISH, CHINESE = "kformer/model/README.md", "kformer/model/README.zh.md"
NUMBER = re.compile(r"\d+\.\d")


def code_blocks(guide):
    """Pairs of language and content."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", GUIDES[guide], re.DOTALL | re.MULTILINE)


def without_comments(kind, block):
    if kind != "python":
        return block.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(block).readline)
    columns = dict(token.start for token in tokens if token.type == tokenize.COMMENT)
    lines = enumerate(block.splitlines(), start=1)
    return [line[: columns.get(row)].rstrip() for row, line in lines]


def test_both_languages_have_the_same_code_apart_from_comments():
    english, chinese = code_blocks(ENGLISH), code_blocks(CHINESE)
    assert len(english) == len(chinese) > 8
    for ours, theirs in zip(english, chinese, strict=True):
        assert without_comments(*ours) == without_comments(*theirs)


@pytest.mark.parametrize("element", ["^#+ ", r"^\|", r"^!\[", "^    "])
def test_both_languages_have_as_many_headings_rows_pictures_and_formulas(element):
    counts = [
        len(re.findall(element, re.sub(r"(?ms)^```.*?^```$", "", GUIDES[guide]), re.MULTILINE))
        for guide in (ENGLISH, CHINESE)
    ]
    assert counts[0] == counts[1] > 0


def test_each_language_links_to_the_other_above_its_first_paragraph():
    for guide, link in ((ENGLISH, "[中文](README.zh.md)"), (CHINESE, "[English](README.md)")):
        assert GUIDES[guide].splitlines()[2].startswith(link)


def test_the_guide_is_short_enough_to_be_read():
    assert len(GUIDES[ENGLISH].splitlines()) <= 400


@pytest.mark.prove
@pytest.mark.tensorflow("the numbers are those of TensorFlow")
@pytest.mark.parametrize("shown", ["S i want a beer E", "off by 0.5, and 3.0 by guessing the mean"])
def test_what_a_script_of_the_guide_prints_is_shown_beside_it(shown, tmp_path):
    """A number may differ by a third of it: sums are rounded differently by machines."""
    [script] = [block for _, block in code_blocks(ENGLISH) if f"# {shown}\n" in block]
    printed = printed_by("-c", script, cwd=tmp_path).splitlines()[-1]
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    numbers = [[*map(float, NUMBER.findall(line))] for line in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1 / 3)

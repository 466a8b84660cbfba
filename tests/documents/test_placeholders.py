"""Placeholders of each kind are recognized, and percent signs of prose are not."""

import re
import time

import pytest

from kformer.documents.placeholders import KINDS, keep_pattern, with_placeholders


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("brace", "{name} {0} {n, plural, one {# file} other {# files}}"),
        ("double-brace", "{{ user.name }}"),
        ("template", "${x} %{count} #{y}"),
        ("printf", "%s %1$d %@ %(name)s %-5.2f %% %dKB %lld %#@files@"),
        ("nesting", "$t(common.ok)"),
        ("url", "https://example.org/a?b=c&d=e/ www.example.org/x"),
        ("email", "ann.b+c@mail.example.org"),
        ("tag", "<br/> </b> <a href='x'> &nbsp; &#8212;"),
        ("quantity", "5 km 2.5\u00a0kg 50% 1,000 € $9.99 20 °C 3 GB"),
        ("emoji", "😀 👩‍🚀 →"),
    ],
)
def test_each_kind_is_recognized_by_its_pattern_and_among_all(kind, text):
    assert re.sub(r"(?:KB)?\s*", "", keep_pattern([kind]).sub("", text)) == ""
    assert re.sub(r"(?:KB)?\s*", "", keep_pattern().sub("", text)) == ""


@pytest.mark.parametrize("text", ["100%ig", "a < b", "x@y", "R&D", "5 dogs", "a: b", "in 2024"])
def test_prose_has_no_placeholders(text):
    assert with_placeholders([text], keep_pattern()) == (text,)


def test_a_regular_expression_of_the_user_is_kept():
    parts = with_placeholders(["Part AB-12 of {x}"], keep_pattern([r"[A-Z]{2}-\d+"]))
    assert [part if isinstance(part, str) else part.raw for part in parts] == [
        "Part ",
        "AB-12",
        " of {x}",
    ]


def test_a_malformed_expression_is_refused():
    with pytest.raises(ValueError, match=r"names of tag, .*Received: keep='\(' \(missing"):
        keep_pattern(["("])
    with pytest.raises(ValueError, match="which matches an empty text"):
        keep_pattern(["a*"])
    with pytest.raises(TypeError, match="list of strings"):
        keep_pattern("url")


HOSTILE = ["{", "<a ", "<!--", "$t(", "{{", "www.-", "a@", "a.", "%(", "http://", "&a", "🏻", "%1"]


@pytest.mark.parametrize("part", HOSTILE)
def test_long_texts_take_linear_time(part):
    begun = time.process_time()
    with_placeholders([part * (40_000 // len(part))], keep_pattern())
    assert time.process_time() - begun < 2  # Quadratic time would be minutes.
    assert KINDS

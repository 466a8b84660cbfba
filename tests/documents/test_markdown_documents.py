"""Markdown: links, emphasis, math and blocks are markup in the translation, too."""

import collections

import hypothesis.strategies as st
import pytest
from hypothesis import given
from markdown_it import MarkdownIt

import kformer


def reverse(texts):
    return [" ".join(reversed(text.split())) for text in texts]


def markup(text, translator=reverse):
    """Returns the translation of a document, and the texts asked for."""
    asked = []

    def asking(texts):
        asked.extend(texts)
        return translator(texts)

    new, report = kformer.translate_markup(text, asking, kind="markdown")
    assert not report.unplaced
    return new, asked


def tokens(text):
    """Yields the inline tokens of a document as another reader has them."""
    for token in MarkdownIt().enable(["table", "strikethrough"]).parse(text):
        yield from token.children or ()


def targets(text):
    return sorted(
        token.attrs.get("href") or token.attrs["src"]
        for token in tokens(text)
        if token.type in ("link_open", "image")
    )


def kinds(text):
    counts = collections.Counter(token.type for token in tokens(text))
    return {name: counts[name] for name in ("strong_open", "em_open", "s_open", "code_inline")}


DEFINITIONS = '\n\n[the manual]: http://m.org\n[guide]: http://g.org "T"\n[a *b* c]: http://c.org\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [the manual] now", "now [manual the][the manual] See"),
        ("See [the manual][] now", "now [manual the][the manual] See"),
        ("See [this book][guide] now", "now [book this][guide] See"),
        ("See [the\nmanual] now", "now [manual the][the manual] See"),
        ("See [a *b* c] now", "now [c *b* a][a *b* c] See"),
        ("![the manual] now see", "![manual the][the manual] see now"),
        ("![the manual][] now see", "![manual the][the manual] see now"),
        ("![the manual]", "![manual the][the manual]"),
    ],
)
def test_a_link_keeps_the_label_of_its_definition(text, expected):
    new, _ = markup(text + DEFINITIONS)
    assert new == expected + DEFINITIONS
    assert targets(new) == targets(text + DEFINITIONS)


PARTS = st.sampled_from(
    [
        *("dog", "red house", "it is", "cat and", "old", "1."),
        *("`x`", "`a b`", "**the man**", "*good dog*", "~~no~~", "**a *b* c**", "&amp;"),
        *("[the manual]", "[guide][]", "[one two](http://u.org)", "[**bold** link](http://v.org)"),
    ]
)


@given(st.lists(PARTS, min_size=1, max_size=8, unique=True).map(" ".join))
def test_links_and_emphasis_are_there_as_often_when_words_are_reversed(text):
    new, _ = markup(text + DEFINITIONS)
    assert targets(new) == targets(text + DEFINITIONS)
    assert kinds(new) == kinds(text + DEFINITIONS)


def test_no_space_slips_into_emphasis():
    for text in ("`x` **the man** goes", "Paul gives `x` **the man**", "go `x` *a* `y` [b](u) z"):
        new, _ = markup(text, lambda texts: [text.replace("goes", "runs") for text in texts])
        assert kinds(new) == kinds(text)
    new, _ = markup("Paul gibt `x` **dem Mann**", lambda _: ["Paul gives the man"])
    assert "**the man**" in new


def test_equal_code_stays_in_its_own_span():
    assert markup("Use `x` and **bold `x` now**.", lambda _: ["**bold x now** x".replace("*", "")])[
        0
    ].startswith("**bold `x` now**")


def test_math_and_blocks_are_code_and_their_text_alone_is_translated():
    text = """The $x^2$ is red, for $5 and $10.

$$
E = mc^2
$$

:::tip Good day
Red dog.
:::

::: {.note}
Old cat.
:::

!!! warning "Take care"
    Blue bird.

!!! note
    Big tree.

??? question "Why so"
    No idea.

# Head line {#head}
"""
    new, asked = markup(text, lambda texts: [text.upper() for text in texts])
    for words in ("Good day", "Red dog", "Old cat", "Take care", "Blue bird", "Big tree"):
        assert words in "\n".join(asked)
        text = text.replace(words, words.upper())
    text = text.replace("Why so", "WHY SO").replace("No idea", "NO IDEA")
    text = text.replace("The $x^2$ is red, for", "THE $x^2$ IS RED, FOR").replace("and", "AND")
    assert new == text.replace("Head line", "HEAD LINE")


def test_modules_of_mdx_are_no_text_and_notes_within_a_line_are_spans():
    text = "import X from './x'\nexport const y = 1\n\nimport goods are taxed\n"
    assert markup(text)[0] == text.replace("import goods are taxed", "taxed are goods import")
    assert markup("The dog ^[a small note] sleeps") == (
        "sleeps ^[note small a] dog The",
        ["The dog a small note sleeps"],
    )


def test_references_stay_text_and_never_become_tags():
    for text in ("Use &lt;script&gt; in <b>your</b> page", "Write &amp;lt; and &amp;amp; now"):
        new, _ = markup(text)
        rendered = MarkdownIt().render(new)
        assert "<script" not in rendered
        assert rendered.count("&lt;") == MarkdownIt().render(text).count("&lt;")
        assert rendered.count("&amp;") == MarkdownIt().render(text).count("&amp;")
    new, asked = markup("Use &lt;div&gt; here")
    assert asked == ["Use <div> here"]
    assert new == "here &lt;div> Use"
    assert "<i" not in MarkdownIt().render(markup("a b", lambda _: ["<i> &lt;i&gt; x"])[0])


@pytest.mark.parametrize("start", ["-", "#", ">", "1.", "12)", "+", "*", "###", ":::note", "!!!"])
def test_a_translation_does_not_begin_a_block(start):
    new, _ = markup("One two", lambda _: [f"{start} eins zwei"])
    assert MarkdownIt().render(new) == MarkdownIt().render("x").replace(
        "x", f"{start} eins zwei".replace(">", "&gt;")
    )


def test_cells_have_breaks_and_bars():
    table = "| red dog | b |\n|-|-|\n| old \\| cat | one two<br>big `a\\|b` tree |\n"
    new, asked = markup(table)
    assert asked[:4] == ["red dog", "b", "old | cat", "one two"]
    rows = [line.count("|") - line.count("\\|") for line in new.splitlines()]
    assert rows == [3, 3, 3]
    assert new == ("| dog red | b |\n|-|-|\n| cat \\| old | two one<br>tree `a\\|b` big |\n")


def test_the_title_and_the_description_of_the_front_matter_are_translated():
    text = """---
title: "Red: dog"
description: An old cat
slug: red-dog
tags: [one two, three]
---

# Big tree
"""
    new, asked = markup(text)
    assert asked == ["Red: dog", "An old cat", "Big tree"]
    new = new.replace("dog Red:", "Red: dog").replace("tree Big", "Big tree")
    assert new == text.replace("An old cat", "cat old An")
    broken = "---\ntitle: [\n---\n\nBig tree\n"
    assert markup(broken)[0] == broken.replace("Big tree", "tree Big")


def test_code_of_one_letter_is_not_sought_within_words():
    new, _ = markup("Let `n` be continued", lambda _: ["So n is continued, not an end"])
    assert new == "So `n` is continued, not an end"
    new, _ = markup("Let `n` be continued", lambda _: ["So it is continued"])
    assert "continued" in new and new.count("`n`") == 1


def test_brackets_in_the_text_of_a_link_do_not_end_it():
    new, _ = markup("[[noinit] structs](#n)", lambda _: ["[noinit] structs again"])
    assert targets(new) == ["#n"]


def test_two_pieces_of_code_stay_two():
    new, _ = markup("One (`x`), two (`y`), three ($a$), four ($b$)", lambda _: ["None"])
    assert sorted(each.content for each in tokens(new) if each.type == "code_inline") == ["x", "y"]
    assert "$a$$b$" not in new and new.count("$") == 4

"""The text and its translation, side by side: linked, numbered, and found by notices."""

import pytest

from support import toy

LINKED = "[...document.querySelectorAll('.linked')].map((each) => each.textContent)"
TEXT = f"{toy.SOURCES[0]} Wir ruft uns!\n\n{toy.SOURCES[1]}"


def test_a_sentence_and_its_translation_are_highlighted_together(page):
    lines = page("translate", TEXT)["lines"]
    page("pointAt", ".mirror span")
    assert page("look", LINKED) == [toy.SOURCES[0], toy.TARGETS[0]]
    page("pointAt", "output > :last-child span")
    assert page("look", LINKED) == [toy.SOURCES[1], lines[2]]
    page("pointAt", "h1")
    assert page("look", LINKED) == []


def test_the_mirror_has_the_text_in_the_same_places(page):
    size = """["source", "mirror"].map((id) => {
      const { width, height } = document.getElementById(id).getBoundingClientRect();
      return [width, height, document.getElementById(id).scrollHeight];
    })"""
    for text in ("", "wir", TEXT, "\n" * 30, "wir " * 900, "\u3053" * 500 + "\n\ta\n" + "x" * 999):
        page("translate", text)
        source, mirror = page("look", size)
        assert source == mirror, text


def test_lines_are_numbered_where_there_are_many(page):
    numbered = "document.querySelector('.sides').classList.contains('numbered')"
    number = "getComputedStyle(document.querySelector('output > :last-child'), '::before').content"
    page("translate", "wir")
    assert not page("look", numbered)
    page("translate", TEXT)
    assert not page("look", numbered)  # Three lines need no numbers.
    page("translate", f"{TEXT}\n\n{TEXT}")
    assert page("look", numbered) and "counter(line)" in page("look", number)
    assert page("look", "document.querySelectorAll('.mirror > *').length") == 7


def test_scrolling_one_side_scrolls_the_other_to_the_same_line(page):
    page("translate", "\n".join(toy.SOURCES[:100]))
    top = """(selector, child) => {
      const pane = document.querySelector(selector), line = document.querySelector(child);
      return line.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    }"""
    for moved, other in ((".field", "output"), ("output", ".field")):
        children = [
            f"{side.replace('.field', '.mirror')} > :nth-child(60)" for side in (moved, other)
        ]
        page(
            "look",
            f"""new Promise((done) => {{
              document.querySelector("{children[0]}").scrollIntoView({{ block: "start" }});
              requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
            }})""",
        )
        places = [
            page("look", f"({top})('{s}', '{c}')")
            for s, c in zip((moved, other), children, strict=True)
        ]
        assert abs(places[0] - places[1]) < 20, (moved, places)
        page("look", f"document.querySelector('{moved}').scrollTo(0, 0)")


def test_the_keys_that_select_all_select_the_translation_alone(page):
    lines = page("translate", TEXT)["lines"]
    page("pressIn", "output", "Control+a")
    assert page("look", "getSelection().toString().split('\\n').filter(Boolean)") == [
        lines[0],
        lines[2],
    ]


def unsure(engine):
    """The engine, which is unsure of sentences with "ruft"."""
    real = b"    return { text, flags, quality };\n"
    assert engine.count(real) == 1
    doubt = b'    if (line.includes("ruft")) return { text, flags: ["unsure"], quality: 0.314 };\n'
    return engine.replace(real, doubt + real)


@pytest.mark.prove
def test_an_unsure_sentence_has_its_reason_and_its_notice_leads_to_it(browser, changed):
    with changed("litert-engine.js", unsure) as address:
        browser("open", address)
        shown = browser("translate", f"Mein bruder. Wir ruft uns!\n{toy.SOURCES[0]}\nein kind ruft")
        reason = "The underlined text is a guess. Check it, or say it in other words."
        assert shown["notice"].split("\n") == [f"Lines 1 and 3: {reason}"]
        titles = browser(
            "look", "[...document.querySelectorAll('.flagged')].map((each) => each.title)"
        )
        assert titles == [f"{reason}\nEstimated quality: 31 of 100"] * 2
        chosen = """(({ value, selectionStart: start, selectionEnd: end }) =>
          value.slice(start, end))(document.activeElement)"""
        for sentence in ("Wir ruft uns!", "ein kind ruft", "Wir ruft uns!"):  # One after the other.
            browser("click", f"Lines 1 and 3: {reason}")
            assert browser("look", chosen) == browser("look", LINKED)[0] == sentence


def test_a_notice_names_the_lines_of_a_text_once(page):
    rows = [[lines, "Hm."] for lines in ([3], [5, 6], [1, 2, 3, 7], [*range(1, 40, 2)])]
    assert page("call", "messages.js", "messageOfLines", rows) == [
        "Line 3: Hm.",
        "Lines 5 and 6: Hm.",
        "Lines 1–3 and 7: Hm.",
        "Lines 1, 3, 5, 7, 9, 11, 13, 15, and …: Hm.",
    ]

"""Rich text that is pasted into the page keeps its links and emphasis, and runs no script."""

import random
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from kformer.documents.document_translation import translate_markup
from kformer.documents.pair_alignment import WordPair, align_pairs
from kformer.documents.word_places import LONGEST
from kformer.pocket import PocketTranslator
from support import toy
from support.serving.served_api import served_api

ALLOWED = re.compile("a|b|strong|i|em|u|s|code|p|ul|ol|li|h[1-6]|span")
PASTED = """<html><body><!--StartFragment--><h2>der hund sucht das haus .</h2>
<ul><li>wir <a href="https://example.org/?a=1&amp;b=2">ruft</a> uns .</li><li>mein bruder</li></ul>
<p><b>die katze malt ein bild .</b> ein kind
 <span style="font-weight: 700; color: red">sieht <i>den baum</i></span> .<br>wir malt uns .</p>
<ol><li>ein kind</li><li>uns</li></ol>"""
MARKED = "ein kind <b>sieht <i>den baum</i></b> ."  # One of its sentences.
TEXT = """der hund sucht das haus .

wir ruft uns .
mein bruder

die katze malt ein bild . ein kind sieht den baum .
wir malt uns .

ein kind
uns"""


class Shown(HTMLParser):
    """The tags of HTML with their attributes, without the spans of sentences; and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.links, self.attributes, self.text = [], [], set(), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.text += data


def rich_page(browser, address):
    """Opens a page, and returns it with PASTED in it."""
    opened = browser("open", address)
    assert opened["state"] == "ready", opened
    return browser("pasteHtml", PASTED)


def check_shown(shown, translations, marked):
    """Checks the translation of PASTED, with the HTML of the words that are bold and italic."""
    assert shown["pasted"] and shown["source"] == TEXT
    assert shown["lines"] == translations
    parts = Shown(shown["html"])
    assert parts.links == ["https://example.org/?a=1&b=2"]
    tags = [tag for tag in parts.tags if tag != "span"]
    assert tags == ["h2", "p", "li", "a", "li", "p", "p", "b", "b", "i", "p", "p", "li", "li"]
    assert re.search(r"<a [^>]*>calls</a>", shown["html"])
    assert re.findall('value="(.)"', shown["html"]) == ["1", "2"]
    assert marked in shown["html"]


@pytest.mark.prove
def test_the_page_of_an_export_keeps_links_and_emphasis(browser, address, toy_tflite):
    shown = rich_page(browser, address)
    answers = PocketTranslator(toy_tflite).split_translations(TEXT.split("\n"))
    check_shown(shown, [answer.text for answer in answers], "<b>sees <i>the tree</i></b>")
    copied = browser("copied")
    assert copied["text/plain"].split("\n") == shown["lines"]
    html = Shown(copied["text/html"])
    assert html.links == ["https://example.org/?a=1&b=2"]
    assert [tag for tag in html.tags if tag not in ("meta", "span")] == (
        ["h2", "ul", "li", "a", "li", "p", "b", "b", "i", "p", "ol", "li", "li"]
    )
    changed = browser("typeBefore", "wir .")["html"]
    assert len(Shown(changed).links) == 1 and "<h2" in changed
    assert Shown(browser("pasteHtml", "<b>wir</b>")["html"]).tags.count("b") == 3
    assert browser("click", "Clear")["lines"] == [""]


@pytest.mark.prove
def test_the_page_of_a_server_keeps_links_and_emphasis(browser, toy_tflite):
    with served_api(toy_tflite) as api:
        shown = rich_page(browser, f"{api.url}/")
        sentence = "wir xyz <b>xyz</b> {name} ."
        browser("translate", "")
        alone = browser("pasteHtml", f"<p>{sentence}</p>")
    translator = PocketTranslator(toy_tflite)
    answers = translator.split_translations(TEXT.split("\n"))
    marked, _ = translate_markup(MARKED, translator)  # By the attention of the model.
    check_shown(shown, [answer.text for answer in answers], marked)
    [(expected, report)] = translate_markup([sentence], translator)
    assert f">{expected}</span>" in alone["html"]
    assert bool(alone["flagged"]) == bool(report.flags)


HOSTILE = [
    "<img src=x onerror='ran=1'>",
    "<script>ran=1</script>",
    "<svg onload='ran=1'><a xlink:href='javascript:ran=1'>a</a></svg>",
    "<a href='javascript:ran=1'>a</a>",
    "<a href=' java\tscript:ran=1'>a</a>",
    "<a href='data:text/html,<script>ran=1</script>'>a</a>",
    "<b onmouseover='ran=1' style='background:url(x)'>b</b>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "<math><mtext><b onclick='ran=1'>m</b></mtext></math>",
    "<style>*{display:none}</style>",
    "<template><b>t</b></template>",
    "<p onclick='ran=1'>" * 300,
    "<base href='https://example.org/'>",
]


@pytest.mark.prove
def test_pasted_scripts_never_run(browser, address):
    browser("open", address)
    before = browser("requests")
    for hostile in HOSTILE:
        browser("translate", "")
        shown = browser("pasteHtml", f"<i>wir</i> {hostile} <u>uns</u>")
        parts = Shown(shown["html"])
        assert all(map(ALLOWED.fullmatch, parts.tags)), hostile
        assert parts.attributes <= {"data-block", "dir", "class", "title"}, hostile
        assert shown["ran"] is None and shown["pasted"], hostile
    assert browser("requests") == before


def random_markup(chance, words, tags):
    """Returns words between spaces, some of them in elements that are well nested."""
    if len(words) < 2 or chance.random() < 0.3:
        return " ".join(words)
    place, tag = chance.randint(0, len(words)), chance.choice(tags)
    parts = [random_markup(chance, part, tags) for part in (words[:place], words[place:])]
    chosen = chance.randint(0, 1)
    parts[chosen] = parts[chosen] and f"<{tag}>{parts[chosen]}</{tag}>"
    return " ".join(part for part in parts if part)


@pytest.mark.prove
def test_any_html_becomes_text_with_marks_that_are_nested_and_allowed(page):
    chance = random.Random(5)
    parts = [
        *[
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<i class=x>",
            "</i>",
            "<br>",
            "<!--",
            "-->",
            "<ul>",
            "<li>",
        ],
        *[
            "<a href=https://a.example>",
            "<a href=javascript:x>",
            "</a>",
            "<pre>\n",
            "</pre>",
            "<td>",
        ],
        *[
            "<script>",
            "</script>",
            "<svg>",
            "<h2>",
            "</h2>",
            "<code>",
            "<span style=font-weight:700>",
        ],
        *["</span>", "wir", " ", "\n", "&lt;", "&nbsp;", "<", "<table>", "<div", "uns", "<title>"],
    ]
    fragments = ["".join(chance.choices(parts, k=chance.randint(1, 30))) for _ in range(400)]
    results = page("call", "rich-text.js", "richText", [[fragment] for fragment in fragments])
    inline = []
    for each in results:
        open_ends, last = [], 0
        for mark in each["marks"]:
            assert last <= mark["start"] < mark["end"] <= len(each["text"])
            assert ALLOWED.fullmatch(mark["name"])
            assert mark.get("href") in (None, "https://a.example/")
            while open_ends and open_ends[-1] <= mark["start"]:
                open_ends.pop()
            assert all(mark["end"] <= end for end in open_ends)
            open_ends.append(mark["end"])
            last = mark["start"]
        chosen = [mark for mark in each["marks"] if not re.match("h.|.l", mark["name"])]
        inline.append([each["text"], chosen])
    assert [Shown(html).text for html in page("nodes", "nodesOf", inline)] == [
        text for text, _ in inline
    ]
    assert sum(bool(marks) for _, marks in inline) > 100


@pytest.mark.prove
def test_marks_move_with_the_text_that_is_edited(page):
    chance, rows = random.Random(6), []
    for _ in range(400):
        marks = []
        for name in "biu":  # Nested: each within the one before.
            first, last = (marks[-1]["start"], marks[-1]["end"]) if marks else (0, 20)
            start, end = sorted(chance.choices(range(first, last + 1), k=2))
            if start == end:
                break
            marks.append({"start": start, "end": end, "name": name})
        start, end = sorted(chance.choices(range(21), k=2))
        rows.append([marks, start, end, chance.randint(0, 5)])
    moved = page("call", "rich-text.js", "marksAfterEdit", rows)

    def names_at(marks, place):
        return {mark["name"] for mark in marks if mark["start"] <= place < mark["end"]}

    for (marks, start, end, length), after in zip(rows, moved, strict=True):
        for place in range(20):
            if not start <= place < end:
                now = place if place < start else place - end + start + length
                assert names_at(after, now) == names_at(marks, place)


@pytest.mark.prove
def test_text_and_marks_become_the_same_html_again(page):
    chance = random.Random(3)
    words = [*" ".join(toy.SOURCES).split(), "&amp;", "&lt;b&gt;", "\u05e9", "{x}"]
    tags = ["b", "i", "em", "strong", "u", "s", "code"]
    fragments = [random_markup(chance, chance.choices(words, k=9), tags) for _ in range(300)]
    results = page("call", "rich-text.js", "richText", [[fragment] for fragment in fragments])
    rows = [[each["text"], each["marks"]] for each in results]
    again = page("nodes", "nodesOf", rows)
    # Elements around the same words have no order of their own, but for that of their tags.
    assert again == fragments
    assert page("call", "rich-text.js", "markupOf", rows) == fragments
    assert sum(len(marks) > 1 for _, marks in rows) > 100


def without_empty_marks(html):
    shorter = re.sub(r"<(\w+)></\1>", "", html)
    return html if shorter == html else without_empty_marks(shorter)


@pytest.mark.prove
@pytest.mark.parametrize("words", [9, LONGEST + 1])
def test_marks_are_placed_as_in_python(page, words):
    """The translations have as many words, half as many or twice as many; a third are copies."""
    chance, translations = random.Random(4), {}

    def marked(word):  # A quarter of them with punctuation.
        return chance.choice([*[word] * 9, f"({word})", f"{word},", f"“{word}”"])

    def translate(texts):
        for text in texts:
            count = max(1, int(words * chance.choice([0.5, 1, 1, 2])))
            names = [marked(f"{chance.choice('wwv')}{chance.randint(0, 50)}") for _ in range(count)]
            translations[text] = " ".join(names)
        return [translations[text] for text in texts]

    fragments = [
        random_markup(
            chance, [marked(f"v{chance.randint(0, 50)}") for _ in range(words)], ["b", "i", "u"]
        )
        for _ in range(120)
    ]
    fragments = [fragment for fragment in fragments if "<" in fragment]
    answers = [text for text, _ in translate_markup(fragments, translate)]
    results = page("call", "rich-text.js", "richText", [[fragment] for fragment in fragments])
    names = ("source", "marks", "translation")
    rows = [(each["text"], each["marks"], translations[each["text"]]) for each in results]
    sentences = [dict(zip(names, row, strict=True)) for row in rows]
    [placed] = page("call", "placing.js", "placedMarks", [[sentences]])
    translated = [row[2] for row in rows]
    again = page("nodes", "nodesOf", [*zip(translated, placed, strict=True)])
    assert again == [without_empty_marks(text) for text in answers]
    assert len({*again}) == len(fragments) > 60


@pytest.mark.prove
def test_words_are_aligned_as_in_python(page):
    chance = random.Random(7)
    pairs = [
        WordPair(*(chance.choices(["a", "b", "B", "c", "d", "\u00dcber"], k=k) for k in (m, n)))
        for m, n in ([chance.randint(1, 9), chance.randint(1, 9)] for _ in range(200))
    ]
    rows = [{"source": pair.source, "target": pair.target} for pair in pairs]
    [aligned] = page("call", "aligning.js", "alignPairs", [[rows]])
    for weights, expected in zip(aligned, align_pairs(pairs), strict=True):
        np.testing.assert_allclose(weights, expected, rtol=1e-6)

"""Documents come out as they went in, byte for byte; a translation changes only their text."""

import re
from html.parser import HTMLParser

import hypothesis.strategies as st
import pytest
from hypothesis import given

import kformer
from kformer.documents.html_text import tokens


def same(texts):
    return list(texts)


def upper(texts):
    return [text.upper() for text in texts]


def translated(tmp_path, name, content, translator=same, **options):
    """Returns the bytes of a translated document, and the report."""
    path, output = tmp_path / name, tmp_path / f"out-{name}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    report = kformer.translate_document(path, translator, output, **options)
    return output.read_bytes(), report


WORDS = st.sampled_from(
    [
        "dog",
        "Ünü. ",
        " a ",
        "\r\n",
        "\n\n",
        "\t",
        "&amp;",
        "&nbsp;",
        "&#8212;",
        "<",
        "&",
        '"',
        "日本",
    ]
)
TAGS = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<i class=x>",
            "</i>",
            "<br/>",
            "<!-- c -->",
            "<!DOCTYPE html>",
        ),
        *("<pre>", "</pre>", "<code>", "</code>", "<script>", "</script>", "<div translate=no>"),
        *("</div>", "<img alt='A dog' src=x>", '<a title="T &quot;q&quot;" href="?a&b">', "</a>"),
        *(
            "<ul>",
            "<li>",
            "</ul>",
            "<td",
            "</",
            "<input type=submit value=Go>",
            "<svg/>",
            "<title>",
        ),
    ]
)
PAGES = st.lists(st.one_of(WORDS, TAGS), max_size=40).map("".join)
CUES = st.lists(
    st.tuples(
        st.sampled_from(["\n", "\r\n"]),
        st.lists(
            st.sampled_from(
                ["I went", "- No!", "<i>so", "home</i>.", "{\\an8}Hm", "a & b", "♪ la"]
            ),
            min_size=1,
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=8,
)


def subtitles(cues, vtt=False):
    text = "WEBVTT\n\nNOTE\nnot this\n\n" if vtt else "\ufeff"
    for number, (end, lines) in enumerate(cues, start=1):
        times = f"00:00:{number:02}{'.' if vtt else ','}000 --> 00:00:{number + 1:02},000"
        text += end.join([str(number), times, *lines, "", ""])
    return text


@given(PAGES)
def test_pages_are_the_same_byte_for_byte(tmp_path_factory, page):
    folder = tmp_path_factory.getbasetemp()
    assert translated(folder, "page.html", page)[0] == page.encode()


@given(CUES, st.booleans())
def test_subtitles_are_the_same_byte_for_byte(tmp_path_factory, cues, vtt):
    text = subtitles(cues, vtt)
    name = "film.vtt" if vtt else "film.srt"
    assert translated(tmp_path_factory.getbasetemp(), name, text)[0] == text.encode()


@given(st.text())
def test_plain_text_is_the_same_byte_for_byte(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp()
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return
    assert translated(folder, "text.txt", content)[0] == content


class Reference(HTMLParser):
    """Collects tags with their attributes, and the text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.raw = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        translated = {"alt", "title", "value"}
        self.tags.append((tag, [pair for pair in attrs if pair[0] not in translated]))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        self.tags.append(tag)

    def handle_data(self, data):
        (self.raw if self.cdata_elem else self.texts).append(data)


@given(st.lists(st.one_of(WORDS, TAGS.filter(lambda tag: tag.endswith(">"))), max_size=30))
def test_capitals_change_only_text(tmp_path_factory, parts):
    page = "".join(part for part in parts if part not in ("<", "&", "<title>"))
    output = translated(tmp_path_factory.getbasetemp(), "page.html", page, upper)[0].decode()
    before, after = Reference(page), Reference(output)
    assert sorted(map(repr, after.tags)) == sorted(map(repr, before.tags))
    assert after.raw == before.raw


@given(PAGES)
def test_tokens_are_the_tags_of_pythons_parser(page):
    """Where a tag is complete; else versions of Python differ among themselves."""
    page = re.sub(r"<(?![A-Za-z/!])|<td|</(?![a-z])|<svg/>|<title>", "", page)
    assert "".join(page[token.start : token.end] for token in tokens(page)) == page
    names = [token.name for token in tokens(page) if token.kind in ("start", "end")]
    expected = [tag if isinstance(tag, str) else tag[0] for tag in Reference(page).tags]
    assert names == expected


PAGE = """<!DOCTYPE html>\r
<html lang=en><head><title>A &amp; B</title><style>p{color:red}</style></head>
<p class="x">Hello <b>big</b> world&mdash;see <a href="x?a=1&amp;b=2" title="my 'title'">the
   link</a>.<br>Call {name}!
<img src=dog.png alt='A "dog"'><pre>code <b>here</b></pre>
<p translate="no">Kept</p><p>use <code>print</code> <span class="notranslate">Acme</span>
"""


def test_a_page_keeps_its_structure_code_and_names(tmp_path):
    output, report = translated(tmp_path, "page.html", PAGE, upper)
    expected = PAGE
    for words in ("Hello", "big", "world", "see", "my 'title'", "Call", 'A "dog"', "use"):
        expected = expected.replace(words, words.upper())
    assert output.decode() == expected.replace("the\n   link", "THE LINK")
    assert report.kind == "html" and report.unplaced == ()


def test_a_sentence_over_two_cues_is_translated_whole_and_divided_by_time_and_length(tmp_path):
    text = subtitles([("\n", ["I went to the <i>market</i>", "and"]), ("\n", ["bought apples."])])
    asked = []
    output, _ = translated(tmp_path, "film.srt", text, lambda t: asked.extend(t) or upper(t))
    assert asked == ["I went to the market and bought apples."]
    expected = text.upper().replace("<I>", "<i>").replace("</I>", "</i>")
    assert output.decode() == expected


def test_equal_texts_are_asked_for_once(tmp_path):
    asked = []
    page = "<p>Hello</p>" * 5 + "<p>World</p>"
    _, report = translated(tmp_path, "page.html", page, lambda t: asked.extend(t) or upper(t))
    assert asked == ["Hello", "World"]
    assert (report.segments, report.distinct) == (6, 2)


def test_an_encoding_without_a_character_keeps_the_text_and_reports_it(tmp_path):
    content = "\r\nÄpfel\r\n".encode("utf-16")
    output, report = translated(tmp_path, "a.txt", content, lambda texts: ["→"] * len(texts))
    assert output.decode("utf-16") == "\r\n→\r\n" and not report.unplaced
    page = '<meta charset="latin1"><p>\nÄpfel'.encode("latin-1")
    output, report = translated(tmp_path, "a.html", page, lambda texts: ["Ы"] * len(texts))
    assert output == page.replace("Äpfel".encode("latin-1"), b"&#1067;")


def test_an_answer_that_is_blank_keeps_the_text_and_reports_it(tmp_path):
    output, report = translated(tmp_path, "a.txt", "a\n\nb\n", lambda texts: [""] * len(texts))
    assert output == b"a\n\nb\n"
    assert [(one.line, one.reason) for one in report.unplaced] == [
        (1, "its translation is empty"),
        (3, "its translation is empty"),
    ]


@pytest.mark.parametrize("answer", ["{name}", "", "<b>", "&", "{NAME} {name}{name}", "\n\n"])
def test_a_placeholder_is_there_once_whatever_the_answer_is(tmp_path, answer):
    output, _ = translated(
        tmp_path, "a.html", "<p>Hello <b>you</b>, {name}!", lambda texts: [answer] * len(texts)
    )
    assert output.count(b"{name}") == output.count(b"<b>") == output.count(b"</b>") == 1


def reverse(texts):
    return [" ".join(reversed(text.split())) for text in texts]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("Click <svg><path d=x/><title>I</title></svg> to go", "go <svg>{0}</svg> to Click"),
        ("The <math><mi>x</mi><mo>+</mo></math> is red", "red is <math>{0}</math> The"),
        ("Press <button>Save it</button> now", "now <button>it Save</button> Press"),
        ("Press <my-icon></my-icon> now", "<my-icon></my-icon> now Press"),
        ("Hello <%=a>b%> you", "you <%=a>b%> Hello"),
    ],
)
def test_what_is_drawn_or_pressed_is_a_part_of_the_sentence(page, expected):
    inner = re.search("<(?:svg|math)>(.*)</", page)
    new, _ = kformer.translate_markup(f"<p>{page}</p>", reverse)
    assert new == f"<p>{expected.format(inner[1] if inner else '')}</p>"


def test_an_element_of_the_page_with_text_is_a_block():
    page = "<my-card>One two</my-card><my-card>three four</my-card>"
    new, _ = kformer.translate_markup(page, reverse)
    assert new == "<my-card>two One</my-card><my-card>four three</my-card>"


def test_readings_and_names_of_icons_are_not_translated():
    page = '<p>The <ruby>dog<rt>inu</rt></ruby> <i class="material-icons">home</i></p>'
    assert kformer.translate_markup(page, upper)[0] == page.replace("The", "THE").replace(
        "dog", "DOG"
    )


def test_xhtml_has_numbers_for_spaces_and_scripts_without_an_end():
    page = '<?xml version="1.0"?><p title="a b">x y<script src="a"/></p><p>z</p>'
    new, _ = kformer.translate_markup(
        page, lambda texts: [text.replace(" ", "\xa0") for text in texts]
    )
    assert new == page.replace("a b", "a&#160;b").replace("x y", "x&#160;y")
    assert kformer.translate_markup(page, upper)[0].endswith("<p>Z</p>")


def test_a_text_stays_if_the_translation_of_one_of_its_sentences_is_empty():
    def translate(texts):
        return ["" if "Bye" in text else text.upper() for text in texts]

    text = "Hello there. 12.5. Bye now."
    new, report = kformer.translate_markup(text, translate)
    assert new == text
    assert [each.text for each in report.unplaced] == [text]


@pytest.mark.parametrize("note", ["1", "<a href='#n'>[12]</a>", "*", "a", "3,4"])
def test_a_translator_reads_no_mark_of_a_note(note):
    asked = []

    def translate(texts):
        asked.extend(texts)
        return ["The child sleeps, now." for _ in texts]

    mark = f"<sup>{note}</sup>"
    new, _ = kformer.translate_markup(f"<p>Das Kind{mark} schläft,{mark} jetzt.</p>", translate)
    assert asked == ["Das Kind schläft, jetzt."]
    assert new == f"<p>The child{mark} sleeps,{mark} now.</p>"


@pytest.mark.parametrize("word", ["12 km<sup>2</sup>", "x<sup>2</sup>y", "CO<sub>2</sub>"])
def test_an_index_is_a_part_of_its_word(word):
    asked = []

    def translate(texts):
        asked.extend(texts)
        return reverse(texts)

    new, _ = kformer.translate_markup(f"<p>The {word} and H<sub>2</sub>O here</p>", translate)
    plain = re.sub("<.*?>", "", word)
    assert asked[0] == f"The {plain} and H2O here"
    assert new == f"<p>here H<sub>2</sub>O and {' '.join(reversed(word.split()))} The</p>"

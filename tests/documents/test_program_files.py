"""Strings of programs, of Java, Ruby, .NET and Apple: values alone change, in each way to write."""

import pytest

from kformer.documents.document_translation import translate_content


def texts_of(content, name, **options):
    """Returns the texts that are translated; checks that the file is the same without that."""
    asked = []

    def translate(texts):
        asked.extend(texts)
        return texts

    content = content if isinstance(content, bytes) else content.encode()
    assert translate_content(content, name, translate, **options)[0] == content
    return asked


def written_as(content, name, answer, **options):
    """Returns the document with the answer, or a function of the text, for each text."""
    give = answer if callable(answer) else lambda text: answer
    output, report = translate_content(
        content.encode(), name, lambda texts: [give(text) for text in texts], **options
    )
    assert not report.unplaced
    return output.decode()


PROPERTIES = r"""# A comment = no text
! another
plain=A dog
   spaced  :  the cat
no.separator one two
escaped\ key\:x = caf\u00e9 \u00FC\ttab\\n
goes.on = first \
    second \
    third
trail = end\u0020\t
empty =
url = see http\://a.org/x\=1
"""


def test_values_of_java_are_read_as_java_reads_them():
    for end in ("\n", "\r\n", "\r"):
        assert texts_of(PROPERTIES.replace("\n", end), "a.properties") == [
            "A dog",
            "the cat",
            "one two",
            "café ü\ttab\\n",
            "first second third",
            "end",
            "see http://a.org/x=1",
        ]


def test_values_of_java_are_escaped_as_in_the_file():
    output = written_as(PROPERTIES, "a.properties", str.upper)
    assert output == (
        PROPERTIES.replace("A dog", "A DOG")
        .replace("the cat", "THE CAT")
        .replace("one two", "ONE TWO")
        .replace(r"caf\u00e9 \u00FC\ttab\\n", r"CAF\u00C9 \u00DC\tTAB\\N")
        .replace("first \\\n    second \\\n    third", "FIRST SECOND THIRD")
        .replace(r"end\u0020\t", r"END \t")
        .replace("see", "SEE")
    )


@pytest.mark.parametrize(
    ("file", "text", "written"),
    [
        ("a=b", "é😀", r"a=\u00e9\ud83d\ude00"),
        ("a=b\nc=\\u00C9", "é", r"a=\u00E9"),
        ("a=b # ä", "é😀", "a=é😀"),
        ("a=b", "a \\ \tb", r"a=a \\ \tb"),
        (r"a=\u0020b", "c", r"a=\ c"),
    ],
)
def test_characters_of_java(file, text, written):
    assert written_as(file, "a.properties", text).splitlines()[0] == written


def test_latin_1_of_java_has_escapes_for_other_characters():
    content = "a=für Ö\nb=c\n".encode("latin-1")
    answers = lambda texts: ["é łódź 😀"] * len(texts)  # noqa: E731
    output, report = translate_content(content, "a.properties", answers)
    written = b"\xe9 \\u0142\xf3d\\u017a \\ud83d\\ude00"
    assert output == b"a=" + written + b"\nb=" + written + b"\n" and not report.unplaced


@pytest.mark.parametrize(
    ("file", "text", "written"),
    [
        ("a=Open {0}", "L'{0}", "a=L''{0}"),
        ("a=It''s {0}", "It's {0}", "a=It''s {0}"),
        ("a=Can't open {0}", "L'{0}", "a=L'{0}"),  # The program replaces {0} in its own way.
        ("a=Open it", "L'a", "a=L'a"),
        ("a=It''s\nb=Open it", "L'a", "a=L''a\nb=L''a"),
        ("a=Use '{0}' {0}", "Y {0} {0} z", "a=Y '{0}' {0} z"),
        ("a=b {0}", "c{' {0}", "a=c'{''' {0}"),
        ("a=b {0,date,d 'of' M}", "c {0,date,d 'of' M}", "a=c {0,date,d 'of' M}"),
        (
            "a={n, plural, one {# it''s} other {# b}} c",
            "x",
            "a={n, plural, one {# x} other {# x}} x",
        ),
    ],
)
def test_apostrophes_of_java_are_those_of_message_format(file, text, written):
    assert written_as(file, "a.properties", text) == written

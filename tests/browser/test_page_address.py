"""The page keeps its text and languages in its address, and over a reload."""

from urllib.parse import parse_qs, urlsplit

from support import toy

LONG = "\n".join(toy.SOURCES[:40] * 5)


def kept(browser):
    """The text in the address, once the window is left."""
    browser("look", "void dispatchEvent(new Event('blur'))")
    return parse_qs(urlsplit(browser("look", "location.href")).fragment)


def test_an_address_with_a_text_shows_its_translation(browser, address):
    for place in ("#text=", "?text="):
        opened = browser("open", address + place + toy.SOURCES[0].replace(" ", "%20"))
        assert opened["source"] == toy.SOURCES[0] and opened["lines"] == [toy.TARGETS[0]]
        assert kept(browser) == {"text": [toy.SOURCES[0]]}
        assert "?" not in browser("look", "location.href")
    browser("look", f"void (location.hash = 'text={toy.SOURCES[1].replace(' ', '+')}')")
    assert kept(browser) == {"text": [toy.SOURCES[1]]}
    assert browser("look", "document.getElementById('source').value") == toy.SOURCES[1]


def test_a_reload_keeps_the_text_with_its_marks(page):
    text = f"{toy.SOURCES[0]}\n& 100 % #1 + =?"
    lines = page("translate", text)["lines"]
    assert kept(page) == {"text": [text]}
    page("translate", f"{text}!")  # The address is of the text before.
    page("look", "new Promise((done) => setTimeout(done, 400))")  # The state is written by then.
    again = page("reload")
    assert again["source"] == f"{text}!"
    assert page("translate", text)["lines"] == lines
    page("translate", "")
    assert "<b>" in page("pasteHtml", f"<b>{toy.SOURCES[0]}</b>")["html"]
    kept(page)
    page("reload")
    assert page("look", "document.querySelector('output b').textContent") == toy.TARGETS[0]


def test_a_text_that_is_too_long_for_an_address_is_kept_over_a_reload(page):
    assert len(LONG) > 4_000
    lines = page("translate", LONG)["lines"]
    assert kept(page) == {} and page("look", "location.href.length") < 100
    again = page("reload")
    assert (again["source"], again["lines"]) == (LONG, lines)


def test_an_empty_text_leaves_no_address(page, address):
    page("translate", "wir")
    assert kept(page) == {"text": ["wir"]}
    page("click", "Clear")
    assert kept(page) == {} and page("look", "location.href") == address

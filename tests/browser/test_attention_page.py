"""The page that shows attention, in a real browser."""

import numpy as np
import pytest

from kformer.plot import attention_page

SOURCE = ["▁der", "▁Hund", "▁</script>", "▁läuft", "</s>"]
TARGET = ["<s>", "▁the", "▁dog", "▁runs"]
L, H = 2, 3


def views():
    """Three kinds; the weights of each query are on one key, another for every layer and head."""
    for kind, queries, keys in (
        ("encoder", SOURCE, SOURCE),
        ("decoder", TARGET, TARGET),
        ("cross", TARGET, SOURCE),
    ):
        weights = np.zeros((L, H, len(queries), len(keys)))
        for place in np.ndindex(L, H, len(queries)):
            weights[*place, sum(place) % len(keys)] = 1
        yield kind, queries, keys, weights


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("attention") / "page.html"
    path.write_text(attention_page([*views()], "der Hund & <b>"), "utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    browser("show", address)
    return browser


def shares(page):
    return page("attention")["shares"]


def test_it_begins_with_the_mean_of_the_last_kind(page):
    state = page("attention")
    assert state["title"] == "der Hund & <b>"
    assert state["queries"] == TARGET and state["keys"] == SOURCE
    assert state["chosen"] == 0
    # Of six layers and heads: sums 0, 1, 1, 2, 2, 3.
    assert state["shares"] == [17, 33, 33, 17, 0]
    assert state["requests"] == 1 and state["errors"] == []
    assert state["said"].startswith(f"To write \u201c\u2068{TARGET[0]}\u2069\u201d, the decoder")


def test_pointing_at_a_piece_shows_its_attention_until_the_mouse_leaves(page):
    page("select", "layer", "0"), page("select", "head", "1")
    assert page("hover", 2)["shares"] == [0, 0, 0, 100, 0]  # 0 + 1 + 2
    assert page("leave")["shares"] == [0, 100, 0, 0, 0]
    state = page("press", "Tab")
    assert state["chosen"] == 0


@pytest.mark.parametrize("layer", range(L))
@pytest.mark.parametrize("head", range(H))
def test_each_layer_and_head_has_its_weights(page, layer, head):
    page("select", "layer", str(layer))
    state = page("select", "head", str(head))
    assert state["shares"].index(100) == (layer + head) % len(SOURCE)


def test_the_keyboard_reaches_every_piece_layer_and_head(page):
    page("focus")
    assert page("press", "ArrowRight")["chosen"] == 1
    assert page("press", "End")["chosen"] == 3
    assert page("press", "ArrowDown")["chosen"] == 0
    assert page("press", "ArrowLeft")["chosen"] == 3
    state = page("press", "Home")
    assert state["chosen"] == 0 and state["focused"] == TARGET[0]
    state = page("press", "l")
    assert state["layer"] == "0" and page("press", "Shift+L")["layer"] == "mean"
    assert page("press", "h")["head"] == "0"


def test_another_kind_has_its_own_pieces(page):
    state = page("select", "kind", "0")
    assert state["queries"] == state["keys"] == SOURCE
    assert "attends to" in state["said"]


def test_a_tap_chooses_and_everything_fits_on_a_phone(browser, address):
    browser("show", address, {"viewport": {"width": 360, "height": 740}, "hasTouch": True})
    state = browser("tap", 3)
    assert state["chosen"] == 3
    assert state["width"] <= 360  # Nothing makes the page itself scroll sideways.
    assert state["smallest"] >= 44  # Pixels of what is to be tapped.


def test_dark_and_light_differ_and_the_text_can_be_read(browser, address):
    contrasts = {}
    for scheme in ("light", "dark"):
        state = browser("show", address, {"colorScheme": scheme})
        contrasts[scheme] = state["contrast"]
        assert state["contrast"] >= 7  # WCAG 2.2, level AAA, for text.
    assert browser("attention")["background"] != "rgb(255, 255, 255)"


def test_scripts_of_any_kind_keep_their_direction(browser, tmp_path):
    pieces = ["▁שלום", "▁عالم", "▁世界", "▁ক্ষ", "👩‍👩‍👧"]
    path = tmp_path / "page.html"
    weights = np.eye(5)[np.newaxis, np.newaxis]
    path.write_text(attention_page([("encoder", pieces, pieces, weights)], "שלום"), "utf-8")
    state = browser("show", path.as_uri())
    assert state["queries"][:4] == pieces[:4]
    assert state["direction"] == "rtl"
    browser("focus")
    assert browser("press", "ArrowLeft")["chosen"] == 1  # To the left is forward.


def test_views_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"weights.shape=\(2, 3\)"):
        attention_page([("cross", TARGET, SOURCE, np.zeros((2, 3)))], "")
    with pytest.raises(ValueError, match="no views"):
        attention_page([], "")

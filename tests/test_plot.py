from itertools import pairwise

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from kformer.plot import (
    figures,
    plot_attention,
    plot_confusion,
    plot_history,
    plot_positions,
    plot_schedules,
    save_figure,
)
from kformer.plot.figures import FONT, fonts_for
from support.processes import printed_by

PIECES = [
    "▁Grüße",
    "▁aus",
    "▁der",
    "▁schön",
    "en",
    "▁Straßen",
    "bahn",
    "▁ÄÖÜ",
    "$a$",
    "<0xE2>",
    ".",
]


def pieces(count):
    return [PIECES[i % len(PIECES)] for i in range(count)]


def random_weights(*shape):
    weights = np.random.uniform(size=shape)
    return weights / weights.sum(axis=-1, keepdims=True)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]


def test_queries_go_down_and_keys_across():
    weights = random_weights(5, 3)
    ax, bar = plot_attention(weights, pieces(5), pieces(3), title="Grüße").axes
    assert labels(ax.xaxis) == pieces(3) and labels(ax.yaxis) == pieces(5)
    assert ax.get_xticks().tolist() == [0, 1, 2] and ax.get_yticks().tolist() == [0, 1, 2, 3, 4]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("piece that attends", "attended to")
    np.testing.assert_array_equal(ax.images[0].get_array(), weights)
    assert ax.get_ylim() == (4.5, -0.5)  # The first query is at the top.
    assert bar.get_ylabel() == "attention weight"


def test_the_colours_go_from_0_to_1_whatever_the_weights():
    figure = plot_attention(np.full((3, 2), 0.5), pieces(3), pieces(2), title="Mean")
    assert figure.axes[0].images[0].get_clim() == (0, 1)
    assert figure.axes[1].get_ylim() == (0, 1)
    assert figure.get_suptitle() == "Mean"


def test_a_grid_has_layers_down_and_heads_across_and_labels_outside():
    weights = random_weights(2, 3, 5, 7)
    figure = plot_attention(weights, pieces(5), pieces(7), axes=("rows", "columns"))
    *maps, _ = figure.axes
    assert figure.get_supylabel() == "rows"  # Once: low maps have no room for one each.
    assert [ax.get_ylabel() for ax in maps] == [""] * 6
    assert [ax.get_xlabel() for ax in maps] == [""] * 3 + ["columns"] * 3
    for ax, expected in zip(maps, weights.reshape(6, 5, 7), strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), expected)
    titles = [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)]
    assert [ax.get_title() for ax in maps] == titles
    has_queries = [ax.yaxis.get_tick_params()["labelleft"] for ax in maps]
    has_keys = [ax.xaxis.get_tick_params()["labelbottom"] for ax in maps]
    assert has_queries == [True, False, False, True, False, False]
    assert has_keys == [False, False, False, True, True, True]
    assert labels(maps[3].yaxis) == pieces(5) and labels(maps[3].xaxis) == pieces(7)


def test_a_row_of_heads_is_a_grid_of_one_layer():
    *maps, _ = plot_attention(random_weights(3, 5, 7), pieces(5), pieces(7)).axes
    assert [ax.get_title() for ax in maps] == ["head 1", "head 2", "head 3"]


def test_maps_have_the_numbers_of_the_chosen_layers_and_heads():
    figure = plot_attention(random_weights(1, 2, 3, 3), *[pieces(3)] * 2, layers=[4], heads=[2, 7])
    assert [ax.get_title() for ax in figure.axes[:-1]] == ["layer 4, head 2", "layer 4, head 7"]


@pytest.mark.sample(4)
@pytest.mark.parametrize("shape", [(8, 53, 53), (8, 20, 120), (2, 2, 150, 160), (300, 300)])
def test_a_picture_of_long_texts_stays_under_4000_pixels_with_its_labels(shape):
    queries, keys = pieces(shape[-2]), pieces(shape[-1])
    figure = plot_attention(np.full(shape, 0.01), queries, keys, "Grüße")
    assert max(figure.get_size_inches()) * 150 < 4000
    *maps, _ = figure.axes
    assert len(maps) == int(np.prod(shape[:-2]))
    first, last = maps[0], maps[-1]
    assert labels(last.xaxis)[0] == keys[0] and labels(first.yaxis)[0] == queries[0]
    places = last.get_xticks().astype(int)
    assert labels(last.xaxis) == [keys[place] for place in places]
    assert last.xaxis.get_ticklabels()[0].get_fontsize() >= 4


@pytest.mark.prove
@pytest.mark.parametrize("shape", [(3, 3), (40, 40), (3, 40), (2, 3, 11, 5), (1, 2, 40, 31)])
def test_every_label_is_drawn_inside_the_figure_and_clear_of_the_next(shape):
    """Missing glyphs would be warnings, and so errors here."""
    figure = plot_attention(random_weights(*shape), pieces(shape[-2]), pieces(shape[-1]), "Grüße")
    figure.draw_without_rendering()
    for ax in figure.axes[:-1]:
        rows = [x.get_window_extent() for x in ax.yaxis.get_ticklabels() if x.get_visible()]
        columns = [x.get_window_extent() for x in ax.xaxis.get_ticklabels() if x.get_visible()]
        for box in rows + columns:
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
        assert all(a.y0 >= b.y1 - 1 for a, b in pairwise(rows))


@pytest.mark.parametrize(
    ("shape", "queries", "keys"), [((3, 5), 5, 3), ((5,), 1, 5), ((2, 3), 2, 2)]
)
def test_there_must_be_a_piece_for_every_row_and_column(shape, queries, keys):
    received = rf"shape=\({', '.join(map(str, shape))},?\), len\(queries\)={queries}"
    with pytest.raises(ValueError, match=rf"Received: weights.{received}, len\(keys\)={keys}"):
        plot_attention(np.zeros(shape), pieces(queries), pieces(keys))


def test_every_metric_has_a_panel_with_training_and_validation():
    history = {"loss": [3.0, 2.0, 1.0], "accuracy": [0.1, 0.5, 0.7], "val_loss": [3.5, 2.5, 2.0]}
    figure = plot_history(history)
    loss, accuracy = figure.axes
    training, validation = loss.lines
    assert loss.get_title("left") == "loss" and loss.get_xlabel() == "epoch"
    assert training.get_xydata().tolist() == [[1, 3.0], [2, 2.0], [3, 1.0]]
    assert validation.get_xydata().tolist() == [[1, 3.5], [2, 2.5], [3, 2.0]]
    colors = training.get_color(), validation.get_color()
    assert legend(figure) == dict(zip(("training", "validation"), colors, strict=True))
    (line,) = accuracy.lines
    assert accuracy.get_title("left") == "accuracy" and line.get_color() == training.get_color()


def legend(figure):
    """What the legend says of which colour."""
    (found,) = figure.legends
    lines = zip(found.texts, found.legend_handles, strict=True)
    return {text.get_text(): line.get_color() for text, line in lines}


def titles(figure, loc="left"):
    return [ax.get_title(loc) for ax in figure.axes]


def test_the_loss_comes_first_then_the_scores_and_what_is_not_known_last():
    names = ["tokens/s", "my_metric", "accuracy", "loss", "val_loss", "val_chrf", "val_bleu"]
    figure = plot_history({name: [1.0, 2.0] for name in names})
    assert titles(figure) == ["loss", "BLEU", "chrF", "accuracy", "tokens/s", "my metric"]


def test_the_best_epoch_is_marked_in_every_panel_with_its_values_of_validation():
    history = {"loss": [3.0, 2.0, 1.0], "val_loss": [3.5, 2.5, 2.75], "tokens/s": [7e3, 8e3, 9e3]}
    figure = plot_history(history, best=2)
    assert titles(figure, "right") == ["epoch 2: 2.5", ""]
    for ax in figure.axes:
        *curves, mark = ax.lines
        assert mark.get_xdata() == [2, 2]
        assert all(len(curve.get_xdata()) == 3 for curve in curves)
    assert list(legend(figure)) == ["training", "validation", "best epoch: 2"]


def test_without_a_best_epoch_none_is_marked():
    figure = plot_history({"loss": [3.0, 2.0], "val_loss": [3.5, 2.5]})
    assert titles(figure, "right") == [""]
    assert list(legend(figure)) == ["training", "validation"]


@pytest.mark.parametrize(
    ("best", "rule"), [(0, "at least 1"), (3, "at most 2"), (-1, "at least 1")]
)
def test_the_best_epoch_is_one_of_them(best, rule):
    with pytest.raises(ValueError, match=f"`best` must be {rule}. Received: best={best}"):
        plot_history({"loss": [1.0, 2.0]}, best)


def test_a_note_says_why_validation_may_be_better_where_both_losses_are_drawn():
    both = plot_history({"loss": [3.0, 2.0], "val_loss": [2.5, 1.9]})
    assert "Dropout is on in training" in both.get_supxlabel()
    assert not plot_history({"loss": [3.0, 2.0], "val_bleu": [1.0, 2.0]}).get_supxlabel()


def test_large_numbers_have_separators():
    figure = plot_history({"tokens/s": [29000.0, 30000.0], "perplexity": [20000.0, 900.0]})
    figure.draw_without_rendering()
    perplexity, speed = (labels(ax.yaxis) for ax in figure.axes)
    assert "30,000" in speed and "1,000" in perplexity


def test_speed_and_learning_rate_are_drawn_from_zero_and_a_score_is_not():
    figure = plot_history({"bleu": [30.0, 31.0], "tokens/s": [900, 910], "learning_rate": [2, 1]})
    bleu, rate, speed = (ax.get_ylim() for ax in figure.axes)
    assert bleu[0] > 29
    assert -100 < speed[0] <= 0 and speed[1] > 910
    assert -0.5 < rate[0] <= 0 and rate[1] > 2


@pytest.mark.prove
@pytest.mark.parametrize("epochs", [1, 2, 20])
def test_every_panel_stays_clear_of_the_others(epochs):
    values = [2.0**-i for i in range(epochs)]
    names = ["loss", "val_loss", "val_bleu", "perplexity", "val_perplexity", "tokens/s"]
    figure = plot_history(dict.fromkeys(names, values), best=epochs)
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    boxes.append(figure.legends[0].get_window_extent())
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_one_epoch_and_validation_alone_can_be_drawn():
    figure = plot_history({"val_bleu": [31.0]})
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert ax.get_title("left") == "BLEU" and list(legend(figure)) == ["validation"]
    assert [x for x in ax.get_xticks() if 0.5 <= x <= 1.5] == [1]


def test_an_empty_history_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"Received: history=\{\}"):
        plot_history({})


@pytest.mark.prove
@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.b.pdf", b"%PDF")]
)
def test_the_suffix_decides_the_format(name, start, tmp_path):
    save_figure(plot_attention(random_weights(3, 2), pieces(3), pieces(2)), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_unknown_suffix_names_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match=r"\.pdf, \.png or \.svg\. Received: path='.*a\.gif'"):
        save_figure(plot_history({"loss": [1.0]}), tmp_path / "a.gif")


def test_a_picture_that_fails_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    figure, path = plot_history({"loss": [1.0]}), tmp_path / "a.png"
    path.write_text("old")

    def fail(partial, **_):
        partial.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(figure, path)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_pictures_need_neither_tensorflow_nor_pyplot():
    heavy = {"tensorflow", "keras", "matplotlib.pyplot"}
    code = f"import sys, kformer.plot; print({heavy} & {{*sys.modules}})"
    assert printed_by("-c", code).strip() == "set()"


def test_a_font_of_boxes_for_every_character_is_no_font(monkeypatch):
    boxes = [font for font in font_manager.fontManager.ttflist if "Last Resort" in font.name]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", boxes)  # Part of matplotlib 3.11.
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    with pytest.raises(ValueError, match=r"\(U\+0928\), .*which no installed font has"):
        fonts_for(["a न"])


def test_every_count_in_a_cell_can_be_read():
    counts = np.eye(21, dtype=int) * np.arange(0, 101, 5)[:, np.newaxis]  # Shares of 100.
    counts[:, -1] += 100 - counts.sum(axis=1)
    [ax] = plot_confusion(counts, [*map(str, range(21))]).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted label", "true label")
    assert ax.get_title() == "50.0 % of 2,100 texts are right"
    for text, share in zip(ax.texts, (counts / 100).ravel(), strict=True):
        cell = np.array(ax.images[0].to_rgba(share)[:3])
        linear = np.where(cell <= 0.04045, cell / 12.92, ((cell + 0.055) / 1.055) ** 2.4)
        light = float(linear @ [0.2126, 0.7152, 0.0722])
        ink = {"black": 0.0, "white": 1.0}[text.get_color()]
        assert (max(light, ink) + 0.05) / (min(light, ink) + 0.05) >= 4.5  # WCAG 2.2, level AA.


def test_a_cell_with_room_shows_its_share_and_a_long_label_has_several_lines():
    names = ["a", "complaints about a delivery that was late"]
    [ax] = plot_confusion(np.array([[1, 3], [0, 1200]]), names).axes
    assert [text.get_text() for text in ax.texts] == [
        "1\n25 %",
        "3\n75 %",
        "0\n0 %",
        "1,200\n100 %",
    ]
    assert labels(ax.yaxis) == ["a", "complaints about a\ndelivery that was\nlate"]


def test_equal_schedules_share_a_curve_and_others_differ_in_more_than_colour():
    figure = plot_schedules({"a": lambda step: step, "b": lambda _: 1.0, "c": lambda step: step}, 9)
    [ax] = figure.axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a, c", "b"]
    assert len({line.get_linestyle() for line in ax.lines}) == len(ax.lines) == 2


def test_positions_are_drawn_with_what_their_distance_makes_of_them():
    d_model, length = 16, 40
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(length)[:, None] * frequencies
    encodings = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)
    heat, products, bar = plot_positions(encodings).axes
    np.testing.assert_array_equal(heat.images[0].get_array(), encodings)
    assert (heat.get_xlabel(), heat.get_ylabel()) == (
        "dimension of the encoding",
        "position (ids from the start)",
    )
    distances, drawn = products.lines[0].get_data()
    np.testing.assert_array_equal(distances, np.arange(length))
    expected = [np.cos(distance * frequencies).sum() for distance in range(length)]
    np.testing.assert_allclose(drawn, expected, atol=1e-9)
    assert products.get_xlabel() == "distance of two positions (ids)"
    assert bar.get_ylabel() == "value (sine or cosine)"


def test_schedules_are_drawn_over_the_same_steps():
    rates = {"early": lambda step: 1 / (1 + step), "late": lambda step: step / 1e4}
    [axes] = plot_schedules(rates, 2000).axes
    assert axes.get_xlabel() == "step (updates of the weights)"
    assert axes.get_ylabel() == "learning rate" and axes.get_ylim()[0] == 0
    for line, (name, rate) in zip(axes.lines, rates.items(), strict=True):
        steps, drawn = line.get_data()
        assert line.get_label() == name and (steps[0], steps[-1]) == (0, 2000)
        np.testing.assert_allclose(drawn, [rate(step) for step in steps])


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: plot_positions(np.zeros(3)), r"encodings\.shape=\(3,\)"),
        (lambda: plot_schedules({}, 5), "schedules={}"),
        (lambda: plot_schedules({"a": float}, 0), "steps=0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, said):
    with pytest.raises(ValueError, match=said):
        draw()


@pytest.mark.parametrize("draw", [plot_attention, plot_confusion])
def test_a_character_of_no_installed_font_is_named(draw, monkeypatch):
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])  # None but matplotlib's own.
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    texts = ["▁a", "\U00013000b"]
    arguments = (texts, texts) if draw is plot_attention else (texts,)
    with pytest.raises(ValueError, match=r"\(U\+13000\), which no installed font has"):
        draw(np.eye(2), *arguments)


def test_other_installed_fonts_are_used_where_the_first_lacks_characters(monkeypatch):
    lacking = set("ab")
    of_file = figures._characters
    monkeypatch.setattr(
        figures,
        "_characters",
        lambda path: of_file(path) - (lacking if path == font_manager.findfont(FONT) else set()),
    )
    [first, *others] = fonts_for(["ab"])
    assert first == FONT and others


def with_one_glyph(path, character):
    """Writes a font whose only character beyond ASCII's space is `character`."""
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([".notdef", "sign"])
    builder.setupCharacterMap({ord(character): "sign"})
    pen = TTGlyphPen(None)
    for point in [(0, 0), (0, 500), (500, 500)]:
        (pen.lineTo if pen.points else pen.moveTo)(point)
    pen.closePath()
    builder.setupGlyf({".notdef": pen.glyph(), "sign": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "sign": (500, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "One Sign", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


def test_a_font_that_was_installed_after_matplotlib_listed_its_fonts_is_found(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(font_manager, "X11FontDirectories", [tmp_path])
    monkeypatch.setattr(font_manager, "_get_fontconfig_fonts", list)
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])
    with pytest.raises(ValueError, match=r"U\+13000"):
        fonts_for(["\U00013000"])
    (tmp_path / "damaged.ttf").write_bytes(b"no font")
    with_one_glyph(tmp_path / "one.ttf", "\U00013000")
    assert fonts_for(["\U00013000"]) == [FONT, "One Sign"]

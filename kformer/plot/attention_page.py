"""A web page that shows attention: one file, which fetches nothing."""

import base64
import html
import json
from collections.abc import Sequence
from importlib import resources
from string import Template

import numpy as np

KINDS = ("encoder", "decoder", "cross")
_NO_SELF_ATTENTION = (
    "<p>The decoder has no self-attention to show: a recurrent unit reads the earlier words.</p>"
)


def attention_page(views: Sequence, title: str) -> str:
    """Returns a page where pointing at a piece shows the pieces that it attends to.

    It has every layer and head, and their means; works with a mouse, by touch and from the
    keyboard, in light and dark, and in any script that the reader's device has fonts for. Weights
    are rounded to 1 / 255. A note says so where a decoder attends to a source and not to itself.

    Args:
        views: The kinds of attention, `kformer.tasks.attention_maps.View` or as many tuples: the
            kind, "encoder", "decoder" or "cross"; Q pieces, which attend or, for a decoder, are
            written; K pieces that are attended to; and weights in [0, 1], float array (L, H, Q, K).
        title: Title of the page.

    Raises:
        ValueError: There is no view, or the weights of a view have another shape.

    Examples:
        >>> from pathlib import Path
        >>> import kformer
        >>> views = kformer.load("runs/de-en/translator.keras").attend("Ein Hund läuft.").views()
        >>> page = kformer.attention_page(views, "Ein Hund läuft.")
        >>> _ = Path("attention.html").write_text(page, encoding="utf-8")
        >>> page.startswith("<!doctype html>")
        True
    """
    if not views:
        raise ValueError("A page needs attention to show. Received: no views.")
    template = resources.files("kformer.plot") / "attention.html"
    data = json.dumps([_data(*view) for view in views], ensure_ascii=False)
    kinds = {kind for kind, *_ in views}
    return Template(template.read_text("utf-8")).substitute(
        title=html.escape(title),
        note=_NO_SELF_ATTENTION if "cross" in kinds and "decoder" not in kinds else "",
        # The only character that could end the element that holds it.
        data=data.replace("<", "\\u003c"),
    )


def _data(kind, queries, keys, weights):
    weights = np.asarray(weights)
    if kind not in KINDS or weights.ndim != 4 or weights.shape[2:] != (len(queries), len(keys)):
        raise ValueError(
            f"A view must be one of {', '.join(KINDS)} with Q queries, K keys and weights "
            f"(L, H, Q, K). Received: kind={kind!r}, {len(queries)} queries, {len(keys)} keys, "
            f"weights.shape={weights.shape}."
        )
    return {
        "kind": kind,
        "queries": [*queries],
        "keys": [*keys],
        "layers": weights.shape[0],
        "heads": weights.shape[1],
        "weights": base64.b64encode(np.round(255 * weights).astype(np.uint8)).decode("ascii"),
    }

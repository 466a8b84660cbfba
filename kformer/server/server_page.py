"""The web page of a server: the page of the export, with answers of the server."""

import json
from importlib import resources

from starlette.responses import Response

from kformer.text.paragraphs.abbreviations import read_abbreviations

_FILES = {  # Files of the page of the export that serve here unchanged, with their types.
    "page.css": "text/css",
    "page.js": "text/javascript",
    "facts.js": "text/javascript",
    "directions.js": "text/javascript",
    "sentences.js": "text/javascript",
    "joining.js": "text/javascript",
    "rich-text.js": "text/javascript",
    "aligning.js": "text/javascript",
    "placing.js": "text/javascript",
    "lines.js": "text/javascript",
    "abbreviations.js": "text/javascript",
    "marks.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "icon-192.png": "image/png",
}
_MANIFEST = '<link rel="manifest" href="page.webmanifest">\n'  # There is nothing to install.
_STAYS = "What you type stays here: your browser translates, and sends nothing."
_IS_SENT = "What you type is sent to this server, which translates it."
_FACTS = """
function factsOf({ licence, citation }) {
  return [licence && `Licence: ${licence}`, citation].filter(Boolean);
}
"""
_KEY_FORM = """<form id="key-form" class="head" hidden>
    <label for="key">Key of this server</label>
    <input id="key" type="password" autocomplete="off" required>
    <button type="submit">Use this key</button>
  </form>
  """
_KEY_STYLE = """
#key-form {
  justify-content: flex-start;
  gap: 0.75rem;
}
"""
_SIDES = '<div class="sides">'
_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def page_file(name: str) -> Response | None:
    """Returns a file of the page, "" for the page itself; None if there is none of this name."""
    page = resources.files("kformer.export.web")
    if name == "":
        html = (page / "index.html").read_text("utf-8")
        html = html.replace(_MANIFEST, "").replace(_STAYS, _IS_SENT)
        return _response(html.replace(_SIDES, _KEY_FORM + _SIDES), "text/html")
    own = resources.files("kformer.server")
    if name in _FILES:
        added = {"facts.js": _FACTS.encode(), "page.css": _KEY_STYLE.encode()}
        if name == "page.js":
            added[name] = (own / "server-key.js").read_bytes()
        return _response((page / name).read_bytes() + added.get(name, b""), _FILES[name])
    if name == "worker.js":
        return _response((own / "server-worker.js").read_bytes(), "text/javascript")
    if name == "offline.js":  # The page needs its server.
        return _response("const keepForOffline = async () => false;\n", "text/javascript")
    if name == "languages.js":
        data = json.dumps(read_abbreviations(), ensure_ascii=False)
        return _response(f"const LANGUAGES = {data};\n", "text/javascript")
    return None


def _response(content, media_type):
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=media_type, headers=headers)

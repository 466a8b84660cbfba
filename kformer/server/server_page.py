"""The web page of a server: the page of the export, with answers of the server."""

import json
from importlib import resources
from pathlib import PurePath

from starlette.responses import Response

from kformer.text.paragraphs.abbreviations import read_abbreviations

_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
_NAMES = {  # Files of the page of the export that serve here unchanged.
    "fields.css",
    "page.js",
    "address.js",
    "linked-sides.js",
    "mirror.js",
    "browser-translator.js",
    "translator.js",
    "translator-error.js",
    "fields.js",
    "lines.js",
    "messages.js",
    "strings.js",
    "facts.js",
    "directions.js",
    "sentences.js",
    "joining.js",
    "rich-text.js",
    "aligning.js",
    "placing.js",
    "abbreviations.js",
    "marks.js",
    "icon.svg",
    "icon-192.png",
}
_OWN = {
    "worker-engine.js": "server-engine.js",
    "server-api.js": "server-api.js",
    "server-files.js": "server-files.js",
    "server-key.js": "server-key.js",
    "server-requests.js": "server-requests.js",
}
_CHANGES = {  # Of the page's HTML.
    '<link rel="manifest" href="page.webmanifest">\n': "",  # There is nothing to install.
    '<script src="opened-as-file.js" defer></script>\n': "",
    'data-text="stays">What you type stays here: your browser translates, and sends nothing.': (
        'data-text="sent">What you type is sent to this server, which translates it.'
    ),
    '<div class="sides">': """<form id="key-form" class="head" hidden>
    <label for="key" data-text="key">Key of this server</label>
    <input id="key" type="password" autocomplete="off" required>
    <button type="submit" data-text="use key">Use this key</button>
  </form>
  <div class="sides">""",
    "  <footer>\n": """  <section id="files" class="more" aria-labelledby="files-title" hidden>
    <h2 id="files-title" data-text="file">Translate a file</h2>
    <p>
      <button id="choose-file" type="button" data-text="choose file">Choose a file</button>
      <input id="file" type="file" hidden>
      <span id="file-kinds"></span>
    </p>
    <p id="file-status" role="status"></p>
  </section>
  <section id="api" class="more" aria-labelledby="api-title" hidden>
    <h2 id="api-title" data-text="api">For programs</h2>
    <pre id="api-example" tabindex="0" aria-labelledby="api-title"></pre>
    <p><a href="openapi.json" data-text="api addresses">All addresses (OpenAPI)</a></p>
  </section>
  <footer>
""",
}
_STYLE = """
#key-form {
  justify-content: flex-start;
  gap: 0.75rem;
}

.more {
  margin-top: 2rem;
  color: var(--faint);
  font-size: 0.9rem;
}

.more h2 {
  margin: 0;
  color: var(--ink);
  font-size: 1rem;
}

.more p {
  margin: 0.5rem 0;
}

.more a {
  color: var(--accent);
}

.more pre {
  margin: 0.5rem 0;
  padding: 0.75rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--sheet);
  color: var(--ink);
  overflow-wrap: anywhere;
  white-space: pre-wrap;
}

#file-kinds {
  margin-inline-start: 0.5rem;
  overflow-wrap: anywhere;
}

#file-status:empty {
  display: none;
}
"""
_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


PAGE_FILES = ("", "page.css", "offline.js", "languages.js", *sorted(_NAMES), *_OWN)


def page_file(name: str) -> Response:
    """Returns a file of the page, one of `PAGE_FILES`; "" is the page itself."""
    page, own = resources.files("kformer.export.web"), resources.files("kformer.server")
    if name == "":
        html = (page / "index.html").read_text("utf-8")
        for text, replacement in _CHANGES.items():
            html = html.replace(text, replacement)
        return _response(html, "text/html")
    kind = _TYPES.get(PurePath(name).suffix, "")
    if name in _NAMES:
        return _response((page / name).read_bytes(), kind)
    if name in _OWN:
        return _response((own / _OWN[name]).read_bytes(), kind)
    if name == "page.css":
        return _response((page / name).read_text("utf-8") + _STYLE, kind)
    if name == "offline.js":  # The page needs its server.
        return _response("export const keepForOffline = async () => false;\n", kind)
    data = json.dumps(read_abbreviations(), ensure_ascii=False)
    return _response(f"export const LANGUAGES = {data};\n", kind)


def _response(content, media_type):
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=media_type, headers=headers)

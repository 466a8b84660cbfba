"""A web page that translates in the browser, offline, with LiteRT.js.

- `writer`: `export_web_page`.
- `litert_js`: finds LiteRT.js where npm installed it.
- `offline`: the service worker's list of files.
- `page/`: HTML, CSS and JavaScript of the page.
"""

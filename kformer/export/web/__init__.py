"""A web page that translates in the browser, offline, with LiteRT.js.

- `page_writer`: `export_web_page`, with the service worker's list of files.
- `litert_js`: finds LiteRT.js where npm installed it.

The HTML, CSS and JavaScript files beside them are the page.
"""

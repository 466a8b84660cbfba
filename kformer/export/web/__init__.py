"""A web page that translates in the browser, offline, with LiteRT.js.

- `page_writer`: `export_web_page`, with the service worker's list of files.
- `litert_js`: finds LiteRT.js where npm installed it.
- `npm_package`: `package.json`, with which bundlers and Node.js import the page's module.

The HTML, CSS and JavaScript files beside them are the page. Its module is `kformer.js`:
`translator.js` translates text with an engine, `litert-engine.js`, which `worker-engine.js` runs in
a worker. `fields.js` shows a text and its translation, in the page and in `<kformer-translator>`.
"""

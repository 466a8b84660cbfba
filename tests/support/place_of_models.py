"""A place of published models on 127.0.0.1, as Mozilla's Remote Settings and other servers are.

The fields of a record are those of the collection translations-models-v2.
"""

import contextlib
import hashlib
import http.server
import json
import threading

import zstandard


class Place(http.server.ThreadingHTTPServer):
    """Serves files from memory, with ranges; it can break off, and count what it was asked.

    Attributes:
        files: Content of each path.
        asked: Path and range of each request.
        breaks: Bytes of the body after which an answer breaks off, by path.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.asked, self.breaks = {}, [], {}
        self.url = f"http://127.0.0.1:{self.server_port}"

    def add_firefox(self, files, source="de", target="en", version="3.0", **changes):
        """Adds the files of a model, by their kinds: (name, content)."""
        records = json.loads(self.files.get("/records", b'{"data": []}'))
        for kind, (name, content) in files.items():
            packed = zstandard.compress(content)
            location = f"main-workspace/models/{len(records['data'])}.zst"
            self.files[f"/{location}"] = packed
            record = {
                "id": location,
                "schema": 1749570042331,
                "last_modified": 1749570511392,
                "name": name,
                "sourceLanguage": source,
                "targetLanguage": target,
                "architecture": "tiny",
                "version": version,
                "fileType": kind,
                "filter_expression": "",
                "decompressedSize": len(content),
                "decompressedHash": hashlib.sha256(content).hexdigest(),
                "attachment": {
                    "filename": f"{name}.zst",
                    "location": location,
                    "hash": hashlib.sha256(packed).hexdigest(),
                    "mimetype": "application/zstd",
                    "size": len(packed),
                },
            }
            records["data"].append(record | changes)
        self.files["/records"] = json.dumps(records).encode()

    def paths(self):
        """Returns the paths that were asked for, without the lists."""
        return [path for path, _ in self.asked if path not in ("/records", "/index.json")]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        place, wanted = self.server, self.headers.get("Range")
        place.asked.append((self.path, wanted))
        content = place.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        tag = f'"{hashlib.sha256(content).hexdigest()}"'
        is_same = self.headers.get("If-Range", tag) == tag
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and is_same else 0
        self.send_response(206 if begin else 200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(content) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(content[begin : place.breaks.get(self.path)])
        if self.path in place.breaks:
            self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def opened():
    """Yields a `Place` that serves in a thread."""
    place = Place()
    thread = threading.Thread(target=place.serve_forever, daemon=True)
    thread.start()
    try:
        yield place
    finally:
        place.shutdown()
        place.server_close()
        thread.join()

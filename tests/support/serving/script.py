"""Servers that do what a script says, request by request: for REST and for gRPC."""

import contextlib
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from google.protobuf.message import Message
from tensorflow import make_tensor_proto
from tensorflow_serving.apis.model_service_pb2_grpc import (
    ModelServiceServicer,
    add_ModelServiceServicer_to_server,
)
from tensorflow_serving.apis.predict_pb2 import PredictResponse
from tensorflow_serving.apis.prediction_service_pb2_grpc import (
    PredictionServiceServicer,
    add_PredictionServiceServicer_to_server,
)


class Script:
    """Acts for requests in turn; after the last one, good answers.

    Args:
        *acts: a status of HTTP or a name of gRPC, "reset", "drip" or "flood" (answers that never
            end), a number of seconds to wait as a float, a dict of an HTTP status and its headers,
            bytes or another string as the content of an answer, a tuple of a status, such content
            and headers, or for gRPC a message to answer with.
    """

    def __init__(self, *acts):
        self._acts, self._lock = iter(acts), threading.Lock()
        self.times, self.headers = [], []  # Of requests.

    def next(self, headers):
        with self._lock:
            self.times.append(time.monotonic())
            self.headers.append(dict(headers))
            return next(self._acts, None)


@contextlib.contextmanager
def rest_server(script, tls=None, port=0):
    """Yields the URL of a REST server; `tls` is an `ssl.SSLContext`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.respond(None)

        def do_POST(self):
            self.respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def respond(self, request):
            act, headers, code = script.next(self.headers), {}, 200
            if isinstance(act, dict):
                [(act, headers)] = act.items()
            if isinstance(act, tuple):
                code, act, headers = act
            if isinstance(act, float):
                time.sleep(act)
            if act == "reset":
                # With a linger of no time, closing sends a reset.
                linger = (1).to_bytes(4, "little") + (0).to_bytes(4, "little")
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            if act in ("drip", "flood"):
                self.go_on(*{"drip": (b" ", 0.02), "flood": (b" " * 2**16, 0)}[act])
            elif isinstance(act, int):
                self.answer(act, json.dumps({"error": f"act {act}"}), headers)
            elif isinstance(act, str | bytes):
                self.answer(code, act, headers)
            else:
                texts = request["inputs"]["text"]
                outputs = {"translation": texts, "score": [0.0] * len(texts)}
                self.answer(200, json.dumps({"outputs": outputs}), headers)

        def answer(self, code, content, headers):
            content = content.encode() if isinstance(content, str) else content
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def go_on(self, part, wait):
            self.send_response(200)
            self.send_header("Content-Length", str(2**40))
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(part)
                    time.sleep(wait)

        def log_message(self, *_):
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_):
            """Whoever waits no longer is no error here."""

    server = Quiet(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def grpc_server(script, tls=None, port=0):
    """Yields the URL of a gRPC server; `tls` is a pair of bytes, a key and a certificate."""

    class Servicer(PredictionServiceServicer, ModelServiceServicer):
        def Predict(self, request, context):
            act = script.next(context.invocation_metadata())
            if isinstance(act, Message):
                return act
            if isinstance(act, float):
                time.sleep(act)
            elif act is not None:
                context.abort(grpc.StatusCode[act], f"act {act}")
            texts = list(request.inputs["text"].string_val)
            response = PredictResponse()
            response.outputs["translation"].CopyFrom(make_tensor_proto(texts))
            response.outputs["score"].CopyFrom(make_tensor_proto([0.0] * len(texts)))
            return response

        GetModelMetadata = GetModelStatus = Predict

    server = grpc.server(ThreadPoolExecutor(16))
    add_PredictionServiceServicer_to_server(Servicer(), server)
    add_ModelServiceServicer_to_server(Servicer(), server)
    if tls:
        port = server.add_secure_port(f"localhost:{port}", grpc.ssl_server_credentials([tls]))
    else:
        port = server.add_insecure_port(f"localhost:{port}")
    server.start()
    try:
        yield f"{'grpcs' if tls else 'grpc'}://localhost:{port}"
    finally:
        server.stop(None).wait()


SERVERS = {"rest": rest_server, "grpc": grpc_server}

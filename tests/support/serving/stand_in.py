"""A stand-in for TensorFlow Serving, for tests: its protocols, but not its code nor its speed.

python -m support.serving.stand_in FOLDER '{"model": "toy"}'  > {"rest": port, "grpc": port}

It serves the newest version in FOLDER, with the options of `Versions`, and ends when its standard
input does: with whoever started it. SIGUSR1 has the allocator give back what nothing uses.
"""

import ctypes
import json
import os
import re
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import grpc
import tensorflow as tf
from google.protobuf.json_format import MessageToDict
from tensorflow.errors import NotFoundError, OpError
from tensorflow_serving.apis import model_service_pb2_grpc as model_service
from tensorflow_serving.apis import prediction_service_pb2_grpc as prediction_service
from tensorflow_serving.apis.get_model_metadata_pb2 import GetModelMetadataResponse, SignatureDefMap
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusResponse
from tensorflow_serving.apis.model_pb2 import ModelSpec
from tensorflow_serving.apis.predict_pb2 import PredictResponse

from support.serving.operations import sentencepiece_library
from support.serving.rest_json import array, as_text, columns
from support.serving.versions import Versions

CODES = {code.value[0]: code for code in grpc.StatusCode}  # Of gRPC and of TensorFlow alike.
HTTP = {"INVALID_ARGUMENT": 400, "NOT_FOUND": 404, "RESOURCE_EXHAUSTED": 429, "UNAVAILABLE": 503}
WHOLE = {"always_print_fields_with_no_presence": True}
PATH = re.compile(r"/v1/models/([^/:]+)(?:/versions/(\d+)|/labels/([^/:]+))?(:predict|/metadata)?")


@contextmanager
def failing(tell):
    """Calls `tell` with a code of gRPC and a message, if something goes wrong."""
    try:
        yield
    except OpError as error:
        tell(CODES[error.error_code], error.message)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        tell(grpc.StatusCode.INVALID_ARGUMENT, f"{type(error).__name__}: {error}")


def status(versions, spec):
    """What both protocols say of the versions."""
    response = GetModelStatusResponse()
    for number, (state, error) in sorted(versions.states.items(), reverse=True):
        if spec.name == versions.model and spec.version.value in (0, number):
            one = response.model_version_status.add(version=number, state=state)
            one.status.error_message = error
            one.status.error_code = 2 if error else 0
    if not response.model_version_status:
        raise NotFoundError(None, None, f"Could not find any versions of model {spec.name}")
    return response


class Rpc(prediction_service.PredictionServiceServicer, model_service.ModelServiceServicer):
    """gRPC."""

    def __init__(self, versions):
        self.versions = versions

    def Predict(self, request, context):
        response = PredictResponse()
        with failing(context.abort), self.versions.using(request.model_spec) as version:
            inputs = {name: tf.make_ndarray(value) for name, value in request.inputs.items()}
            name = request.model_spec.signature_name or "serving_default"
            for key, value in version.predict(name, inputs).items():
                response.outputs[key].CopyFrom(tf.make_tensor_proto(value))
        response.model_spec.CopyFrom(request.model_spec)
        return response

    def GetModelMetadata(self, request, context):
        response = GetModelMetadataResponse()
        with failing(context.abort), self.versions.using(request.model_spec) as version:
            signatures = SignatureDefMap(signature_def=version.signatures)
            response.metadata["signature_def"].Pack(signatures)
        return response

    def GetModelStatus(self, request, context):
        with failing(context.abort):
            return status(self.versions, request.model_spec)


class Rest(BaseHTTPRequestHandler):
    """REST: JSON in rows and in columns."""

    versions = None
    protocol_version, wbufsize = "HTTP/1.1", -1  # What is buffered goes out in one piece.

    def do_GET(self):
        self.respond()

    def do_POST(self):
        self.respond()

    def respond(self):
        # A server hands on what is not UTF-8 as it is; so does this.
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer, code = {}, 200

        def tell(grpc_code, message):
            nonlocal answer, code
            answer, code = {"error": message}, HTTP.get(grpc_code.name, 500)

        with failing(tell):
            path = PATH.fullmatch(self.path)
            if not path or (path[4] == ":predict") != (self.command == "POST"):
                raise ValueError(f"Malformed request: {self.command} {self.path}")
            spec = ModelSpec(name=unquote(path[1]), version_label=unquote(path[3] or ""))
            if path[2]:
                spec.version.value = int(path[2])
            ask = {":predict": self.predict, "/metadata": self.metadata}.get(path[4], self.status)
            answer = ask(spec, body.decode("utf-8", "surrogateescape"))
        content = json.dumps(answer, ensure_ascii=False, default=as_text)
        content = content.encode("utf-8", "surrogateescape")
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def status(self, spec, _):
        return MessageToDict(status(self.versions, spec), **WHOLE)

    def metadata(self, spec, _):
        with self.versions.using(spec) as version:
            told = SignatureDefMap(signature_def=version.signatures)
        told = MessageToDict(told, preserving_proto_field_name=True, **WHOLE)
        return {"model_spec": {"name": spec.name}, "metadata": {"signature_def": told}}

    def predict(self, spec, body):
        request = json.loads(body)
        if not isinstance(request, dict) or ("instances" in request) == ("inputs" in request):
            raise ValueError("Expects an object with one of 'inputs' and 'instances'")
        name, rows = request.get("signature_name", "serving_default"), request.get("instances")
        with self.versions.using(spec) as version:
            types = version.types(name)
            given = columns(rows, types) if "instances" in request else request["inputs"]
            if not isinstance(given, dict):
                given = dict.fromkeys(types, given)
            inputs = {k: array(v, types.get(k, tf.string)) for k, v in given.items()}
            outputs = {k: v.tolist() for k, v in version.predict(name, inputs).items()}
        if "inputs" in request:
            return {"outputs": outputs if len(outputs) > 1 else next(iter(outputs.values()))}
        rows = [dict(zip(outputs, row, strict=True)) for row in zip(*outputs.values(), strict=True)]
        return {"predictions": rows if len(outputs) > 1 else next(iter(outputs.values()))}

    def log_message(self, *_):
        pass


def main(folder, options="{}"):
    tf.load_op_library(str(sentencepiece_library()))
    signal.signal(signal.SIGUSR1, lambda *_: ctypes.CDLL(None).malloc_trim(0))
    versions = Rest.versions = Versions(folder, **json.loads(options))
    versions.look()
    limits = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    over_grpc = grpc.server(ThreadPoolExecutor(64), options=limits)
    prediction_service.add_PredictionServiceServicer_to_server(Rpc(versions), over_grpc)
    model_service.add_ModelServiceServicer_to_server(Rpc(versions), over_grpc)
    port = over_grpc.add_insecure_port("127.0.0.1:0")
    over_grpc.start()
    over_http = ThreadingHTTPServer(("127.0.0.1", 0), Rest)
    threading.Thread(target=over_http.serve_forever, daemon=True).start()
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(json.dumps({"rest": over_http.server_port, "grpc": port}), flush=True)
    while True:
        versions.look()
        time.sleep(0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])

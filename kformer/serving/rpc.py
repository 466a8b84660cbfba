"""The gRPC API of TensorFlow Serving, through the stubs of tensorflow-serving-api.

The stubs import TensorFlow.
"""

import contextlib
import math
import re
from pathlib import Path

import grpc
from google.protobuf.message import DecodeError
from tensorflow import make_ndarray
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow.core.framework.tensor_shape_pb2 import TensorShapeProto
from tensorflow.core.framework.types_pb2 import DT_STRING, DataType
from tensorflow_serving.apis.get_model_metadata_pb2 import (
    GetModelMetadataRequest,
    SignatureDefMap,
)
from tensorflow_serving.apis.get_model_status_pb2 import (
    GetModelStatusRequest,
    ModelVersionStatus,
)
from tensorflow_serving.apis.model_pb2 import ModelSpec
from tensorflow_serving.apis.model_service_pb2_grpc import ModelServiceStub
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

from kformer.serving.address import Address, Model
from kformer.serving.answers import NO_SIGNATURE, Signature, Tensor, VersionStatus
from kformer.serving.deadline import Deadline
from kformer.serving.errors import MAX_ANSWER, TOO_LARGE, MalformedAnswer, ServerError

_OK = "OK"
_OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", MAX_ANSWER),
    # A channel must reconnect as soon as the client retries.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
]


class Rpc:
    """Sends requests to a server's gRPC port, from any number of threads.

    Args:
        address: `Address` with the scheme "grpc" or "grpcs".
        model: `Model`.
        headers: Further metadata of each request, by name.
        ca_file: File of trusted certificates; None for gRPC's own.
    """

    def __init__(
        self, address: Address, model: Model, headers: dict[str, str], ca_file: str | None
    ):
        self._url = address.url
        self._headers = [(name.lower(), value) for name, value in headers.items()]
        self._channel = _channel(address, ca_file)
        self._prediction = PredictionServiceStub(self._channel)
        self._models = ModelServiceStub(self._channel)
        self._spec = ModelSpec(name=model.name)
        if model.version is not None:
            self._spec.version.value = model.version
        elif model.label is not None:
            self._spec.version_label = model.label

    def predict(self, signature: str, inputs: dict[str, list], deadline: Deadline) -> dict:
        """Returns the outputs by name, as nested lists, like `Rest.predict`."""
        request = PredictRequest(
            model_spec=self._spec, inputs={name: _strings(value) for name, value in inputs.items()}
        )
        request.model_spec.signature_name = signature
        response = self._ask(self._prediction.Predict, request, deadline)
        with self._reading():
            return {name: _values(name, value) for name, value in response.outputs.items()}

    def status(self, deadline: Deadline) -> list[VersionStatus]:
        """Returns the state of each version of the model."""
        request = GetModelStatusRequest(model_spec=self._spec)
        response = self._ask(self._models.GetModelStatus, request, deadline)
        with self._reading():
            return [
                VersionStatus(
                    version.version,
                    ModelVersionStatus.State.Name(version.state),
                    version.status.error_message,
                )
                for version in response.model_version_status
            ]

    def metadata(self, deadline: Deadline) -> dict[str, Signature]:
        """Returns the signatures of the model by name."""
        request = GetModelMetadataRequest(model_spec=self._spec, metadata_field=["signature_def"])
        response = self._ask(self._prediction.GetModelMetadata, request, deadline)
        signatures = SignatureDefMap()
        with self._reading():
            if not response.metadata["signature_def"].Unpack(signatures):
                raise MalformedAnswer("The metadata must hold `signature_def`. Received: none.")
            return {
                name: Signature(_tensors(signature.inputs), _tensors(signature.outputs))
                for name, signature in signatures.signature_def.items()
                if not name.startswith(NO_SIGNATURE)
            }

    def close(self):
        """Closes the connection."""
        self._channel.close()

    def malformed(self, message: str) -> ServerError:
        """Returns the error for a malformed answer to `predict`."""
        return ServerError(self._url, _OK, message)

    @contextlib.contextmanager
    def _reading(self):
        """Turns libraries' errors about a malformed answer into a `ServerError`."""
        try:
            yield
        except (MalformedAnswer, ValueError, TypeError, DecodeError) as error:
            raise self.malformed(str(error)) from error

    def _ask(self, method, request, deadline):
        try:
            return method(request, timeout=deadline.left(), metadata=self._headers)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise deadline.error() from error
            details = error.details() or ""
            if re.search(r"received message larger than max", details, re.IGNORECASE):
                raise self.malformed(TOO_LARGE) from error
            raise ServerError(self._url, error.code().name, details) from error


def _channel(address, ca_file):
    if address.scheme == "grpc":
        return grpc.insecure_channel(address.host, _OPTIONS)
    trusted = None if ca_file is None else Path(ca_file).read_bytes()
    return grpc.secure_channel(address.host, grpc.ssl_channel_credentials(trusted), _OPTIONS)


def _strings(texts):
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=len(texts))])
    encoded = [text.encode("utf-8") for text in texts]
    return TensorProto(dtype=DT_STRING, tensor_shape=shape, string_val=encoded)


def _values(name, tensor):
    """Returns a tensor as nested lists, with decoded strings."""
    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    # A few bytes can describe a tensor that repeats one value and is too large for memory.
    if min(sizes, default=0) < 0 or math.prod(sizes) > tensor.ByteSize():
        raise MalformedAnswer(
            f"`{name}` must hold as many values as its shape has. Received: shape={sizes!r:.99}, "
            f"{tensor.ByteSize()} bytes."
        )
    try:
        values = make_ndarray(tensor).tolist()
    except (ValueError, TypeError, KeyError) as error:  # KeyError: an unknown type.
        raise MalformedAnswer.of(name, "a tensor of numbers or of strings", repr(error)) from error
    return _decoded(values) if tensor.dtype == DT_STRING else values


def _decoded(value):
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return value.decode("utf-8", "replace")


def _tensors(infos):
    return {
        name: Tensor(DataType.Name(info.dtype), tuple(dim.size for dim in info.tensor_shape.dim))
        for name, info in infos.items()
    }

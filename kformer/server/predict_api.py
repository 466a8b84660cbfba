"""The REST API of TensorFlow Serving: predict, metadata and status of each model.

Its document is https://www.tensorflow.org/tfx/serving/api_rest. A model has one version: the number
of a SavedModel's folder, or else 1.
"""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from kformer.server.hosted_models import HostedModel
from kformer.server.hosted_signatures import HostedSignature
from kformer.server.refusals import Refusal


class PredictRequest(TypedDict):
    """The fields of a request: texts by row, or by the name of an input."""

    signature_name: NotRequired[str]
    instances: NotRequired[list[Any]]
    inputs: NotRequired[Any]


def check_version(model: HostedModel, version: str | None, label: str | None):
    """Raises a `Refusal` unless a request asks for the version that there is."""
    if label is not None:
        raise Refusal(404, f"{model.name} has no labels of versions. Received: {label!r:.80}.")
    if version is not None and version != str(model.version):
        raise Refusal(
            404, f"{model.name} has the version {model.version}. Received: {version!r:.40}."
        )


def inputs_of(model: HostedModel, fields: dict[str, Any]) -> tuple[str, dict[str, list[str]]]:
    """Returns the name of the signature that a request asks for, and its inputs by name."""
    name = fields.get("signature_name") or "serving_default"
    if not (signature := model.signatures.get(name)):
        names = ", ".join(model.signatures)
        raise Refusal(400, f"{model.name} has the signatures {names}. Received: {name!r:.80}.")
    if ("instances" in fields) == ("inputs" in fields):
        raise Refusal(400, "A request has either 'instances' or 'inputs'. Received: both or none.")
    by_row = "instances" in fields
    columns = _columns(signature, fields["instances"]) if by_row else fields["inputs"]
    return name, _checked(signature, columns)


async def predict(
    model: HostedModel, signature: str, columns: dict[str, list[str]], by_row: bool
) -> dict[str, Any]:
    """Returns the answer of predict.

    Args:
        by_row: Whether the answer has a row for each text, or a list for each output.
    """
    rows = await model.rows(signature, columns)
    if by_row:
        return {"predictions": rows}
    outputs = model.signatures[signature].outputs
    return {"outputs": {output: [row[output] for row in rows] for output in outputs}}


def _columns(signature, instances):
    """Returns the inputs by name, from rows: objects, or texts where there is one input."""
    first = signature.inputs[0]
    rows = [row if isinstance(row, dict) else {first: row} for row in instances]
    for row in rows:
        if {*row} != {*signature.inputs}:
            raise _unlike(signature, row)
    return {name: [row[name] for row in rows] for name in signature.inputs}


def _checked(signature, columns):
    if not isinstance(columns, dict):
        columns = {signature.inputs[0]: columns}
    if {*columns} != {*signature.inputs}:
        raise _unlike(signature, columns)
    for name, texts in columns.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise Refusal(400, f"The input {name!r} must be strings. Received: other JSON.")
    if len({len(texts) for texts in columns.values()}) > 1:
        raise Refusal(400, "There must be as many of each input. Received: unequal numbers.")
    return columns


def _unlike(signature, names):
    needed = ", ".join(signature.inputs)
    received = ", ".join(map(str, names)) or "nothing"
    return Refusal(400, f"The signature needs {needed} for each text. Received: {received:.80}.")


def status(model: HostedModel) -> dict[str, Any]:
    """Returns the answer about the versions of a model."""
    version = {
        "version": str(model.version),
        "state": "AVAILABLE",
        "status": {"error_code": "OK", "error_message": ""},
    }
    return {"model_version_status": [version]}


def metadata(model: HostedModel) -> dict[str, Any]:
    """Returns the answer about the signatures of a model."""
    signatures = {name: _described(each) for name, each in model.signatures.items()}
    return {
        "model_spec": {
            "name": model.name,
            "signature_name": "",
            "version": str(model.version),
        },
        "metadata": {"signature_def": {"signature_def": signatures}},
    }


def _described(signature: HostedSignature) -> dict[str, Any]:
    return {
        "inputs": {name: _tensor("DT_STRING", 1) for name in signature.inputs},
        "outputs": {name: _tensor(*kind) for name, kind in signature.outputs.items()},
        "method_name": "tensorflow/serving/predict",
    }


def _tensor(dtype: str, rank: int) -> dict[str, Any]:
    sizes: Sequence[dict[str, str]] = [{"size": "-1", "name": ""}] * rank
    return {"dtype": dtype, "tensor_shape": {"dim": sizes, "unknown_rank": False}, "name": ""}

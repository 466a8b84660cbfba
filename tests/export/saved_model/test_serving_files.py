"""What lies beside the versions: settings that a server reads, and requests that work."""

import inspect
import json
import re
import shlex
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import yaml
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    text_format,
    wrappers_pb2,
)
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from kformer.export import export_saved_model
from kformer.export.saved_model.serving_files import MARK, NAMES, next_version
from kformer.serving import Client
from support import toy
from support.serving.warmup_requests import asked, assert_same_answers, signatures_of
from support.serving.written_settings import SETTINGS, XLA_SETTINGS, write_files


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "de-en").mkdir()
    return tmp_path / "de-en"


def message(name, fields):
    """A message class of a server's settings that its Python package does not have.

    Args:
        fields: dict of a field's name to its type, and "repeated" or not.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", syntax="proto3")
    file.dependency.append("google/protobuf/wrappers.proto")
    described = file.message_type.add(name=name)
    for number, (field, (kind, repeated)) in enumerate(fields.items(), start=1):
        added = described.field.add(name=field, number=number)
        added.label = added.LABEL_REPEATED if repeated else added.LABEL_OPTIONAL
        if kind.startswith("."):
            added.type, added.type_name = added.TYPE_MESSAGE, kind
        else:
            added.type = {"int64": added.TYPE_INT64, "bool": added.TYPE_BOOL}[kind]
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


NUMBER, YES = (".google.protobuf.Int64Value", False), (".google.protobuf.BoolValue", False)
BATCHING = {  # The fields of session_bundle_config.proto's BatchingParameters.
    "max_batch_size": NUMBER,
    "batch_timeout_micros": NUMBER,
    "max_enqueued_batches": NUMBER,
    "num_batch_threads": NUMBER,
    "thread_pool_name": (".google.protobuf.StringValue", False),
    "allowed_batch_sizes": ("int64", True),
    "pad_variable_length_inputs": ("bool", False),
    "enable_large_batch_splitting": YES,
    "max_execution_batch_size": NUMBER,
}


def test_the_model_is_where_the_server_looks(folder):
    write_files(folder, SETTINGS, [])
    config = text_format.Parse((folder / "models.config").read_text(), ModelServerConfig())
    [model] = config.model_config_list.config
    assert (model.name, model.base_path) == ("translator", "/models/translator")
    assert model.model_platform == "tensorflow"
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    assert service["volumes"] == [f".:{model.base_path}:ro"]
    assert re.fullmatch(r"tensorflow/serving:\d+\.\d+\.\d+", service["image"])
    assert service["image"] in (folder / "README.md").read_text()
    assert f"--model_config_file={model.base_path}/models.config" in service["command"]
    for flag in service["command"]:
        if model.base_path in flag:
            assert (folder / flag.split("/")[-1]).is_file()
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_the_container_may_change_nothing(folder):
    write_files(folder, SETTINGS, [])
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(volume.endswith(":ro") for volume in service["volumes"])


def batching_in(folder):
    """The settings in `batching.config`, as the server's own message reads them."""
    text = (folder / "batching.config").read_text()
    return text_format.Parse(text, message("BatchingParameters", BATCHING)())


@pytest.mark.parametrize("settings", [SETTINGS, XLA_SETTINGS], ids=["plain", "xla"])
def test_batches_obey_the_rules_of_the_server(folder, settings):
    """Those of `WrapSessionForBatching`, which refuses to load a model otherwise."""
    write_files(folder, settings, [])
    batching = batching_in(folder)
    sizes = [*batching.allowed_batch_sizes]
    assert sizes == sorted(set(sizes)) == [*settings["batch_sizes"]]
    assert sizes[-1] == batching.max_batch_size.value
    assert not batching.enable_large_batch_splitting.value  # Else a request may hold more work.
    assert not batching.pad_variable_length_inputs


def test_the_server_has_as_many_threads_as_cores_and_a_bound_on_memory(folder):
    write_files(folder, SETTINGS, [])
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    cores = service["cpus"]
    assert batching_in(folder).num_batch_threads.value == cores
    assert "--tensorflow_intra_op_parallelism=1" in service["command"]
    assert f"--tensorflow_inter_op_parallelism={cores}" in service["command"]
    assert f"--tensorflow_inter_op_parallelism={cores}" in (folder / "README.md").read_text()
    assert service["mem_limit"] == "3g"
    write_files(folder, {**SETTINGS, "bytes": 2**30}, [])
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    assert service["mem_limit"] == "6g"


STATUS = '{"model_version_status": [{"version": "1", "state": "%s", "status": {}}]}'


@pytest.mark.parametrize(
    ("answer", "healthy"),
    [
        (STATUS % "AVAILABLE", True),
        (STATUS.replace(" ", "") % "AVAILABLE", True),
        (STATUS % "LOADING", False),
        (STATUS % "END", False),
        ('{"error": "The state of the model is UNAVAILABLE, not AVAILABLE."}', False),
        (None, False),  # Nobody listens.
    ],
)
def test_the_health_check_asks_for_an_available_version(folder, answer, healthy):
    write_files(folder, SETTINGS, [])
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    mark, *command = service["healthcheck"]["test"]
    assert mark == "CMD" and command[:2] == ["bash", "-c"]
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        script = command[2].replace("/8501", f"/{server.server_port}")
        assert script != command[2]
        if answer is None:
            server.server_close()
        else:
            threading.Thread(target=server.handle_request, daemon=True).start()
        result = subprocess.run(["bash", "-c", script], timeout=30, check=False)
    assert (result.returncode == 0) == healthy
    assert asked == ([] if answer is None else ["/v1/models/translator"])


def test_metrics_are_where_the_readme_says(folder):
    write_files(folder, SETTINGS, [])
    text = (folder / "monitoring.config").read_text()
    path = re.search('path: "(.*)"', text)[1]
    assert path in (folder / "README.md").read_text()
    plain = re.sub("#.*", "", text)
    assert re.fullmatch(r'\s*prometheus_config \{\s*enable: true\s*path: "[^"]*"\s*\}\s*', plain)


@pytest.mark.parametrize("xla", [False, True])
def test_xla_is_switched_on_where_it_is_needed(folder, xla):
    write_files(folder, XLA_SETTINGS if xla else SETTINGS, [])
    for name in ("compose.yaml", "README.md"):
        assert ("--xla_cpu_compilation_enabled=true" in (folder / name).read_text()) == xla


def test_the_name_of_the_model_is_the_one_that_the_client_asks_for(folder):
    write_files(folder, SETTINGS, [])
    asked_for = inspect.signature(Client).parameters["model"].default
    assert f'name: "{asked_for}"' in (folder / "models.config").read_text()
    assert f"--model_name={asked_for} " in (folder / "README.md").read_text()


def test_settings_are_rewritten_unless_the_user_edited_them(folder):
    write_files(folder, SETTINGS, [])
    assert {path.name for path in folder.iterdir()} == {*NAMES}
    own = (folder / "models.config").read_text().replace(MARK, "Mine.") + "# pinned\n"
    (folder / "models.config").write_text(own)
    (folder / "README.md").write_text(f"{MARK} Old.")
    write_files(folder, {**SETTINGS, "version": 4}, [])
    assert (folder / "models.config").read_text() == own
    assert "Version 4" in (folder / "README.md").read_text()
    assert {path.name for path in folder.iterdir()} == {*NAMES}


def test_every_file_says_how_to_keep_it(folder):
    write_files(folder, SETTINGS, [])
    for name in NAMES:
        text = (folder / name).read_text()
        assert MARK in text.split("\n")[0]
        left = {*re.findall(r"\$\w+", text)} - {
            "$PWD",
            "$binary_remote_addr",
        }  # The shell's, nginx's.
        assert not left  # Nothing was left to be filled in.


@pytest.mark.prove
def test_the_readme_of_a_beam_quotes_its_text_for_the_shell(toy_translator, tmp_path):
    path = export_saved_model(toy_translator, tmp_path / "x", 3, examples=["", "wir 's"])
    assert_readme_shows_responses(path, "wir 's")


@pytest.mark.prove
def test_the_readme_has_requests_whose_responses_are_those(toy_saved_model):
    validated = toy.SOURCES[toy.HELD_OUT]
    assert_readme_shows_responses(toy_saved_model, validated[0])


def test_the_readme_of_a_classifier_shows_its_signatures_but_for_the_second_name(
    classifier_saved_model,
):
    assert_readme_shows_responses(
        classifier_saved_model, toy.SOURCES[0], "classifier", {"classify"}
    )
    folder = classifier_saved_model.parent
    readme = (folder / "README.md").read_text("utf-8")
    assert "Serving a classifier" in readme and "Its labels are bad, sehr gut, so là là." in readme
    assert "translat" not in readme and "16,384" in readme
    config = text_format.Parse((folder / "models.config").read_text(), ModelServerConfig())
    assert config.model_config_list.config[0].name == "classifier"


def shortened(values, shown):
    """Returns the first of some values, and of those within them, as many as are shown."""
    if not isinstance(shown, list):
        return values
    return [shortened(*pair) for pair in zip(values, shown, strict=False)]


def assert_readme_shows_responses(path, text, model="translator", omitted=frozenset()):
    readme = (path.parent / "README.md").read_text("utf-8")
    signatures = signatures_of(path)
    commands = re.findall(r"^    (curl .*:predict .*)\n\n    (.*)$", readme, re.MULTILINE)
    assert len(commands) == len({*signatures} - omitted) > 2
    for command, response in commands:
        _, url, _, data = shlex.split(command)
        assert url == f"http://localhost:8501/v1/models/{model}:predict"
        body, shown = json.loads(data), response.replace(", ...]", "]")
        name = body.get("signature_name", "serving_default")
        inputs = body.get("inputs", {"text": body.get("instances")})
        assert {*next(iter(inputs.values()))} == {text}
        columns = asked(signatures, name, **inputs)
        found = json.loads(shown)
        if "predictions" in found:
            found = {key: [row[key] for row in found["predictions"]] for key in columns}
        else:
            found = found["outputs"]
        for key, [value] in columns.items():
            if "..." in response:
                value = shortened(value, found[key][0])
            assert_same_answers([{key: found[key]}], [{key: [value]}])


@pytest.mark.prove
def test_an_export_into_an_older_tree_disturbs_nothing(toy_translator, tmp_path):
    for name in ("1", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"old")
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    assert export_saved_model(toy_translator, tmp_path) == tmp_path / "2"
    assert (tmp_path / "1" / "saved_model.pb").read_bytes() == b"old"
    assert (tmp_path / "compose.yaml").read_text() == "services: {}\n"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"1", "2", "notes", "versions.json", *NAMES}


def test_the_number_of_a_version_is_never_used_again(tmp_path):
    assert next_version(tmp_path) == 1
    for content in ('{"newest": 3}', '{"newest": "x"}', "[", "{}", "[1]"):
        (tmp_path / "versions.json").write_text(content)
        assert next_version(tmp_path) == (4 if "3" in content else 1)
    (tmp_path / "7").mkdir()
    assert next_version(tmp_path) == 8


def test_the_report_says_what_was_exported(toy_saved_model, toy_translator):
    report = json.loads((toy_saved_model / "assets.extra" / "kformer.json").read_text())
    assert report["format"] == 1 and report["version"] == 1
    signatures = signatures_of(toy_saved_model)
    assert {*report["signatures"]} == {*signatures}
    for name, described in report["signatures"].items():
        outputs = signatures[name].structured_outputs
        assert described["outputs"] == {
            key: {"dtype": spec.dtype.name, "shape": spec.shape.as_list()}
            for key, spec in outputs.items()
        }
    files = [path for path in toy_saved_model.rglob("*") if path.is_file()]
    counted = [path for path in files if path.name not in ("kformer.json", "MODEL_CARD.md")]
    assert len(counted) == len(files) - 2
    assert report["bytes"]["all"] == sum(path.stat().st_size for path in counted)
    parameters = toy_translator.transformer.count_params()
    assert 4 * parameters <= report["bytes"]["weights"] < 6 * parameters

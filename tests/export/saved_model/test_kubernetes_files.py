"""The deployment that a served folder describes: pods, flags of the server, labels of versions."""

import re

import pytest
import yaml
from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from support.serving.written_settings import SETTINGS, XLA_SETTINGS, write_files


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "de-en").mkdir()
    return tmp_path / "de-en"


def pods_in(folder):
    """The objects in `kubernetes.yaml` by kind, and the one container of its pods."""
    objects = yaml.safe_load_all((folder / "kubernetes.yaml").read_text())
    objects = {described["kind"]: described for described in objects}
    [container] = objects["Deployment"]["spec"]["template"]["spec"]["containers"]
    return objects, container


@pytest.mark.parametrize("settings", [SETTINGS, XLA_SETTINGS], ids=["plain", "xla"])
def test_pods_run_the_server_as_compose_does(folder, settings):
    write_files(folder, settings, [])
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    objects, container = pods_in(folder)
    assert container["args"] == service["command"]
    assert container["resources"]["requests"]["cpu"] == str(service["cpus"])
    assert {part["memory"] for part in container["resources"].values()} == {"3Gi"}
    assert service["mem_limit"] == "3g"
    assert container["image"].endswith("/translator:3")
    assert container["image"] in (folder / "README.md").read_text()
    start = container["startupProbe"]
    seconds = 60 * int(service["healthcheck"]["start_period"].removesuffix("m"))
    assert start["periodSeconds"] * start["failureThreshold"] == seconds
    paths = {container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "readiness")}
    assert paths == {"/v1/models/translator/metadata"}
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"grpc": 8500, "rest": 8501}
    assert {port["targetPort"] for port in objects["Service"]["spec"]["ports"]} == {*ports}
    spec = objects["Deployment"]["spec"]["template"]["spec"]
    assert spec["terminationGracePeriodSeconds"] > 30  # The limit of requests over REST.


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_objects_of_kubernetes_have_its_names_and_find_the_pods(folder, kind):
    words = {"max_target_length": 512} if kind == "language_model" else {}
    write_files(folder, {**SETTINGS, **words, "kind": kind}, [])
    objects, _ = pods_in(folder)
    assert {*objects} == {"Deployment", "Service", "PodDisruptionBudget"}
    for described in objects.values():
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", described["metadata"]["name"])
    labels = objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert objects["Deployment"]["spec"]["selector"] == {"matchLabels": labels}
    every_track = {"app": labels["app"]}  # A canary's pods differ in their track.
    assert {*labels} == {"app", "track"}
    assert objects["Service"]["spec"]["selector"] == every_track
    assert objects["PodDisruptionBudget"]["spec"]["selector"] == {"matchLabels": every_track}


FLAGS = {  # Of the server, release 2.20.
    *("model_config_file", "model_config_file_poll_wait_seconds", "model_name", "model_base_path"),
    *("enable_batching", "batching_parameters_file", "monitoring_config_file", "port"),
    *("tensorflow_intra_op_parallelism", "tensorflow_inter_op_parallelism", "rest_api_port"),
    *("rest_api_num_threads", "grpc_max_threads", "enable_profiler", "grpc_channel_arguments"),
    *("allow_version_labels_for_unavailable_models", "xla_cpu_compilation_enabled"),
    *("rest_api_timeout_in_ms",),
}


def test_the_server_has_every_flag(folder):
    write_files(folder, XLA_SETTINGS, [])
    [service] = yaml.safe_load((folder / "compose.yaml").read_text())["services"].values()
    assert {flag.removeprefix("--").partition("=")[0] for flag in service["command"]} <= FLAGS
    readme = (folder / "README.md").read_text()
    assert {*re.findall(r"--(\w*_\w+)", readme)} - {
        "tag_set",
        "signature_def",
        "input_exprs",
    } <= FLAGS


def test_the_lines_for_a_canary_are_a_model_of_the_server(folder):
    write_files(folder, SETTINGS, [])
    lines = re.findall(
        r"^    ((?:model_version_policy|version_labels) .*)$",
        (folder / "README.md").read_text(),
        re.MULTILINE,
    )
    pinned, *canary = lines
    for added, versions, labels in (
        ([pinned], [1], {}),
        (canary, [1, 2], {"stable": 1, "canary": 2}),
    ):
        text = (folder / "models.config").read_text()
        text = text.replace("    model_platform", "\n".join([*added, "    model_platform"]))
        config = text_format.Parse(text, ModelServerConfig())
        [model] = config.model_config_list.config
        assert [*model.model_version_policy.specific.versions] == versions
        assert dict(model.version_labels) == labels

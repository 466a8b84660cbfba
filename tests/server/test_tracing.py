"""Requests in the log belong to the traces that their clients name."""

import io
import json
import re

import pytest
import typer
import yaml
from starlette.testclient import TestClient

from kformer.cli.commands import app_for
from kformer.cli.serve import _GRACE
from kformer.server import create_app
from server.test_hosted_documents import hosted
from support.guides import fenced

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
FIELDS = {"q": "a", "source": "de", "target": "en"}
GUIDE = "kformer/server/README.md"


@pytest.fixture(scope="module")
def log():
    return io.StringIO()


@pytest.fixture(scope="module")
def app(log):
    model = hosted(lambda texts: texts)
    model.about = {"source_language": "de"}
    return create_app([model], log=log)


def lines(log):
    """Returns the lines of a log that were written since the last call."""
    written = log.getvalue()
    log.truncate(log.seek(0))
    return [json.loads(line) for line in written.splitlines()]


@pytest.mark.parametrize(
    ("header", "is_good"),
    [
        (f"00-{TRACE}-{SPAN}-01", True),
        (f"00-{TRACE}-{SPAN}-01-more", False),
        (f"01-{TRACE}-{SPAN}-01-more", True),
        (f"01-{TRACE}-{SPAN}-01more", False),
        (f"ff-{TRACE}-{SPAN}-01", False),
        (f"00-{'0' * 32}-{SPAN}-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (f"00-{TRACE.upper()}-{SPAN}-01", False),
        (f"00-{TRACE[1:]}-{SPAN}-01", False),
        ('"}', False),
        ("", False),
    ],
)
def test_a_line_of_the_log_names_the_trace_of_a_well_formed_header(app, log, header, is_good):
    with TestClient(app) as client:
        client.post("/translate", json=FIELDS, headers={"traceparent": header})
        client.get("/none", headers={"traceparent": header})
    for line in lines(log):
        ids = (line["trace_id"], line["parent_id"]) if "trace_id" in line else None
        assert ids == ((TRACE, SPAN) if is_good else None)


def test_two_lines_of_the_guide_turn_opentelemetry_on(app, log, monkeypatch):
    opentelemetry = pytest.importorskip("opentelemetry")
    pytest.importorskip("opentelemetry.instrumentation.asgi")
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    exporter, provider = export.InMemorySpanExporter(), trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(opentelemetry.trace, "_TRACER_PROVIDER", provider)
    [lines_of_guide] = [block for kind, block in fenced(GUIDE) if kind == "py"]
    exec(lines_of_guide, names := {"app": app})
    with TestClient(names["app"]) as client:
        header = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
        answer = client.post("/translate", json=FIELDS, headers=header)
    assert answer.json() == {"translatedText": "a"}
    spans = [span for span in exporter.get_finished_spans() if span.kind.name == "SERVER"]
    [span] = spans
    assert format(span.context.trace_id, "032x") == TRACE == lines(log)[-1]["trace_id"]
    assert format(span.parent.span_id, "016x") == SPAN
    assert 200 in span.attributes.values() and "a" not in span.attributes.values()


def test_what_the_guide_has_an_orchestrator_ask_is_there(app):
    pod, scaled = (yaml.safe_load(block) for kind, block in fenced(GUIDE) if kind == "yaml")
    [container], [trigger] = pod["containers"], scaled["spec"]["triggers"]
    with TestClient(app) as client:
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert client.get(container[probe]["httpGet"]["path"]).status_code == 200
        [metric] = re.findall(r"\w+(?=\))", trigger["metadata"]["query"])
        assert re.search(f"^{metric}[ {{]", client.get("/metrics").text, re.MULTILINE)
    command = typer.main.get_command(app_for([])).commands["serve"]
    command.make_context("serve", container["args"][2:])
    assert pod["terminationGracePeriodSeconds"] > _GRACE

"""Metrics of a server for Prometheus, and a log of its requests without their texts."""

import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import IO, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from kformer.server.hosted_models import HostedModel

_SECONDS = (
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    30,
    60,
)  # Limits of the buckets.


class ServerMetrics:
    """Numbers of requests, sentences and characters, and the time of the requests.

    Args:
        models: The models of the server, which may become others.
        log: Where a line of JSON is written for each request; None for no log.
    """

    def __init__(self, models: Sequence[HostedModel], log: IO[str] | None = sys.stderr):
        self._registry = CollectorRegistry()
        here: dict[str, Any] = {"registry": self._registry}
        self._requests = Counter(
            "kformer_requests", "Requests by route and status.", ["route", "status"], **here
        )
        self._seconds = Histogram(
            "kformer_request_seconds", "Time of requests.", ["route"], buckets=_SECONDS, **here
        )
        self._texts = Counter("kformer_texts", "Texts that were answered.", ["model"], **here)
        self._sentences = Counter(
            "kformer_sentences", "Sentences that were translated.", ["model"], **here
        )
        self._characters = Counter(
            "kformer_characters", "Characters of answered texts.", ["model"], **here
        )
        Gauge("kformer_waiting_characters", "Characters in the queues.", **here).set_function(
            lambda: sum(model.waiting for model in models)
        )
        self._open = Gauge("kformer_requests_open", "Requests that are being answered.", **here)
        self._registry.register(_OfModels(models))
        self._log = log

    def text(self) -> bytes:
        """Returns all metrics in Prometheus's format."""
        return generate_latest(self._registry)

    def began(self) -> float:
        """Counts a request as open; returns the time for `ended`."""
        self._open.inc()
        return time.monotonic()

    def answered(self, model: str, texts: int, characters: int, sentences: int | None = None):
        """Counts texts that a model answered."""
        self._texts.labels(model).inc(texts)
        self._characters.labels(model).inc(characters)
        self._sentences.labels(model).inc(texts if sentences is None else sentences)

    def ended(self, began: float, route: str, status: int, **facts: Any):
        """Counts the end of a request, and logs it with some facts, never with a text or a key."""
        seconds = time.monotonic() - began
        self._open.dec()
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        facts = {"milliseconds": round(1000 * seconds, 1), **facts}
        write_line(self._log, route=route, status=status, **facts)


class _OfModels(Collector):
    """Collects the numbers of each model."""

    def __init__(self, models: Sequence[HostedModel]):
        self._models = models

    def collect(self):
        """Yields each metric of Prometheus, with a value for each model."""
        models = [model for model in self._models if model.held]
        for name, text, kind, value in _BY_MODEL:
            metric = kind(f"kformer_model_{name}", text, labels=["model"])
            for model in models:
                metric.add_metric([model.name], **value(model))
            yield metric


_BY_MODEL = (
    (
        "waiting_characters",
        "Characters in the queue of a model.",
        GaugeMetricFamily,
        lambda model: {"value": model.waiting},
    ),
    (
        "wait_seconds",
        "Time in the queue of each text.",
        SummaryMetricFamily,
        lambda model: {"count_value": model.counts.rows, "sum_value": model.counts.seconds},
    ),
    (
        "loads",
        "How often a model was loaded.",
        CounterMetricFamily,
        lambda model: {"value": model.counts.loads},
    ),
    (
        "unloads",
        "How often a model was unloaded.",
        CounterMetricFamily,
        lambda model: {"value": model.counts.unloads},
    ),
    (
        "loaded",
        "Whether a model is loaded.",
        GaugeMetricFamily,
        lambda model: {"value": model.held.model is not None},
    ),
)


def write_line(log: IO[str] | None, **facts: Any):
    """Writes a line of JSON with the time and some facts to a log, unless that is None."""
    if log:
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **facts}
        log.write(json.dumps(line, ensure_ascii=False) + "\n")
        log.flush()

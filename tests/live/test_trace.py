"""A real Jaeger takes the trace of a run, and shows its trials with their parts, figures and events."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest
from readers import JAEGER

from crosswind.testbed.errors import NotHere

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 1ms, buffer: 64KiB}
  nodes: {server: h0, client: h1}
conditions:
  - none
  - slower: {link: [{delay: {time: 5ms}}], at: {300ms: {link: [{delay: {time: 15ms}}]}}}
application: {rpc: {duration: 700ms, warm_up: 100ms}}
trials: {repeat: 1, rest: 0s, seed: 7, limits: {void: accept}}
"""


@contextmanager
def jaeger(folder: Path) -> Iterator[tuple[str, str]]:
    """Run a Jaeger with its memory as storage; give the addresses that take and that show traces."""
    try:
        program = JAEGER.program().path
    except NotHere:
        pytest.skip("SKIPPED: there is no Jaeger; python tests/live/readers.py builds one")
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        taking, showing = (f"127.0.0.1:{each.getsockname()[1]}" for each in (one, other))
    others = ("admin.http", "collector.grpc-server", "collector.http-server", "collector.otlp.grpc",
              "query.grpc-server")  # fmt: skip
    process = subprocess.Popen(
        [
            program,
            f"--collector.otlp.http.host-port={taking}",
            f"--query.http-server.host-port={showing}",
            *(f"--{name}.host-port=127.0.0.1:0" for name in others),
        ],
        env={**os.environ, "SPAN_STORAGE_TYPE": "memory"},
        stdout=subprocess.DEVNULL,
        stderr=(folder / "jaeger.log").open("w"),
    )
    try:
        yield f"http://{taking}/v1/traces", f"http://{showing}/api"
    finally:
        process.terminate()
        process.wait(20)


def answered(request: Request, folder: Path, within_s: float = 30) -> dict[str, Any]:
    """Return the JSON that a server answers once it is there."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            with urlopen(request, timeout=10) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except OSError:
            assert time.monotonic() < deadline, (folder / "jaeger.log").read_text()
            time.sleep(0.1)


@pytest.mark.long
def test_jaeger_shows_the_trials_of_a_run(live: Live) -> None:
    (live.folder / "live.yaml").write_text(EXPERIMENT)
    with jaeger(live.folder) as (taking, showing):
        live.measured("live.yaml")
        status, said = live.run("report", "results/live/latest", "--otlp", "trace.json")
        assert (status, said) == (0, "trace: trace.json\n")
        body = (live.folder / "trace.json").read_bytes()
        post = Request(taking, body, {"Content-Type": "application/json"})
        assert answered(post, live.folder) == {"partialSuccess": {}}
        trace = json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
        (shown,) = answered(Request(f"{showing}/traces/{trace}"), live.folder)["data"]
    names = [span["operationName"] for span in shown["spans"]]
    assert sorted(names) == sorted(
        ["run live", "trial none", "trial slower", *["network up", "prepare", "measure", "store"] * 2]
    )
    assert not any(span["warnings"] for span in shown["spans"])
    spans = {span["operationName"]: span for span in shown["spans"]}
    slower = spans["trial slower"]
    tags = {tag["key"]: tag["value"] for tag in slower["tags"]}
    assert tags["crosswind.condition"] == "slower"
    # Four crossings of a wire with at least 6 ms.
    assert tags["crosswind.figure.latency.p50"] > 24e6
    assert tags["crosswind.unit.latency.p50"] == "ns"
    (parent,) = slower["references"]
    assert parent["spanID"] == spans["run live"]["spanID"]
    logs = [
        {field["key"]: field["value"] for field in log["fields"]} | {"at": log["timestamp"]}
        for log in slower["logs"]
    ]
    changes = [log for log in logs if log["event"] == "condition"]
    assert [log["crosswind.by"] for log in changes] == ["set", "timeline"]
    # Within the trial, and 300 ms after the measurement began or later, in microseconds.
    assert (
        slower["startTime"] < changes[0]["at"] < changes[1]["at"] < slower["startTime"] + slower["duration"]
    )
    assert changes[1]["at"] - changes[0]["at"] > 300_000

"""The trace of a run is OTLP/JSON as OpenTelemetry's own messages read it, and says what the journal says."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from faulty import write_faulty
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Read
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from crosswind.cli._main import run
from crosswind.results import Journal, TrialRow, write_tables
from crosswind.results.reading import Results
from crosswind.telemetry import trace_of
from crosswind.telemetry.otlp import EVENTS_MAX, SpanEvent, TraceSpan, line_of
from synthetic import DEGRADED, FAILED, VOID, write_folder

S = 10**9


def read(line: str) -> list[Read]:
    """Return the spans of a line, read by OpenTelemetry's messages, which refuse what they do not know."""

    def with_bytes(value: Any) -> Any:
        # The only difference from protobuf's own JSON: identifiers are hexadecimal and not base64.
        if isinstance(value, list):
            return [with_bytes(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        return {
            key: base64.b64encode(bytes.fromhex(each)).decode()
            if key in ("traceId", "spanId", "parentSpanId")
            else with_bytes(each)
            for key, each in value.items()
        }

    assert line.endswith("\n")
    assert line.count("\n") == 1
    request = ParseDict(with_bytes(json.loads(line)), ExportTraceServiceRequest())
    (of_resource,) = request.resource_spans
    (resource,) = (a for a in of_resource.resource.attributes if a.key == "service.name")
    assert resource.value.string_value == "crosswind"
    (scope,) = of_resource.scope_spans
    assert scope.scope.name == "crosswind"
    return [*scope.spans]


def attributes(part: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in part.attributes}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_folder(tmp_path_factory.mktemp("results") / "run", operations=200, blocks=3)
    resolved = json.loads((folder / "resolved.json").read_text())
    figure = {"metric": "latency", "statistic": "p99", "unit": "ns", "label": "P99", "better": "lower"}
    resolved["application"]["figures"] = [figure]
    (folder / "resolved.json").write_text(json.dumps(resolved))
    return folder


def test_every_attempt_is_a_span_within_the_span_of_the_run(folder: Path) -> None:
    spans = read(trace_of(Results(folder)))
    around, trials = spans[0], spans[1:]
    assert (around.name, len(trials)) == ("run icpe23-ycsb-b", 30)
    assert around.parent_span_id == b""
    assert {span.trace_id for span in spans} == {around.trace_id}
    assert len({span.span_id for span in spans}) == 31
    for span in trials:
        assert span.parent_span_id == around.span_id
        assert around.start_time_unix_nano <= span.start_time_unix_nano < span.end_time_unix_nano
        assert span.end_time_unix_nano <= around.end_time_unix_nano
        assert span.name == f"trial {attributes(span)['crosswind.condition']}"
    assert attributes(around) == {
        "crosswind.experiment": "icpe23-ycsb-b", "crosswind.application": "ycsb", "crosswind.attempts": 30,
    }  # fmt: skip


def test_a_span_has_fidelity_and_figures_and_says_why_a_trial_does_not_count(folder: Path) -> None:
    results = Results(folder)
    found = {}
    for span in read(trace_of(results))[1:]:
        about = attributes(span)
        found[about["crosswind.condition"], about["crosswind.block"]] = (span, about)
    failed, about = found[FAILED]
    assert (failed.status.code, failed.status.message) == (
        Status.STATUS_CODE_ERROR,
        "process postgres on db0 exited with 1 before it was ready",
    )
    assert [event.name for event in failed.events] == ["exception"]
    assert attributes(failed.events[0]) == {"exception.message": failed.status.message}
    assert failed.events[0].time_unix_nano == failed.end_time_unix_nano
    assert "crosswind.figure.latency.p99" not in about
    void, about = found[VOID]
    assert void.status.message == "void: deadlines missed by 3.1 % of packets; more than 1 %"
    assert about["crosswind.fidelity"] == "void"
    degraded, about = found[DEGRADED]
    assert degraded.status.code == Status.STATUS_CODE_UNSET
    assert about["crosswind.fidelity_reason"] == "canary gap of 6.2 ms; more than 5 ms"
    (trial,) = (trial for trial in results.trials if (trial.condition, trial.block) == DEGRADED)
    (p99,) = (v for _, metric, statistic, v in results.metrics[trial.trial]
              if (metric, statistic) == ("latency", "p99"))  # fmt: skip
    assert about["crosswind.figure.latency.p99"] == p99
    assert about["crosswind.unit.latency.p99"] == "ns"


def test_faults_are_events_of_their_attempt(tmp_path: Path) -> None:
    folder = write_faulty(tmp_path / "run", blocks=2)
    found = {}
    for span in read(trace_of(Results(folder)))[1:]:
        faults = [event for event in span.events if event.name == "fault"]
        found[attributes(span)["crosswind.condition"]] = faults
    killed = found["icpe23/token-bucket-on-switch"]
    first = attributes(killed[0])
    assert {**first, "crosswind.late_s": pytest.approx(40e-6)} == {
        "crosswind.fault": "kill db0", "crosswind.fault.kind": "kill", "crosswind.fault.nodes": "db0",
        "crosswind.by": "timeline", "crosswind.late_s": 40e-6,
    }  # fmt: skip
    seconds = [(event.time_unix_nano - killed[0].time_unix_nano) // S for event in killed]
    assert seconds == [0, 3, 8, 10]
    assert [attributes(event)["crosswind.fault"] for event in found["icpe23/interference"]] == [
        "isolate db0",
        "heal",
    ]
    assert found["icpe23/no-interference"] == []


def test_the_same_run_has_the_same_identifiers_and_another_run_others(folder: Path, tmp_path: Path) -> None:
    again = trace_of(Results(folder))
    assert again == trace_of(Results(folder))
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert not {s.span_id for s in read(again)} & {s.span_id for s in read(trace_of(Results(other)))}


def write_steps(folder: Path, *steps: tuple[str, int, str, int]) -> None:
    """Write steps (trial, attempt, step, second) into the journal of a folder."""
    with Journal(folder / "journal.sqlite") as journal:
        for trial, attempt, step, second in steps:
            at = f"2026-11-20T10:00:{second:02d}.000001+00:00"
            insert = "INSERT INTO steps VALUES (?, ?, ?, ?, '{}')"
            journal._connection.execute(insert, [at, trial, attempt, step])


AT = 1_795_168_800 * S + 1000  # 2026-11-20T10:00:00.000001Z


def parts(spans: list[Read], trial: str) -> list[tuple[str, int, int, str]]:
    (around,) = (span for span in spans if attributes(span).get("crosswind.trial") == trial)
    return [
        (span.name, (span.start_time_unix_nano - AT) // S, (span.end_time_unix_nano - AT) // S,
         span.status.message)
        for span in spans if span.parent_span_id == around.span_id
    ]  # fmt: skip


def test_steps_of_the_journal_are_parts_of_an_attempt(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=200, blocks=2)
    trials = Results(folder).trials
    (failed,) = (trial.trial for trial in trials if trial.status == "failed")
    done = trials[0].trial
    write_steps(
        folder,
        (done, 0, "planned", 0), (failed, 0, "planned", 0),
        (done, 1, "started", 1), (done, 1, "up", 2), (done, 1, "prepared", 4), (done, 1, "measured", 8),
        (done, 1, "stored", 9),
        (failed, 1, "started", 10), (failed, 1, "up", 11), (failed, 1, "failed", 15),
        # A repeated attempt has a name of its own; there is no row of it here.
        (done, 2, "started", 20), (done, 2, "failed", 21),
    )  # fmt: skip
    spans = read(trace_of(Results(folder)))
    assert parts(spans, done) == [
        ("network up", 1, 2, ""), ("prepare", 2, 4, ""), ("measure", 4, 8, ""), ("store", 8, 9, ""),
    ]  # fmt: skip
    reason = "process postgres on db0 exited with 1 before it was ready"
    assert parts(spans, failed) == [("network up", 10, 11, ""), ("prepare", 11, 15, reason)]
    (around,) = (span for span in spans if attributes(span).get("crosswind.trial") == done)
    assert (around.start_time_unix_nano, around.end_time_unix_nano) == (AT + 1 * S, AT + 9 * S)


def measured(folder: Path, trial: str, **changes: Any) -> None:
    path = folder / "monitors" / f"{trial}.json"
    document = json.loads(path.read_text())
    for key, value in changes.items():
        document[key] = {**document[key], **value} if isinstance(value, dict) else value
    path.write_text(json.dumps(document))


def test_changes_and_stalls_are_events_with_their_instants(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=200, blocks=1, conditions=2)
    first, second = (trial.trial for trial in Results(folder).trials)
    change = {"at_ns": 5 * S, "asked_ns": 4 * S, "by": "timeline", "condition": "far", "places": {"link": []}}
    stalls = {"stalls": [{"at_ns": 6 * S, "length_ns": 7_000_000}]}
    for trial, offset_ns in ((first, AT), (second, 0)):
        window = {"realtime_minus_monotonic_ns": offset_ns}
        measured(folder, trial, window=window, changes=[change], host=stalls)
    spans = {attributes(span).get("crosswind.trial"): span for span in read(trace_of(Results(folder)))}
    assert [
        (event.name, event.time_unix_nano, attributes(event)) for event in spans[first].events
    ] == [
        ("condition", AT + 5 * S, {"crosswind.condition": "far", "crosswind.by": "timeline",
                                   "crosswind.places": '{"link": []}'}),
        ("stall", AT + 6 * S, {"crosswind.length_s": 0.007}),
    ]  # fmt: skip
    # Without the offset of the clocks their instants are unknown.
    assert [*spans[second].events] == []


def test_an_attempt_whose_process_was_killed_ends_where_it_was_last_seen(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=200, blocks=1, conditions=1)
    (planned,) = Results(folder).trials
    row = TrialRow(
        planned.trial, 0, 0, planned.condition, "ycsb", "interrupted", "interrupted: the run ended", None,
        None, "2026-11-20T10:00:01.000001+00:00", None, 1, 7,
    )  # fmt: skip
    with Journal(folder / "journal.sqlite") as journal:
        journal.plan([replace(row, status="pending", reason=None, started=None, attempt=0)])
    write_steps(folder, (row.trial, 1, "started", 1), (row.trial, 1, "up", 3))
    with Journal(folder / "journal.sqlite") as journal:
        journal.failed(row.trial, row)  # At the time of the test.
        write_tables(folder, journal, Results(folder).resolved)
    _, attempt, up = read(trace_of(Results(folder)))
    assert (attempt.start_time_unix_nano, attempt.end_time_unix_nano) == (AT + 1 * S, AT + 3 * S)
    assert (up.name, attempt.status.message) == ("network up", "interrupted: the run ended")


def test_of_many_events_the_first_are_kept_and_the_others_counted() -> None:
    events = [SpanEvent(at, "stall") for at in range(EVENTS_MAX + 5, 0, -1)]
    (span,) = read(
        line_of([TraceSpan(b"t" * 16, b"s" * 8, "trial", 1, 2, events=events)], {"service.name": "crosswind"})
    )
    assert [event.time_unix_nano for event in span.events] == [*range(1, EVENTS_MAX + 1)]
    assert span.dropped_events_count == 5


def test_every_kind_of_value_is_read_back() -> None:
    values = {"text": 'a "b"\n\u00fc', "yes": True, "no": False, "large": 2**62, "less": -1, "share": 0.1}
    (span,) = read(
        line_of([TraceSpan(b"t" * 16, b"s" * 8, "x", 1, 2, attributes=values)], {"service.name": "crosswind"})
    )
    found = attributes(span)
    assert found == values
    assert [type(value) for value in found.values()] == [type(value) for value in values.values()]


def test_report_writes_the_trace_and_nothing_else(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {*folder.rglob("*")}
    file = tmp_path / "new" / "trace.json"
    assert run(["report", str(folder), "--otlp", str(file)]) == 0
    assert capsys.readouterr().out == f"trace: {file}\n"
    assert file.read_text() == trace_of(Results(folder))
    assert {*folder.rglob("*")} == before
    assert run(["report", str(folder), "--otlp", str(file), "--json"]) == 2
    assert "write only one of them" in capsys.readouterr().err


def test_a_run_without_trials_has_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(tmp_path / "run", operations=200, blocks=0)
    assert run(["report", str(folder), "--otlp", str(tmp_path / "trace.json")]) == 2
    assert "no trial was tried" in capsys.readouterr().err
    assert not (tmp_path / "trace.json").exists()


def test_events_of_a_run_in_slow_time_are_within_the_spans_which_are_of_real_time(
    folder: Path, tmp_path: Path
) -> None:
    fast, slow = (Path(shutil.copytree(folder, tmp_path / name)) for name in ("fast", "slow"))
    for number, where in enumerate((fast, slow)):
        for path in sorted((where / "monitors").glob("*.json")):
            document = json.loads(path.read_text())
            window = document["window"]
            window["realtime_minus_monotonic_ns"] = 5
            anchor = {"monotonic_ns": window["started_ns"], "realtime_ns": 0}
            document["changes"] = [
                {
                    "at_ns": window["started_ns"] + S,
                    "asked_ns": 0,
                    "by": "set",
                    "condition": "c",
                    "places": {},
                }
            ]
            if number:
                document["time"] = {"factor": 10, "anchor": anchor}
            path.write_text(json.dumps(document))
    events = [
        [event.time_unix_nano for span in read(trace_of(Results(where))) for event in span.events
         if event.name == "condition"]
        for where in (fast, slow)
    ]  # fmt: skip
    before, after = events
    assert before
    # A perceived second after the anchor are ten real ones.
    assert [late - early for early, late in zip(before, after, strict=True)] == [9 * S] * len(before)

"""Files of a results folder: durable, at once, and with the numbers that the samples give."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from crosswind.machine import machine_fingerprint, provenance
from crosswind.results import (
    Journal,
    Measurement,
    Metric,
    NoSamples,
    ResultsFolder,
    TrialRow,
    latest_folder,
    store_monitors,
    store_samples,
    write_tables,
)
from crosswind.results.disturbances import Disturbances
from crosswind.results.durable import replacing, write_text
from crosswind.spec.resolved import Resolved

QUIET = Disturbances(window_ns=1_000_000_000)
HEADER = "operation,connection,intended_ns,started_ns,finished_ns,ok,measured\n"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "table"
    write_text(path, "old")

    def fill_the_disk() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fill_the_disk()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("table", "old")]


def test_a_write_begins_without_what_a_killed_one_left(tmp_path: Path) -> None:
    path = tmp_path / "table"
    (tmp_path / ".table.part").write_text("half of it")
    with replacing(path) as temporary:
        assert not temporary.exists()
        temporary.write_text("new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("table", "new")]


def test_metrics_are_type_7_quantiles_of_measured_successes_by_operation(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    read_ns, update_ns = rng.integers(1_000, 9_000_000, 301), rng.integers(1_000, 9_000_000, 57)
    lines = [f"read,0,{i},{i},{i + ns},1,1\n" for i, ns in enumerate(read_ns)]
    lines += [f"update,1,{i},{i},{i + ns},1,1\n" for i, ns in enumerate(update_ns)]
    # Neither the warm-up nor a failed operation may be part of a quantile.
    lines += ["read,0,0,0,99000000000,1,0\n", "read,0,0,0,1,0,1\n"]
    csv = tmp_path / "samples.csv"
    csv.write_text(HEADER + "".join(lines))
    metrics = store_samples(csv, "t0", "client", tmp_path, {"rate": None}, QUIET)
    found = {(metric.metric, metric.statistic): metric.value for metric in metrics}
    both = np.concatenate([read_ns, update_ns])
    for name, values in (("latency", both), ("latency.read", read_ns), ("latency.update", update_ns)):
        for statistic, quantile in (
            ("p50", 0.5),
            ("p90", 0.9),
            ("p95", 0.95),
            ("p99", 0.99),
            ("p999", 0.999),
        ):
            assert found[name, statistic] == pytest.approx(np.quantile(values, quantile), rel=1e-9)
        assert found[name, "max"] == values.max()
        assert found[name, "mean"] == pytest.approx(values.mean())
    assert found["operations", "count"] == 358
    assert found["errors", "count"] == 1
    assert not any(metric.metric.startswith("response") for metric in metrics)
    stored = duckdb.sql(
        f"SELECT count(*), count(*) FILTER (measured), any_value(trial) FROM '{tmp_path}/t0.parquet'"
    )
    assert stored.fetchall() == [(360, 359, "t0")]


def test_a_part_of_an_operation_has_metrics_and_is_in_no_total(tmp_path: Path) -> None:
    csv = tmp_path / "samples.csv"
    rows = (
        "read,0,0,0,2000000,1,1",
        "read-modify-write,0,0,0,9000000,1,1",
        "read-modify-write.update,0,4000000,4000000,9000000,1,1",
    )
    csv.write_text(HEADER + "".join(f"{row}\n" for row in rows))
    metrics = store_samples(csv, "t0", "client", tmp_path, {"rate": None}, QUIET)
    found = {(metric.metric, metric.statistic): metric.value for metric in metrics}
    assert found["operations", "count"] == 2
    assert found["latency", "mean"] == 5.5e6
    assert found["latency.read-modify-write", "max"] == 9e6
    assert found["latency.read-modify-write.update", "max"] == 5e6
    stored = duckdb.sql(f"SELECT operation FROM '{tmp_path}/t0.parquet' ORDER BY 1")
    assert stored.fetchall() == [("read",), ("read-modify-write",)]


def test_an_open_loop_also_has_a_response_time_from_the_intended_start(tmp_path: Path) -> None:
    csv = tmp_path / "samples.csv"
    csv.write_text(HEADER + "call,0,100,150,250,1,1\n" + "call,0,200,250,300,1,1\n")
    metrics = store_samples(csv, "t0", "client", tmp_path, {"rate": 10.0}, QUIET)
    found = {(metric.metric, metric.statistic): metric.value for metric in metrics}
    assert (found["latency", "max"], found["response", "max"]) == (100, 150)


def test_the_share_over_100_ms_counts_failed_operations_and_has_a_range(tmp_path: Path) -> None:
    # 200 operations of 1 ms, one after the other. One waits for a stall of 150 ms, one fails after 200 ms.
    csv = tmp_path / "samples.csv"
    starts_ns = [i * 2_000_000 for i in range(200)]
    rows = [f"read,0,{at},{at},{at + 1_000_000},1,1" for at in starts_ns]
    rows += ["read,0,400000000,400000000,551000000,1,1", "read,1,100000000,100000000,300000000,0,1"]
    csv.write_text(HEADER + "".join(f"{row}\n" for row in rows))
    stall = Disturbances(
        600_000_000, np.array([400_500_000], dtype=np.int64), np.array([550_500_000], dtype=np.int64)
    )
    metrics = store_samples(csv, "t0", "client", tmp_path, {"rate": None}, stall)
    (slow,) = (metric for metric in metrics if metric.metric == "slow")
    assert slow.value == 2 / 202
    # Without the stall the failed one is left, of some more operations.
    assert slow.low is not None
    assert slow.high is not None
    assert slow.low < 1 / 202 < slow.value <= slow.high


def test_a_load_without_a_success_has_nothing_to_say(tmp_path: Path) -> None:
    csv = tmp_path / "samples.csv"
    csv.write_text(HEADER + "read,0,0,0,1,0,1\n")
    with pytest.raises(NoSamples, match="1 failed"):
        store_samples(csv, "t0", "client", tmp_path, {}, QUIET)
    assert not (tmp_path / "t0.parquet").exists()


def measurement(**changes: Any) -> Measurement:
    element = {
        "element": "h0/switch.ingress/0:police",
        "place": "switch.ingress",
        "of": "h0",
        "real": {"dropped": {"no-tokens": {"packets": 5, "bytes": 7500}}},
        "ghost": {"dropped": {"no-tokens": {"packets": 500, "bytes": 750000}}},
    }
    drop = {"at_ns": 5, "element": element["element"], "reason": "no-tokens", "tcp_seq": 2**32 - 1}
    held = {"at_ns": 9, "node": "db0", "src": "10.77.0.1:80", "dst": "10.77.0.2:9", "held_ns": 40}
    draws = [{"at_ns": 0, "rate_bps": 100}, {"at_ns": 75, "rate_bps": 20}]
    measured = {
        "window": {"started_ns": 0, "ended_ns": 100, "realtime_minus_monotonic_ns": 3},
        "ledger": {
            "packets": 10,
            "early": 0,
            "missed": 0,
            "bound_ns": 100,
            "error_ns": {"p50": 1, "p90": 2, "p99": 3, "p999": 4, "max": 5},
        },
        "conservation": {"holds": True},
        "host": {"canary_gap_ns_max": 1, "ring_overruns": 0},
        "elements": [element, {**element, "of": "h1"}],
        "series": {"step_ns": 100, "rows": []},
        "monitors": [],
        "interference": [{"source": "h0->h1", "draws": draws}],
        "capacity": [
            {"link": "h0/uplink", "lost_records": 2, "changes": [{"at_ns": 5, "rate_bps": 0}]},
        ],
        "drops": {"lost_records": 0, "rows": [drop]},
        "retransmissions": {"lost_records": 4, "rows": []},
        "held_acknowledgements": {"lost_records": 0, "rows": [held]},
        "nodes": [
            {"node": "db0", "memory_peak_bytes": 1000, "cpu_time_ns": 20},
            {"node": "lost", "memory_peak_bytes": None, "cpu_time_ns": None},
        ],
        **changes,
    }
    return Measurement.model_validate(measured)


def test_the_changes_of_one_move_by_hand_are_one_and_those_of_a_timeline_are_not() -> None:
    second = 10**9

    def change(at_ns: int, by: str = "set") -> dict[str, object]:
        return {"at_ns": at_ns, "asked_ns": at_ns, "by": by, "condition": "x", "places": {}}

    # A slider is dragged from 11 s to 12.4 s; what is before the window is the trial's condition.
    dragged = [change(11 * second + tenth * second // 10) for tenth in range(15)]
    steps = [change(14 * second, "timeline"), change(14 * second + 1, "timeline")]
    found = measurement(
        window={"started_ns": 10 * second, "ended_ns": 20 * second},
        changes=[change(9 * second), *dragged, *steps],
    )
    assert [each.at_ns for each in found.changes_within] == [12_400_000_000, 14 * second, 14 * second + 1]


def test_monitors_become_tables_and_metrics(tmp_path: Path) -> None:
    metrics = store_monitors(measurement(), {"tool": "crosswind-load"}, "t0", tmp_path)
    found = {(metric.node, metric.metric, metric.statistic): metric.value for metric in metrics}
    # Drops of ghosts are interference, not the application's; both ports of the switch add up.
    assert found["switch.ingress", "drops", "no-tokens"] == 10
    assert found[None, "retransmissions", "count"] == 4
    # 100 bit/s for 75 ns and 20 bit/s for 25 ns.
    assert found[None, "interference.offered", "mean"] == 80
    assert duckdb.sql(f"SELECT tcp_seq FROM '{tmp_path}/t0.drops.parquet'").fetchall() == [(2**32 - 1,)]
    assert duckdb.sql(f"SELECT * FROM '{tmp_path}/t0.retransmissions.parquet'").fetchall() == []
    held = f"SELECT node, held_ns FROM '{tmp_path}/t0.held_acknowledgements.parquet'"
    assert duckdb.sql(held).fetchall() == [("db0", 40)]
    rest = json.loads((tmp_path / "t0.json").read_text())
    assert rest["load"] == {"tool": "crosswind-load"}
    assert "rows" not in rest["drops"]


def test_monitored_quantities_become_tables_of_bins_and_steps(tmp_path: Path) -> None:
    monitor = {
        "element": "h0/link.up/0:monitor",
        "place": "link",
        "of": "h0",
        "window_ns": 1_000_000,
        "started_ns": 5,
        "histograms": [
            {"what": "ipg", "unit": "ns", "counts": "gaps", "count": 3, "bins": [[0, 1, 2], [2**42, None, 1]]}
        ],
        "counts": {},
        "trends": [
            {"what": "utilisation", "unit": "per-mille", "step_ns": 2_000_000, "rows": [[5, 12.5, 25]]}
        ],
    }
    store_monitors(measurement(monitors=[monitor]), {}, "t0", tmp_path)
    bins = duckdb.sql(f"SELECT of, what, low, high, count FROM '{tmp_path}/t0.histograms.parquet'").fetchall()
    assert bins == [("h0", "ipg", 0, 1, 2), ("h0", "ipg", 2**42, None, 1)]
    steps = duckdb.sql(
        f"SELECT what, at_ns, step_ns, mean, max FROM '{tmp_path}/t0.trends.parquet'"
    ).fetchall()
    assert steps == [("utilisation", 5, 2_000_000, 12.5, 25)]
    (kept,) = json.loads((tmp_path / "t0.json").read_text())["monitors"]
    assert kept["histograms"] == [{"what": "ipg", "unit": "ns", "counts": "gaps", "count": 3}]


def test_what_buckets_held_becomes_a_table_and_a_folder_without_buckets_has_none(tmp_path: Path) -> None:
    left = [{"at_ns": 0, "element": "db0/host.egress/0:credit", "left_bits": bits} for bits in (80, 30)]
    store_monitors(measurement(series={"step_ns": 100, "rows": [], "credit": left}), {}, "t0", tmp_path)
    rows = duckdb.sql(f"SELECT * FROM '{tmp_path}/t0.credit.parquet'").fetchall()
    assert rows == [(0, "db0/host.egress/0:credit", 80), (0, "db0/host.egress/0:credit", 30)]
    assert json.loads((tmp_path / "t0.json").read_text())["series"] == {"step_ns": 100}
    store_monitors(measurement(), {}, "t1", tmp_path)
    assert not (tmp_path / "t1.credit.parquet").exists()


def test_an_unlimited_draw_is_null_and_no_part_of_the_mean(tmp_path: Path) -> None:
    draws = [{"at_ns": 0, "rate_bps": None}, {"at_ns": 50, "rate_bps": 8}]
    metrics = store_monitors(
        measurement(interference=[{"source": "h0->h1", "draws": draws}]), {}, "t0", tmp_path
    )
    assert [metric.value for metric in metrics if metric.metric == "interference.offered"] == [8]
    rows = duckdb.sql(f"SELECT rate_bps FROM '{tmp_path}/t0.interference.parquet' ORDER BY at_ns").fetchall()
    assert rows == [(None,), (8,)]


def test_tables_hold_what_the_journal_holds(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.sqlite") as journal:
        pending = [
            TrialRow(name, 0, place, "none", "rpc", "pending", None, None, None, None, None, 0, 7)
            for place, name in enumerate(("t0", "t1"))
        ]
        journal.plan(pending)
        ended = replace(pending[0], status="done", fidelity="faithful", started="1970-01-01T00:00:00+00:00")
        journal.stored("t0", ended, [Metric("client", "throughput", "1/s", "mean", 12.5)])
        write_tables(tmp_path, journal, RESOLVED)
    trials = duckdb.sql(
        f"SELECT trial, status, epoch(started) FROM '{tmp_path}/trials.parquet' ORDER BY position"
    )
    assert trials.fetchall() == [("t0", "done", 0.0), ("t1", "pending", None)]
    metrics = duckdb.sql(
        f"SELECT trial, node, metric, unit, statistic, value FROM '{tmp_path}/metrics.parquet'"
    )
    assert metrics.fetchall() == [("t0", "client", "throughput", "1/s", "mean", 12.5)]


def test_factors_are_columns_of_the_trials_each_with_its_unit(tmp_path: Path) -> None:
    resolved = Resolved.model_validate(
        {
            "application": {"name": "rpc"},
            "factors": {"delay": {"unit": "ns"}, "setup": {"unit": None}, "streams": {"unit": "1"}},
            "conditions": [
                {"name": "none"},
                {"name": "far", "factors": {"delay": 50_000, "setup": "old", "streams": 4}},
            ],
        }
    )
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.plan(
            TrialRow(name, 0, place, name, "rpc", "pending", None, None, None, None, None, 0, 7)
            for place, name in enumerate(("far", "none"))
        )
        write_tables(tmp_path, journal, resolved)
    columns = "factor_delay_ns, factor_setup, factor_streams"
    rows = duckdb.sql(f"SELECT {columns} FROM '{tmp_path}/trials.parquet' ORDER BY position")
    assert rows.fetchall() == [(50_000.0, "old", 4.0), (None, None, None)]


RESOLVED = Resolved.model_validate(
    {
        "schema": 2,
        "name": "x",
        "application": {"name": "rpc"},
        "conditions": [{"name": "none"}],
        "trials": {"seed": 7},
    }
)


def test_two_runs_in_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    first, second = (ResultsFolder.create(tmp_path, RESOLVED, "name: x\n") for _ in range(2))
    assert first.path != second.path
    assert (tmp_path / "x" / "latest").resolve() == second.path
    assert latest_folder(tmp_path) == second.path
    assert latest_folder(second.path.parent) == second.path
    assert ResultsFolder.open(tmp_path / "x" / "latest").resolved() == RESOLVED


def test_half_written_files_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    folder = ResultsFolder.create(tmp_path, RESOLVED, "name: x\n")
    (folder.path / "samples" / ".t0.parquet.part").write_text("half")
    folder.remove_partial_files()
    assert list((folder.path / "samples").iterdir()) == []


def test_a_folder_that_is_no_run_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no journal"):
        ResultsFolder.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="no run in it"):
        latest_folder(tmp_path)


def test_load_and_time_are_no_part_of_the_machines_fingerprint(tmp_path: Path) -> None:
    before = provenance(tmp_path, 7, {"crosswind-agent": "1"})
    after = before.with_changes(time="later", load_average=[9.0, 9.0, 9.0], steal_s=1e9)
    assert machine_fingerprint(before) == machine_fingerprint(after)
    assert machine_fingerprint(before) != machine_fingerprint(before.with_changes(kernel="another"))

"""Write a results folder as the contracts describe it, from a seed: ten conditions in three blocks.

The latencies are a body of some hundred microseconds and, where a policer drops, stalls of a little more than
200 ms with the drop and the retransmission that explain them. One trial failed, one is void, one is degraded.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from crosswind.spec.buffer import BufferSize
from crosswind.spec.network import star_links

BASE = "icpe23/no-interference"
# condition: body median in us, share of operations that stall, element that drops (None: nothing drops)
CONDITIONS: dict[str, tuple[float, float, str | None]] = {
    BASE: (180.0, 0.0, None),
    "icpe23/interference": (290.0, 0.0002, "h0/switch.egress/0:fifo"),
    "icpe23/token-bucket-on-switch": (270.0, 0.022, "h0/switch.ingress/0:police"),
    "icpe23/priority-queue-on-switch": (285.0, 0.0003, "h0/switch.egress/0:schedule"),
    "icpe23/token-bucket-and-priority-queue-on-switch": (265.0, 0.019, "h0/switch.ingress/0:police"),
    "icpe23/token-bucket-on-host": (205.0, 0.0004, "db0/host.egress/0:police"),
    "icpe23/priority-queue-on-host": (275.0, 0.0002, "h0/switch.egress/0:fifo"),
    "icpe23/token-bucket-and-priority-queue-on-host": (210.0, 0.0005, "db0/host.egress/0:police"),
    "icpe23/priority-queue-on-host-token-bucket-on-switch": (268.0, 0.021, "h0/switch.ingress/0:police"),
    "icpe23/token-bucket-on-host-priority-queue-on-switch": (215.0, 0.0004, "db0/host.egress/0:police"),
}
FAILED = ("icpe23/priority-queue-on-host", 1)
VOID = ("icpe23/interference", 2)
DEGRADED = ("icpe23/token-bucket-on-host", 0)
STATISTICS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
MS = 1_000_000
STAR = [
    link.resolved(1.0).as_json()
    for link in star_links(["h0", "h1", "h2", "h3"], 10**9, 2000, BufferSize(size_bytes=52_428))
]
CLIENT, SERVER = "10.77.0.4", "10.77.0.1:5432"


def write_folder(
    folder: Path,
    operations: int = 10_000,
    blocks: int = 3,
    conditions: int = 10,
    rate_per_s: float | None = None,
) -> Path:
    """Write a results folder and return it.

    Args:
        operations: of each trial, at least one.
        blocks: each condition once per block.
        conditions: the first so many of CONDITIONS.
        rate_per_s: None for a closed loop; otherwise operations are due at this rate (open loop).
    """
    names = list(CONDITIONS)[:conditions]
    generator = np.random.default_rng(11)
    for part in ("samples", "monitors"):
        (folder / part).mkdir(parents=True)
    trials: list[tuple[Any, ...]] = []
    metrics: list[tuple[Any, ...]] = []
    started = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    for block in range(blocks):
        for name in generator.permutation(names):
            name = str(name)
            position = len(trials)
            trial = f"b{block:02d}-p{position:02d}-{name.split('/')[1]}"
            failed, void, degraded = ((name, block) == case for case in (FAILED, VOID, DEGRADED))
            reason = "process postgres on db0 exited with 1 before it was ready" if failed else None
            fidelity = None if failed else "void" if void else "degraded" if degraded else "faithful"
            why = (
                "deadlines missed by 3.1 % of packets; more than 1 %" if void
                else "canary gap of 6.2 ms; more than 5 ms" if degraded else None
            )  # fmt: skip
            trials.append(
                (trial, block, position, name, "ycsb", "failed" if failed else "done", reason, fidelity, why,
                 started, 4.0 if failed else 12.5, 1, int(generator.integers(2**32)))
            )  # fmt: skip
            started += timedelta(seconds=14)
            log = folder / "logs" / trial / "db0" / "postgres.err"
            log.parent.mkdir(parents=True)
            log.write_text("FATAL: could not bind\n" if failed else "ready\n")
            if not failed:
                metrics += _trial(folder, generator, trial, name, operations, rate_per_s, void, degraded)
    _write_table(
        folder / "trials.parquet",
        "trial varchar, block int, position int, condition varchar, application varchar, status varchar, "
        "reason varchar, fidelity varchar, fidelity_reason varchar, started timestamptz, duration_s double, "
        "attempt int, seed bigint",
        trials,
    )
    _write_table(
        folder / "metrics.parquet",
        "trial varchar, node varchar, metric varchar, unit varchar, statistic varchar, value double",
        metrics,
    )
    (folder / "resolved.json").write_text(
        json.dumps(_resolved(names, blocks, operations, rate_per_s), indent=1)
    )
    (folder / "provenance.json").write_text(json.dumps(_provenance(), indent=1))
    (folder / "experiment.yaml").write_text("name: icpe23-ycsb-b\n")
    return folder


def _trial(
    folder: Path,
    generator: np.random.Generator,
    trial: str,
    condition: str,
    operations: int,
    rate_per_s: float | None,
    void: bool,
    degraded: bool,
) -> list[tuple[Any, ...]]:
    """Write samples and monitors of one trial and return its rows of metrics."""
    median_us, stall_share, element = CONDITIONS[condition]
    begin = 1_000_000_000_000
    session = generator.normal(1, 0.05)  # trials differ more than operations of one trial explain
    connections = min(4, operations)
    latency = generator.lognormal(np.log(median_us * session * 1000), 0.28, operations)
    slow = generator.random(operations) < 0.01
    latency[slow] *= generator.uniform(3, 9, slow.sum())
    stalled = generator.random(operations) < stall_share * generator.uniform(0.7, 1.3)
    latency[stalled] += generator.uniform(200 * MS, 206 * MS, stalled.sum())
    latency = latency.astype(np.int64)
    connection = np.arange(operations) % connections
    started = np.empty(operations, dtype=np.int64)
    intended = np.empty(operations, dtype=np.int64)
    for c in range(connections):
        mine = connection == c
        if rate_per_s is None:
            started[mine] = begin + np.concatenate(([0], np.cumsum(latency[mine] + 2000)[:-1]))
            intended[mine] = started[mine]
        else:
            due = begin + (np.arange(mine.sum()) * connections * 1e9 / rate_per_s).astype(np.int64)
            free = 0
            begun = np.empty(mine.sum(), dtype=np.int64)
            for i, (at, took) in enumerate(zip(due, latency[mine], strict=True)):
                begun[i] = max(at, free)
                free = begun[i] + took
            started[mine], intended[mine] = begun, due
    finished = started + latency
    kind = np.where(generator.random(operations) < 0.95, "read", "update").astype(object)
    ended = int(finished.max())
    _write_columns(
        folder / "samples" / f"{trial}.parquet",
        {
            "trial": np.full(operations, trial, dtype=object),
            "node": np.full(operations, "client", dtype=object),
            "operation": kind,
            "connection": connection,
            "intended_ns": intended,
            "started_ns": started,
            "finished_ns": finished,
            "ok": np.ones(operations, dtype=bool),
            "measured": np.ones(operations, dtype=bool),
        },
    )
    drops, retransmissions = _packet_events(generator, element, stalled, started, finished, connection)
    draws = _interference(generator, condition, begin, ended)
    _write_monitors(folder, trial, begin, ended, element, drops, retransmissions, draws, void, degraded)
    return _metrics(
        trial, kind, started - intended, latency, (ended - begin) / 1e9, drops, retransmissions, draws, void
    )


def _packet_events(
    generator: np.random.Generator,
    element: str | None,
    stalled: Any,
    started: Any,
    finished: Any,
    connection: Any,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the drops and retransmissions that explain most of the stalls: four in five, one in ten half,
    one in ten not."""
    drops: list[tuple[Any, ...]] = []
    retransmissions: list[tuple[Any, ...]] = []
    for index in np.flatnonzero(stalled):
        fate = generator.random()
        if fate > 0.9:
            continue
        client = f"{CLIENT}:{40001 + connection[index]}"
        sequence = int(generator.integers(2**32))
        at = int(finished[index]) - 150_000
        first = max(int(started[index]) + 40_000, at - 201 * MS)
        if fate < 0.8:
            reason = "no-tokens" if "police" in str(element) else "queue-full"
            drops.append((first + 9_000, element, reason, SERVER, client, "tcp", 1200, 1148, sequence, 24))
        retransmissions.append((at, "db0", SERVER, client, sequence, 1148, at - first))
    return drops, retransmissions


def _interference(
    generator: np.random.Generator, condition: str, begin: int, ended: int
) -> list[tuple[Any, ...]]:
    if condition == BASE:
        return []
    return [
        (source, at, None if at == begin else int(np.clip(generator.normal(5e8, 2e8), 0, 1e9)))
        for source in ("h0->h1", "h1->h0")
        for at in range(begin, ended, 1_000 * MS)
    ]


def _write_monitors(
    folder: Path,
    trial: str,
    begin: int,
    ended: int,
    element: str | None,
    drops: list[tuple[Any, ...]],
    retransmissions: list[tuple[Any, ...]],
    draws: list[tuple[Any, ...]],
    void: bool,
    degraded: bool,
) -> None:
    stem = folder / "monitors" / trial
    counters = [(row[0] // (100 * MS) * (100 * MS), row[1], "real", 1200, 0, 1, 1200, 0) for row in drops]
    _write_table(
        Path(f"{stem}.counters.parquet"),
        "at_ns bigint, element varchar, class varchar, arrived_bytes bigint, departed_bytes bigint, "
        "dropped_packets bigint, dropped_bytes bigint, queued_bytes bigint",
        counters,
    )
    _write_table(
        Path(f"{stem}.drops.parquet"),
        "at_ns bigint, element varchar, reason varchar, src varchar, dst varchar, protocol varchar, "
        "ip_bytes int, payload_bytes int, tcp_seq bigint, tcp_flags int",
        drops,
    )
    _write_table(
        Path(f"{stem}.retransmissions.parquet"),
        "at_ns bigint, node varchar, src varchar, dst varchar, tcp_seq bigint, payload_bytes int, "
        "since_first_ns bigint",
        retransmissions,
    )
    _write_table(Path(f"{stem}.interference.parquet"), "source varchar, at_ns bigint, rate_bps bigint", draws)
    elements = []
    if element is not None:
        of, place, _ = element.split("/")
        dropped = {drops[0][2]: {"packets": len(drops), "bytes": 1200 * len(drops)}} if drops else {}
        elements.append({"element": element, "place": place, "of": of, "real": {"dropped": dropped}})
    missed = 6200 if void else 3
    measurement = {
        "window": {"started_ns": begin, "ended_ns": ended, "realtime_minus_monotonic_ns": 179 * 10**16},
        "wait_mode": "hybrid",
        "ledger": {
            "packets": 200_000, "early": 0, "missed": missed, "bound_ns": 100_000,
            "error_ns": _ledger_error(void),
            "ingress_clamped": 0, "ingress_clamp_ns_max": 0,
        },
        "conservation": {"holds": True},
        "host": {"canary_gap_ns_max": 6_200_000 if degraded else 310_000, "steal_ns": 0,
                 "run_queue_delay_ns": 5_900_000 if degraded else 0, "emulator_cpu_ns": (ended - begin) // 4,
                 "ring_overruns": 0, "send_retries": 0},
        "elements": elements,
        "load": {
            "tool": "crosswind-load",
            "not_started": 0,
            "connections": [
                {"connection": c, "local": f"{CLIENT}:{40001 + c}", "remote": SERVER} for c in range(4)
            ],
        },
    }  # fmt: skip
    Path(f"{stem}.json").write_text(json.dumps(measurement))


def _metrics(
    trial: str,
    kind: Any,
    waited: Any,
    latency: Any,
    seconds: float,
    drops: list[tuple[Any, ...]],
    retransmissions: list[tuple[Any, ...]],
    draws: list[tuple[Any, ...]],
    void: bool,
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [
        (trial, "client", "operations", "count", "total", float(latency.size)),
        (trial, "client", "errors", "count", "total", 0.0),
        (trial, "client", "throughput", "1/s", "mean", latency.size / seconds),
        (trial, None, "retransmissions", "count", "total", float(len(retransmissions))),
    ]
    named = {
        "latency": latency,
        "latency.read": latency[kind == "read"],
        "latency.update": latency[kind == "update"],
    }
    if waited.any():
        named["response"] = latency + waited
    for metric, values in named.items():
        if not values.size:
            continue  # Of few operations, none may be an update; a run stores no metric of those.
        for statistic, p in STATISTICS.items():
            rows.append((trial, "client", metric, "ns", statistic, float(np.quantile(values, p))))
        rows.append((trial, "client", metric, "ns", "max", float(values.max())))
        rows.append((trial, "client", metric, "ns", "mean", float(values.mean())))
    error = {"p50": 900, "p90": 4100, "p99": 19_000, "p999": 61_000, "max": 900_000 if void else 88_000}
    rows += [
        (trial, None, "ledger.error", "ns", statistic, float(value)) for statistic, value in error.items()
    ]
    limited = [rate for _, _, rate in draws if rate is not None]
    if limited:
        rows.append((trial, None, "interference.offered", "bit/s", "mean", float(np.mean(limited))))
    if drops:
        place = drops[0][1].split("/")[1]
        rows.append((trial, place, "drops", "count", drops[0][2], float(len(drops))))
    return rows


def _ledger_error(void: bool) -> dict[str, int]:
    return {"p50": 900, "p90": 4100, "p99": 19_000, "p999": 61_000, "max": 900_000 if void else 88_000}


def _resolved(names: list[str], blocks: int, operations: int, rate_per_s: float | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "store": "postgresql", "workload": "b", "records": 100_000, "operations": operations, "clients": 4,
    }  # fmt: skip
    if rate_per_s is not None:
        parameters["rate"] = rate_per_s
    return {
        "schema": 2,
        "name": "icpe23-ycsb-b",
        "summary": "Read tails of a replicated store under ten shaping set-ups",
        "source": "Hasenoot et al., ICPE '23, Table 5",
        "scale": 0.1,
        "topology": {
            "hosts": ["h0", "h1", "h2", "h3"],
            "nodes": {"db0": "h0", "db1": "h1", "db2": "h2", "client": "h3"},
            "form": "star", "switches": ["switch"], "links": STAR, "routes": "shortest",
        },
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
        "application": {"name": "ycsb", "parameters": parameters},
        "trials": {
            "repeat": {"at_least": blocks, "at_most": blocks}, "order": "randomised-blocks", "rest_s": 1.0,
            "seed": 7, "limits": {"duration_s": 1800},
        },
        "conditions": [
            {
                "name": name,
                "summary": name.split("/")[1].replace("-", " "),
                "places": {"switch.ingress": [{"police": {"rate_bps": 800_000_000, "burst_bytes": 10_000}}]}
                if "token-bucket-on-switch" in name else {},
                "interference": [], "timeline": [],
            }
            for name in names
        ],
        "warnings": ["interference 'zero' is 'unlimited': a draw of 0 sends at full speed, as deployed"],
        "preserved": ["rate / rate of the uplink", "burst / buffer"],
    }  # fmt: skip


def _provenance() -> dict[str, Any]:
    machine = {
        "kernel": "6.18.44", "cpu": "AMD EPYC (2 cores)", "clock_source": "tsc", "steal_s": 0.0,
        "offloads": "of the nodes", "sysctls": {"net.ipv4.tcp_congestion_control": "cubic"},
        "tools": {"crosswind": "0.1.0", "postgresql": "15.14"}, "seed": 7,
        "git": {"commit": "0123abc", "clean": True},
    }  # fmt: skip
    before = machine | {"time": "2026-11-20T09:29:58Z", "load_average": [0.2, 0.1, 0.1]}
    return {
        "before": before,
        "after": machine | {"time": "2026-11-20T09:37:03Z", "load_average": [0.9, 0.3, 0.1]},
    }


# The oldest DuckDB looks for pandas at every value that it is given: a minute long for ten conditions.
if find_spec("pandas") is None:
    sys.modules["pandas"] = None  # type: ignore[assignment]

# A new connection takes 20 ms, and two hundred trials have a thousand files.
_DATABASE = duckdb.connect()


def _write_columns(path: Path, columns: dict[str, Any]) -> None:
    _DATABASE.register("columns", columns)
    _DATABASE.execute(f"copy (select * from columns) to '{path}' (format parquet)")


def _write_table(path: Path, schema: str, rows: list[tuple[Any, ...]]) -> None:
    _DATABASE.execute(f"create or replace table rows ({schema})")
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        _DATABASE.executemany(f"insert into rows values ({marks})", rows)
    _DATABASE.execute(f"copy rows to '{path}' (format parquet)")

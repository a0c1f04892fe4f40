"""Our clients of memcached and web servers, compared with memcaslap and vegeta on the same server, in turns.

Both have the same number of connections, and closed loops or the same rate. The target is that rate and
median agree within 5 %. The path has a round trip of 20 ms, so that measurements are compared and not the
speed of two programs on a busy machine. The figures named `bare` have no delay, and there the clients differ.
"""

import csv
import math
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, Skipped, figure, skipped
from crosswind.app import Application, LoadOutcome, Stage
from crosswind.app.memcached import Memcached, MemcachedParameters
from crosswind.app.memcached.application import CLIENT, PORT, SERVER
from crosswind.app.requirements import DebianPackages
from crosswind.app.web import Web, WebParameters
from crosswind.testbed import Agent, RunningFabric, TestbedError
from crosswind.testbed.plain import plain_fabric

MEMCASLAP = DebianPackages("memcaslap", packages=("libmemcached-tools",), programs=("memcaslap",))
CONNECTIONS = 8
DURATION_S = 4
# Per uplink; a round trip crosses four: 20 ms.
DELAY_NS = 5_000_000
WANTED = "0.95 to 1.05"

# ETC in the ranges that memcaslap knows: sizes from, to, and their share.
_MEMCASLAP_MIX = """\
key
31 41 1
value
1 4 0.28
5 14 0.16
15 100 0.17
101 300 0.17
301 1000 0.16
1001 3000 0.06
cmd
0 0.033
1 0.967
"""
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Seen:
    """The figures of one client: 1/s and us. memcaslap has a geometric mean instead of a median."""

    rate: float
    mean_us: float
    geometric_us: float
    median_us: float | None


def memcached(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the ratios of rate and latency, ours to those of memcaslap."""
    if lacking := Memcached.missing():
        yield skipped("memcached beside memcaslap", f"{lacking[0].what}; {lacking[0].remedy}")
        return
    if MEMCASLAP.missing():
        yield skipped("memcached beside memcaslap", f"{MEMCASLAP.missing()[0]}; {MEMCASLAP.commands()[0]}")
        return
    asked = MemcachedParameters.model_validate(
        {"keys": 10_000, "connections": CONNECTIONS, "duration": f"{DURATION_S}s", "warm_up": "500ms"}
    )

    def both(stage: Stage) -> dict[str, Seen]:
        application = Memcached(asked)
        application.start(stage)
        theirs = _memcaslap(stage)
        ours = _seen(_loaded(application, stage))
        application.stop(stage)
        return {"ours": ours, "theirs": theirs}

    for path, delay_ns in (("20 ms", DELAY_NS), ("bare", 0)):
        seen = _in_turns(both, rounds, delay_ns)
        for what in ("rate", "mean_us", "geometric_us"):
            yield _ratio(f"memcached beside memcaslap, {path}, {what}", what, seen, delay_ns)


def web(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the ratios of rate and latency, ours to those of vegeta, in a closed loop and at a rate."""
    asked = {
        "objects": ["10kB"],
        "connections": CONNECTIONS,
        "duration": f"{DURATION_S}s",
        "warm_up": "500ms",
    }
    for loop, more in (("closed", {}), ("200/s", {"rate": "200/s"})):
        applications = {
            side: Web(WebParameters.model_validate(asked | more | {"client": client}))
            for side, client in (("ours", "crosswind"), ("theirs", "vegeta"))
        }
        if lacking := Web.missing(applications["theirs"].variant):
            yield skipped("web beside vegeta", f"{lacking[0].what}; {lacking[0].remedy}")
            return

        def both(
            stage: Stage,
            applications: dict[str, Application] = dict(applications),  # noqa: B006
        ) -> dict[str, Seen]:
            seen = {}
            for side, application in applications.items():
                own = Stage(stage.fabric, stage.folder / side, stage.seed)
                own.folder.mkdir()
                own.folder.chmod(0o777)
                application.start(own)
                seen[side] = _seen(_loaded(application, own))
                application.stop(own)
            return seen

        seen = _in_turns(both, rounds, DELAY_NS)
        for what in ("rate", "mean_us", "median_us"):
            yield _ratio(f"web beside vegeta, {loop}, {what}", what, seen, DELAY_NS)


def _in_turns(both: Callable[[Stage], dict[str, Seen]], rounds: int, delay_ns: int) -> dict[str, list[Seen]]:
    """Measure both sides in every round, on a network of its own."""
    seen: dict[str, list[Seen]] = defaultdict(list)
    for number in range(rounds):
        spec = plain_fabric((SERVER, CLIENT), rate_bps=_NS_PER_S, delay_ns=delay_ns)
        with Agent() as agent, tempfile.TemporaryDirectory() as logs, tempfile.TemporaryDirectory() as work:
            Path(work).chmod(0o777)
            with RunningFabric(agent, spec, Path(logs)) as fabric:
                for side, each in both(Stage(fabric, Path(work), number)).items():
                    seen[side].append(each)
    return seen


def _loaded(application: Application, stage: Stage) -> LoadOutcome:
    """Run the application's load to its end."""
    load = application.load(stage)
    load.await_measured_phase()
    ended = load.process.wait(load.longest_s)
    if ended is None or ended.code != 0:
        raise TestbedError(f"{load.process}: {ended}; {load.first_error() or load.process.last_words()}")
    return load.outcome()


def _seen(outcome: LoadOutcome) -> Seen:
    """Return the figures of the single operations."""
    assert outcome.operations is not None
    with outcome.operations.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["measured"] == "1" and row["ok"] == "1"]
    latencies_us = [(int(row["finished_ns"]) - int(row["started_ns"])) / 1000 for row in rows]
    span_ns = max(int(row["finished_ns"]) for row in rows) - min(int(row["started_ns"]) for row in rows)
    return Seen(
        rate=len(rows) / span_ns * _NS_PER_S,
        mean_us=statistics.fmean(latencies_us),
        geometric_us=statistics.geometric_mean(latencies_us),
        median_us=statistics.median(latencies_us),
    )


def _memcaslap(stage: Stage) -> Seen:
    """Run memcaslap on the server of the stage."""
    (stage.folder / "mix").write_text(_MEMCASLAP_MIX)
    program = MEMCASLAP.program("memcaslap")
    command = [
        program.path,
        *("-s", f"{stage.fabric.nodes[SERVER].address}:{PORT}"),
        *("-T", 1),
        *("-c", CONNECTIONS),
        *("-t", f"{DURATION_S}s"),
        *("-F", stage.folder / "mix"),
        *("-S", f"{DURATION_S}s"),
    ]
    process = stage.fabric.start(CLIENT, "memcaslap", command, cwd=stage.folder, env=program.env)
    ended = process.wait(DURATION_S + 30)
    if ended is None or ended.code != 0:
        raise TestbedError(f"{process}: {ended}; {process.last_words()}")
    return read_memcaslap(process.stdout.read_text())


def read_memcaslap(text: str) -> Seen:
    """Return the figures that memcaslap printed: the rate, and the averages of the last summary in us."""
    # With the end of its line, so that a number that was cut off is not used.
    rate = re.search(r"TPS: (\d+) Net_rate: [\d.]+M/s", text)
    summary = re.search(r"Total Statistics \(\d+ events\)\n.*?Avg: +(\d+)\n +Geo: +([\d.]+)", text, re.DOTALL)
    if rate is None or summary is None:
        raise TestbedError("memcaslap: its output has no end")
    return Seen(float(rate[1]), float(summary[1]), float(summary[2]), None)


def _ratio(name: str, what: str, seen: dict[str, list[Seen]], delay_ns: int) -> Figure:
    values = {side: [getattr(each, what) for each in all_of] for side, all_of in seen.items()}
    ratios = [ours / theirs for ours, theirs in zip(values["ours"], values["theirs"], strict=True)]
    beside = {side: round(math.fsum(each) / len(each), 1) for side, each in values.items()}
    return figure(name, "ratio", ratios, WANTED if delay_ns else None, **beside)

"""CometBFT 1.0.1 as a judge: 13 validators in the 13 zones of its own matrix of AWS regions.

The judge is the consensus: its blocks come later by what the delays between its validators are, it stops
when more than a third of them cannot be reached, and goes on when they can. Its matrix has delays one way:
its own tests delay by these values what each node sends.

Source: CometBFT 1.0.1, test/e2e/runner/latency_emulation.go.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import crosswind
from bench.judges.programs import COMETBFT
from bench.judges.votes import Matrix
from crosswind.errors import CrosswindError

# What a validator waits after a commit for the votes of slow ones: longer than they take through the matrix.
COMMIT_WAIT_S = 1.0
# How often a validator looks whether it has something to send to each of the others.
LOOKS_EVERY_MS = 20
PINGS = 5
# The height from which blocks are counted, and how long a chain may take for it.
_FIRST, _START_S = 3, 60.0
_UNDER_WAY_S = 3.0
_CONFIG = f"""\
proxy_app = "kvstore"
log_level = "state:info,*:error"
[rpc]
laddr = ""
[p2p]
pex = false
[consensus]
timeout_commit = "{COMMIT_WAIT_S:g}s"
peer_gossip_sleep_duration = "{LOOKS_EVERY_MS}ms"
"""
_COMMITTED = re.compile(r"^I\[(\S+)\] Committed state .*\bheight=(\d+)", re.MULTILINE)
_ROUND_TRIPS = re.compile(r"^rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/", re.MULTILINE)
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

Pair = tuple[str, str]


@dataclass(frozen=True)
class RoundTrip:
    """Pings from one validator to another, in ms: the shortest, and the mean of all."""

    least: float
    mean: float


@dataclass(frozen=True)
class Zones:
    """The matrix that comes with CometBFT.

    Attributes:
        file: its CSV.
        delay_ms: one way, from row to column.
    """

    file: Path
    names: tuple[str, ...]
    delay_ms: Matrix

    @property
    def validators(self) -> dict[str, str]:
        """The zone of each validator."""
        return {f"v{number}": zone for number, zone in enumerate(self.names)}

    def round_trip_ms(self, one: str, other: str) -> float:
        """Return what the matrix has for two validators, there and back."""
        row, column = (int(name.removeprefix("v")) for name in (one, other))
        return self.delay_ms[row][column] + self.delay_ms[column][row]

    def wrong(self, found: Mapping[Pair, RoundTrip]) -> dict[Pair, RoundTrip]:
        """Return the pairs whose round trip is off by more than 1 % of the matrix and 100 us."""
        return {
            pair: trip
            for pair, trip in found.items()
            if abs(trip.least - self.round_trip_ms(*pair)) > 0.01 * self.round_trip_ms(*pair) + 0.1
        }


def zones() -> Zones:
    """Return the matrix of the installed CometBFT."""
    first, *rows = (line.split(",") for line in COMETBFT.stored.read_text().split())
    return Zones(COMETBFT.stored, tuple(first[1:]), [[float(cell) for cell in row[1:]] for row in rows])


def apart(zones: Zones) -> crosswind.Fabric:
    """Return a network with a validator in each zone."""
    delay = {"matrix": str(zones.file), "unit": "ms", "value": "one-way"}
    topology = {"zones": {"delay": delay, "rate": "1Gbit/s"}, "nodes": zones.validators}
    return crosswind.Fabric({**topology, "uplink": {"rate": "1Gbit/s"}, "wait": "sleep"})


def together(zones: Zones) -> crosswind.Fabric:
    """Return a network with the same validators in one place."""
    nodes = {name: f"h{number}" for number, name in enumerate(zones.validators)}
    topology = {"hosts": len(nodes), "uplink": {"rate": "1Gbit/s"}, "nodes": nodes, "wait": "sleep"}
    return crosswind.Fabric(topology)


def round_trips(net: crosswind.Fabric) -> dict[Pair, RoundTrip]:
    """Return the pings of every ordered pair of nodes; a node asks all others at once."""
    found = {}
    for one in net.nodes:
        asked = {
            other: net.popen(
                one,
                ["ping", "-q", "-c", str(PINGS), "-i", "0.2", net.address(other)],
                stdout=subprocess.PIPE,
            )
            for other in net.nodes
            if other != one
        }
        for other, ping in asked.items():
            said, _ = ping.communicate(timeout=30)
            if (times := _ROUND_TRIPS.search(said)) is None:
                raise CrosswindError(f"ping from {one} to {other}: no answer: {said}")
            found[one, other] = RoundTrip(float(times[1]), float(times[2]))
    return found


class Chain:
    """Validators that run in a network, one on each node.

    Args:
        folder: an empty one, for their keys, blocks and logs.

    Attributes:
        order: numbers of the validators, in the order in which they propose.
    """

    def __init__(self, net: crosswind.Fabric, folder: Path) -> None:
        self._logs = {node: folder / f"{node}.log" for node in net.nodes}
        program = COMETBFT.program().path
        config = folder / "config.toml"
        config.write_text(_CONFIG)
        names = [word for node in net.nodes for word in ("--hostname", node)]
        count = str(len(net.nodes))
        made = [str(program), "testnet", "--config", str(config), "--v", count, "--o", str(folder), *names]
        subprocess.run(made, check=True, capture_output=True)
        genesis = json.loads((folder / "node0/config/genesis.json").read_text())
        addresses = [validator["address"] for validator in genesis["validators"]]
        # All have the same power: they propose in turn, in the order of their addresses.
        self.order = sorted(range(len(addresses)), key=addresses.__getitem__)
        env = {**os.environ, "GOMAXPROCS": "1", "TZ": "UTC"}
        self._processes = {}
        for number, node in enumerate(net.nodes):
            command = [str(program), "start", "--home", str(folder / f"node{number}")]
            with self._logs[node].open("w") as log:
                process = net.popen(node, command, stdout=log, stderr=subprocess.STDOUT, env=env)
            self._processes[node] = process

    def commits(self) -> dict[str, dict[int, float]]:
        """Return when each validator committed each height, as UNIX time."""
        return {node: committed(log.read_text()) for node, log in self._logs.items()}

    def height(self, nodes: Iterable[str] | None = None) -> int:
        """Return the largest height that any validator, or any of some, has committed."""
        commits = self.commits()
        return max(max(commits[node], default=0) for node in nodes or commits)

    def await_height(self, height: int, timeout_s: float, nodes: Iterable[str] | None = None) -> float:
        """Wait until all validators, or some, have committed a height; return when the last one did.

        Raises: CrosswindError: they have not in time, or a validator has ended.
        """
        nodes = list(nodes or self._logs)
        deadline = time.monotonic() + timeout_s
        while True:
            commits = self.commits()
            if all(height in commits[node] for node in nodes):
                return max(commits[node][height] for node in nodes)
            for node, process in self._processes.items():
                if process.poll() is not None:
                    raise CrosswindError(f"{node}: ended with {process.returncode}: {self._last(node)}")
            if time.monotonic() > deadline:
                late = [f"{node} at {max(commits[node], default=0)}" for node in nodes]
                raise CrosswindError(f"height {height}: not within {timeout_s:g} s: {', '.join(late)}")
            time.sleep(0.25)

    def cpu_s(self) -> float:
        """Return the CPU time that all validators have used."""
        return sum(_cpu_s(process.pid) for process in self._processes.values())

    def _last(self, node: str) -> str:
        return self._logs[node].read_text()[-500:]


def committed(log: str) -> dict[int, float]:
    """Return when a validator committed each height, from its log, as UNIX time."""
    return {
        int(height): datetime.strptime(at, "%Y-%m-%d|%H:%M:%S.%f").replace(tzinfo=UTC).timestamp()
        for at, height in _COMMITTED.findall(log)
    }


def intervals_s(commits: Mapping[str, Mapping[int, float]], first: int, last: int) -> list[float]:
    """Return the time from each height to the next one, mean over all validators."""
    at = [statistics.fmean(each[height] for each in commits.values()) for height in range(first, last + 1)]
    return [later - earlier for earlier, later in pairwise(at)]


@dataclass(frozen=True)
class Blocks:
    """Blocks of a chain that nothing disturbs.

    Attributes:
        intervals_s: from each block to the next.
        order: as of `Chain`.
        cpus: CPU time of all validators a second.
    """

    intervals_s: list[float]
    order: list[int]
    cpus: float


def blocks(net: crosswind.Fabric, folder: Path, rounds: int) -> Blocks:
    """Run validators until each has proposed `rounds` blocks."""
    chain = Chain(net, folder)
    chain.await_height(_FIRST, _START_S)
    cpu_s, began = chain.cpu_s(), time.monotonic()
    last = _FIRST + rounds * len(chain.order)
    chain.await_height(last, 60 + 10 * (last - _FIRST))
    cpus = (chain.cpu_s() - cpu_s) / (time.monotonic() - began)
    return Blocks(intervals_s(chain.commits(), _FIRST, last), chain.order, cpus)


@dataclass(frozen=True)
class CutOff:
    """What a chain did while some of its validators could not be reached, and afterwards.

    Attributes:
        away: how many.
        blocks: of the others, from 3 s after the cut on to its end; what was agreed on before it may still
            be committed in these 3 s.
        blocks_away: of those that were cut off.
        first_after_s: from the end of the cut to the first new block.
        all_after_s: from the end of the cut until every validator had that block.
    """

    away: int
    blocks: int
    blocks_away: int
    first_after_s: float
    all_after_s: float


def cut_off(net: crosswind.Fabric, chain: Chain, away: Sequence[str], length_s: float) -> CutOff:
    """Cut some validators off from the others for a time, and let the chain go on."""
    others = [node for node in net.nodes if node not in away]
    net.partition([others, away])
    time.sleep(_UNDER_WAY_S)
    sides = (others, away)
    before = [chain.height(side) for side in sides]
    time.sleep(length_s - _UNDER_WAY_S)
    after = [chain.height(side) for side in sides]
    net.heal()
    healed, height = time.time(), chain.height() + 1
    all_at = chain.await_height(height, _START_S + 4 * length_s)
    first_at = min(commits[height] for commits in chain.commits().values())
    made, made_away = (now - then for then, now in zip(before, after, strict=True))
    return CutOff(len(away), made, made_away, first_at - healed, all_at - healed)


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process and of those that it has started, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
    return own + sum(_cpu_s(int(child)) for child in children)

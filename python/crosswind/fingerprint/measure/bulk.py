"""Bulk transfer between two ends: the goodput of connections over their common window."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Literal

import numpy as np

from crosswind.analysis.network.transfers import BulkPart
from crosswind.app.iperf3.report import parse_report
from crosswind.app.nuttcp.application import all_clients, by_stream, parse_all
from crosswind.app.nuttcp.output import Transfer, parse_intervals
from crosswind.app.traffic.summary import TrafficSummary, metrics_of
from crosswind.fingerprint.measure.ends import BULK_PORT, Ends, Running, Tool
from crosswind.stats import jain_index
from crosswind.testbed import TestbedError

WARM_UP_S, PART_S = 0.2, 0.1
_SUMMARY = "summary.json"
# For connecting over a lossy path, starting, and reporting.
_END_S = 60.0


@dataclass(frozen=True)
class Bulk:
    """The result of parallel connections: payload, counted where it arrives.

    Attributes:
        goodput_bps: of all connections together.
        each_bps: shape (connections,).
        jain: Jain's index of the connections, in (0, 1].
        retransmits: segments, until the connections end; None where the tool does not report them.
        fastest_bps: of all together, in the fastest tenth of a second.
        parts_bps: of all together, in each tenth of a second of the common window.
        rtt_us: each sender's smoothed round-trip time, averaged over the window, or at the end between
            machines; None where the kernel does not report it.
        sender_cpu_s, receiver_cpu_s: CPU time of each connection's threads, shape (connections,); shape (1,),
            of all, where the tool has one thread.
        window_s: length of the common window.
        moved_bytes: payload until the end, including that outside of the window.
        began_ns, ended_ns: of the window, CLOCK_MONOTONIC of the sender; None where the tool does not report
            it.
    """

    tool: Tool | Literal["agent"]
    goodput_bps: float
    each_bps: list[float]
    jain: float
    retransmits: int | None
    fastest_bps: float
    parts_bps: list[float]
    rtt_us: list[int | None]
    sender_cpu_s: list[float]
    receiver_cpu_s: list[float]
    window_s: float
    moved_bytes: int
    began_ns: int | None
    ended_ns: int | None

    def part(self) -> BulkPart:
        """Return what a fingerprint records of the transfer."""
        gigabytes = self.goodput_bps * self.window_s / 8e9
        return BulkPart(
            tool=self.tool,
            goodput_bps=self.goodput_bps,
            each_bps=self.each_bps,
            jain=self.jain,
            retransmits=self.retransmits,
            fastest_bps=self.fastest_bps,
            parts_bps=self.parts_bps,
            rtt_us=self.rtt_us,
            window_s=self.window_s,
            sender_cpu_s=self.sender_cpu_s,
            receiver_cpu_s=self.receiver_cpu_s,
            sender_cpu_s_per_gb=sum(self.sender_cpu_s) / gigabytes,
            receiver_cpu_s_per_gb=sum(self.receiver_cpu_s) / gigabytes,
        )


class BulkUnderWay:
    """A transfer that runs in the background.

    Args:
        collect: is called with the output when the transfer has ended.
    """

    def __init__(self, running: Running, longest_s: float, collect: Callable[[bytes], Bulk]) -> None:
        self._running = running
        self._longest_s = longest_s
        self._collect = collect

    def finish(self) -> Bulk:
        """Wait for its end.

        Raises: TestbedError: nothing arrived, or a connection was lost.
        """
        return self._collect(self._running.finish(self._longest_s))


def bulk(ends: Ends, connections: int, duration_s: float, write_bytes: int | None = None) -> Bulk:
    """Send from the near end to the far one, as fast as TCP goes.

    Raises: TestbedError: nothing arrived, or a connection was lost.
    """
    with transferring(ends, connections, duration_s, write_bytes) as under_way:
        return under_way.finish()


def transferring(
    ends: Ends, connections: int, duration_s: float, write_bytes: int | None = None
) -> AbstractContextManager[BulkUnderWay]:
    """Start a transfer; it ends at the end of the block at the latest.

    Args:
        write_bytes: size of the sender's writes; None for 128 KiB.
    """
    begin = {"traffic": _traffic, "iperf3": _iperf3, "nuttcp": _nuttcp}[ends.tool]
    return begin(ends, connections, duration_s, write_bytes)


@contextmanager
def _traffic(
    ends: Ends, connections: int, duration_s: float, write_bytes: int | None
) -> Iterator[BulkUnderWay]:
    with ends.near.folder() as folder, serving(ends, folder):
        command = [
            *pairs(ends, folder, connections, duration_s),
            *(() if write_bytes is None else ("--write-bytes", write_bytes)),
            *("--warm-up", WARM_UP_S, "--part", PART_S),
        ]
        with Running(ends.near, command) as running:
            summary = f"{folder}/{_SUMMARY}"
            yield BulkUnderWay(
                running,
                duration_s + _END_S,
                lambda _: read_bulk(TrafficSummary.model_validate_json(ends.near.read(summary))),
            )


@contextmanager
def serving(ends: Ends, folder: str) -> Iterator[tuple[Running, Running]]:
    """Serve `traffic` at both ends, which are on one machine and communicate through files in a folder."""
    near, far = ends.near, ends.far
    # No connection goes to the near end. Both may have the same address, so its port is any free one.
    serve = [
        [end.load, "traffic-serve", "--listen", end.at(port), "--control", control]
        for end, port, control in zip((near, far), (0, BULK_PORT), _sockets(folder), strict=True)
    ]
    with Running(near, serve[0]) as first, Running(far, serve[1]) as second:
        first.await_listening()
        second.await_listening()
        yield first, second


def pairs(ends: Ends, folder: str, connections: int, duration_s: float) -> list[object]:
    """Return the command at the near end that sends to the far one; both are `serving` in a folder."""
    near, far = _sockets(folder)
    return [
        *(ends.near.load, "traffic", "--pattern", "pairs", "--connections", connections),
        *("--node", f"near={near}", "--node", f"far={far}"),
        *("--duration", f"{duration_s:.9f}", "--seed", 1),
        *("--samples", f"{folder}/samples.csv", "--summary", f"{folder}/{_SUMMARY}"),
    ]


def _sockets(folder: str) -> tuple[str, str]:
    return f"{folder}/0.sock", f"{folder}/1.sock"


@contextmanager
def _iperf3(
    ends: Ends, connections: int, duration_s: float, write_bytes: int | None
) -> Iterator[BulkUnderWay]:
    near, far = ends.near, ends.far
    serve = [*far.iperf3, "-s", "-1", "--forceflush", "-B", far.address, "-p", BULK_PORT]
    command = [
        *(*near.iperf3, "-c", far.address, "-p", BULK_PORT, "-P", connections, "-J", "-i", PART_S),
        *(() if write_bytes is None else ("-l", write_bytes)),
        # It takes only whole seconds.
        *("-t", math.ceil(duration_s)),
    ]
    with Running(far, serve) as server:
        server.await_listening()
        with Running(near, command) as running:
            yield BulkUnderWay(running, duration_s + _END_S, lambda said: read_iperf3(said.decode()))


# The first ports for control and for data; each connection has one of each.
NUTTCP_PORTS = (7200, 8200)
NUTTCP_MOST = 128
# One server for each transfer. They print nothing, so the kernel is asked whether they listen.
_NUTTCP_SERVERS = """
number=$1; first=$2; shift 2; pids=
trap 'kill $pids 2>/dev/null' TERM
for port in $(seq $first $((first + number - 1))); do "$@" -P $port & pids="$pids $!"; done
for port in $(seq $first $((first + number - 1))); do
    until grep -qi "$(printf ':%04X [0-9A-F:]* 0A' $port)" /proc/net/tcp /proc/net/tcp6; do
        kill -0 $pids || exit; sleep 0.01
    done
done
echo listening; wait
"""


@contextmanager
def _nuttcp(
    ends: Ends, connections: int, duration_s: float, write_bytes: int | None
) -> Iterator[BulkUnderWay]:
    near, far = ends.near, ends.far
    if connections > NUTTCP_MOST:
        raise TestbedError(
            f"nuttcp: {connections} connections are too many; give at most {NUTTCP_MOST}, each is a process"
        )
    control, data = NUTTCP_PORTS
    six = ("-6",) if ":" in far.address else ()
    seconds = math.ceil(WARM_UP_S + duration_s)
    send = [
        *("sh", "-c", '"$@"; status=$?; date +%s.%N; exit $status', "sh"),
        *(*near.nuttcp, *six, "-t", "-fparse", f"-i{PART_S}", f"-T{seconds}"),
        *(() if write_bytes is None else (f"-l{write_bytes}",)),
    ]
    serve = ["sh", "-c", _NUTTCP_SERVERS, "sh", connections, control, *far.nuttcp, *six, "-1", "--nofork"]
    with near.folder() as folder, Running(far, serve) as server:
        server.await_listening()
        clients = ["sh", "-c", all_clients(control, data), connections, far.address, *send]
        there = ["sh", "-c", 'cd "$0" && exec "$@"', folder]
        with Running(near, [*there, *clients]) as running:
            yield BulkUnderWay(
                running, seconds + _END_S, lambda said: read_nuttcp(said.decode(), connections, seconds)
            )


def read_bulk(summary: TrafficSummary) -> Bulk:
    """Return what the summary of `crosswind-load traffic` says (docs/reference/contracts.md, section 4)."""
    values = {(row.metric, row.statistic): row.value for row in metrics_of(summary)}
    connections, options = summary.connections, summary.options
    if summary.ended_ns is None or options.duration is None:
        raise TestbedError("traffic: ended by a count of messages; its rate over time is unknown")
    counted = [connection.messages for connection in connections]
    parts = zip_longest(*(one.series for one in counted), fillvalue=0)
    parts_bps = [8e9 * sum(part) / counted[0].part_ns for part in parts]
    begin, end = (round(at / options.part) for at in (options.warm_up, options.warm_up + options.duration))
    return Bulk(
        tool="traffic",
        goodput_bps=values["goodput", "mean"],
        each_bps=[values[f"goodput.{number}", "mean"] for number in range(len(counted))],
        jain=values["fairness", "jain"],
        retransmits=round(values["retransmits", "count"]),
        fastest_bps=max(parts_bps),
        parts_bps=parts_bps[begin:end],
        rtt_us=[connection.rtt_us for connection in connections],
        sender_cpu_s=[connection.sender_cpu_ns / 1e9 for connection in connections],
        receiver_cpu_s=[connection.receiver_cpu_ns / 1e9 for connection in connections],
        window_s=(summary.ended_ns - summary.started_ns) / 1e9,
        moved_bytes=sum(one.total_bytes for one in counted),
        began_ns=summary.started_ns,
        ended_ns=summary.ended_ns,
    )


def read_iperf3(printed: str) -> Bulk:
    """Return the result of a sender's `iperf3 -J`.

    Its connections start and end together; goodput is what arrived. Tenths of a second count what was
    written, and CPU time is of all connections.

    Raises: TestbedError: it reports an error, is cut off, or nothing arrived.
    """
    report = parse_report(printed)
    if not report.received_bytes:
        raise TestbedError("iperf3: not one byte arrived; is the path cut?")
    each_bps = [stream.received_bps for stream in report.streams]
    parts_bps = [float(one["sum"]["bits_per_second"]) for one in json.loads(printed)["intervals"]]
    return Bulk(
        tool="iperf3",
        goodput_bps=report.received_bps,
        each_bps=each_bps,
        jain=jain_index(each_bps),
        retransmits=sum(stream.retransmits or 0 for stream in report.streams),
        fastest_bps=max(parts_bps),
        parts_bps=parts_bps,
        rtt_us=[None if stream.rtt_us is None else round(stream.rtt_us[0]) for stream in report.streams],
        sender_cpu_s=[report.client_cpu * report.seconds],
        receiver_cpu_s=[report.server_cpu * report.seconds],
        window_s=report.seconds,
        moved_bytes=report.received_bytes,
        began_ns=None,
        ended_ns=None,
    )


def read_nuttcp(printed: str, connections: int, seconds: int) -> Bulk:
    """Return the result of clients with `-i0.1 -fparse`: each prints `stream N`, its result, and its end in
    s.

    Each connection is a process, which starts to send when it is connected, not when it is started. Its end
    and its length are known. They are counted from the end of the last one's warm-up for as long as all send.
    Arrivals and CPU time are assumed to be even within an interval. nuttcp counts whole writes.

    Args:
        seconds: how long each client should send.
    Raises: TestbedError: a client has no result, ended early or began too late, or nothing arrived.
    """
    transfers = parse_all(printed, connections, seconds)
    if not any(transfer.received_bytes for transfer in transfers):
        raise TestbedError("nuttcp: not one byte arrived; is the path cut?")
    said = by_stream(printed)
    ended_s = [float(said[number].split()[-1]) for number in range(connections)]
    began_s = np.array([end_s - transfer.seconds for end_s, transfer in zip(ended_s, transfers, strict=True)])
    began_s -= began_s.min()
    warm, parts = round((began_s.max() + WARM_UP_S) / PART_S), round(seconds / PART_S)
    if parts <= warm:
        raise TestbedError(
            f"nuttcp: {connections} connections began {began_s.max():.3g} s apart and have no time in "
            "common; is this machine busy?"
        )
    at_s = PART_S * np.arange(parts + 1)
    bits = np.array(
        [
            8 * np.diff(np.interp(at_s - begin_s, *_arrived(said[number], transfers[number])))
            for number, begin_s in enumerate(began_s)
        ]
    )
    counted = bits[:, warm:]
    window_s = PART_S * counted.shape[1]
    each_bps = (counted.sum(axis=1) / window_s).tolist()
    return Bulk(
        tool="nuttcp",
        goodput_bps=sum(each_bps),
        each_bps=each_bps,
        jain=jain_index(each_bps),
        # nuttcp 6.1.2 prints 0 whatever happens.
        retransmits=None,
        fastest_bps=float(bits.sum(axis=0).max()) / PART_S,
        parts_bps=(counted.sum(axis=0) / PART_S).tolist(),
        rtt_us=[None] * connections,
        sender_cpu_s=[transfer.sender_cpu * transfer.seconds for transfer in transfers],
        receiver_cpu_s=[transfer.receiver_cpu * transfer.seconds for transfer in transfers],
        window_s=window_s,
        moved_bytes=round(sum(transfer.received_bytes for transfer in transfers)),
        began_ns=None,
        ended_ns=None,
    )


def _arrived(printed: str, transfer: Transfer) -> tuple[list[float], list[float]]:
    """Return instants of a transfer in s, and bytes that had arrived by then; no interval has its end."""
    lengths_s, sizes = zip((0.0, 0.0), *parse_intervals(printed), strict=True)
    instants_s, totals = list(accumulate(lengths_s)), list(accumulate(sizes))
    return [*instants_s, max(transfer.seconds, instants_s[-1])], [*totals, transfer.received_bytes]

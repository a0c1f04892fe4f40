"""dnsperf: its command, and percentiles from its report of every query.

With `-v`, dnsperf prints a line for every answer, with its latency, and for every query that it gave up. With
`-S`, it also prints the time of day after every interval. The lines up to the first such time after the
warm-up belong to the warm-up, so warm-up and measured phase are one continuous run.

dnsperf measures from the sending of a query. A lost query counts as outstanding until it is given up. So an
open loop needs room for all queries that may be lost in that time, or it stops sending: see `room_for`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crosswind.app.load import seconds
from crosswind.app.requirements import DebianPackages
from crosswind.testbed.errors import TestbedError

DNSPERF = DebianPackages("dnsperf", packages=("dnsperf",), programs=("dnsperf",))
INTERVAL_S = 0.1
# The limit of dnsperf.
OUTSTANDING_MAX = 65_535

_STAMP = re.compile(r"(\d+\.\d{6}): \d+\.\d+\n")
_TOTAL = re.compile(r"  Queries (sent|completed|lost): +(\d+)")
_NS_PER_S = 1_000_000_000


@dataclass
class MeasuredQueries:
    """What happened after the warm-up.

    Attributes:
        latencies_ns: of answers with NOERROR, in the order of their arrival, in whole microseconds.
        lost: queries that were given up.
        refusals: answers with another code, by code.
        span_s: from the end of the warm-up to the last whole interval.
        in_span: answers with any code within `span_s`.
    """

    latencies_ns: list[int] = field(default_factory=list)
    lost: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    span_s: float = 0.0
    in_span: int = 0

    @property
    def queries(self) -> int:
        """All queries that were answered or given up."""
        return len(self.latencies_ns) + self.lost + self.refusals.total()

    def quantile_ns(self, share: float) -> float:
        """Return a quantile of the latencies, of type 7, as everywhere in Crosswind."""
        return float(np.quantile(np.asarray(self.latencies_ns), share))


def room_for(rate: float, timeout_ns: int) -> int:
    """Return the number of outstanding queries that keeps a rate up even if all queries are lost."""
    return min(OUTSTANDING_MAX, math.ceil(rate * timeout_ns / _NS_PER_S) + 1)


def command(
    program: Path,
    *,
    server: str,
    port: int,
    protocol: str,
    queries: Path,
    clients: int,
    outstanding: int,
    rate: float | None,
    length_ns: int,
    timeout_ns: int,
) -> list[object]:
    """Return the command of a run.

    Args:
        protocol: `udp` or `tcp`.
        clients: sockets, or connections.
        outstanding: largest number of queries that wait for an answer at any time, over all clients.
        rate: queries per second, a whole number; None is as fast as `outstanding` allows.
        length_ns: of warm-up and measured phase together.
        timeout_ns: after which a query is given up.
    """
    return [
        program,
        *("-s", server),
        *("-p", port),
        *("-m", protocol),
        *("-d", queries),
        *("-c", clients),
        *("-T", 1),
        *("-q", outstanding),
        *(("-Q", round(rate)) if rate is not None else ()),
        *("-l", seconds(length_ns)),
        *("-t", seconds(timeout_ns)),
        *("-S", INTERVAL_S),
        "-v",
        # EDNS: answers of more than 512 bytes over UDP.
        "-e",
        # While it connects, it would print a message ten thousand times a second.
        *("-O", "suppress=sockready"),
    ]


class _Reader:
    """The state of reading an output; instants are seconds of the time of day."""

    def __init__(self, warm_up_ns: int, timeout_ns: int) -> None:
        self.measured = MeasuredQueries()
        self.said: Counter[str] = Counter()
        self.totals: Counter[str] = Counter()
        self.is_complete = False
        self._warm_up_s = warm_up_ns / _NS_PER_S
        self._timeout_s = timeout_ns / _NS_PER_S
        self._warm_until_s: float | None = None
        self._begin_s: float | None = None
        self._answers = 0
        self._lost_since_stamp = 0

    def take(self, line: str) -> None:
        if line.startswith("> "):
            self._query(line)
        elif stamp := _STAMP.fullmatch(line):
            self._stamp(float(stamp[1]))
        elif total := _TOTAL.match(line):
            self.totals[total[1]] = int(total[2])
        elif line.startswith("[Status] Testing complete"):
            self.is_complete = True

    def end(self) -> MeasuredQueries:
        # Queries given up after the last stamp were sent in the measured phase.
        self.measured.lost += self._lost_since_stamp
        return self.measured

    def _query(self, line: str) -> None:
        code = line[2:].partition(" ")[0].strip()
        if code == "T":
            self.said["lost"] += 1
            self._lost_since_stamp += 1
            return
        self.said["completed"] += 1
        if self._begin_s is None:
            return
        self._answers += 1
        if code == "NOERROR":
            self.measured.latencies_ns.append(_nanoseconds(line.rpartition(" ")[2], line))
        else:
            self.measured.refusals[code] += 1

    def _stamp(self, at_s: float) -> None:
        if self._warm_until_s is None:
            # The first stamp is one interval after the start, which is only printed in whole seconds.
            self._warm_until_s = at_s - INTERVAL_S + self._warm_up_s
        if self._begin_s is None:
            if at_s >= self._warm_until_s:
                self._begin_s = at_s
        else:
            self.measured.span_s, self.measured.in_span = at_s - self._begin_s, self._answers
            # A query is given up one timeout after it was sent, so until then lost queries belong to the
            # warm-up. Stamps are about a millisecond late; half an interval tolerates that.
            if at_s - self._begin_s > self._timeout_s + INTERVAL_S / 2:
                self.measured.lost += self._lost_since_stamp
        self._lost_since_stamp = 0


def read(lines: Iterable[str], warm_up_ns: int, timeout_ns: int) -> MeasuredQueries:
    """Read the output of dnsperf; only the latencies need memory.

    Args:
        timeout_ns: after which a query was given up; at most the length of the measured phase.
    Raises: TestbedError: the output is cut off, or contradicts itself.
    """
    reader = _Reader(warm_up_ns, timeout_ns)
    for line in lines:
        reader.take(line)
    measured = reader.end()
    _check(measured, reader)
    return measured


def _nanoseconds(text: str, line: str) -> int:
    try:
        return round(float(text) * 1e6) * 1000
    except ValueError:
        raise TestbedError(f'dnsperf: "{line.strip()}" has no latency at its end') from None


def _check(measured: MeasuredQueries, reader: _Reader) -> None:
    """Check that the output is complete, agrees with its own totals, and has a result."""
    said, totals = reader.said, reader.totals
    if not reader.is_complete or len(totals) < 3:
        raise TestbedError("dnsperf: its output is cut off; see its log")
    for kind in ("completed", "lost"):
        if said[kind] != totals[kind]:
            raise TestbedError(
                f"dnsperf: it reports {totals[kind]} queries {kind}, but printed {said[kind]} of them"
            )
    if totals["sent"] == 0:
        raise TestbedError("dnsperf: it sent no query; is the server running?")
    if measured.span_s == 0:
        raise TestbedError("dnsperf: it ended during the warm-up; write a longer `duration`")
    if not measured.latencies_ns:
        raise TestbedError(
            f"dnsperf: no answer in the measured phase ({measured.lost} queries lost, "
            f"{_listed(measured.refusals)}); see its log"
        )


def refusals_text(measured: MeasuredQueries) -> str:
    """Return the answers with an error code, such as `3 SERVFAIL`."""
    return _listed(measured.refusals)


def _listed(refusals: Counter[str]) -> str:
    return ", ".join(f"{count} {code}" for code, count in refusals.most_common()) or "none refused"

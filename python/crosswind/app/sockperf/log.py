"""Read the output of sockperf and its full log. Pure.

sockperf exits with 0 even if nothing answered, colours its output, and prints half of a round trip as
"latency". The full log has the start and the end of every round trip; here a latency is a whole round trip.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from crosswind.app.client_server import OutputError

HEADER = "packet, txTime(sec), rxTime(sec), latency(usec)"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TOTAL = re.compile(r"\[Total Run\] RunTime=([\d.]+) sec; .*SentMessages=(\d+); ReceivedMessages=(\d+)")
_VALID = re.compile(r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)")
_AMISS = re.compile(
    r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)"
)
_COMPLAINT = re.compile(r"^sockperf: (?:ERROR: (.*)|(No .*))$", re.MULTILINE)


@dataclass(frozen=True)
class SockperfCounts:
    """The counts of sockperf; its "valid" part is the run without its first 400 ms and its end.

    Attributes:
        seconds: length of the whole run, s.
        sent: messages of the valid part.
        dropped: messages of the valid part without an answer.
    """

    seconds: float
    sent: int
    dropped: int
    duplicated: int
    out_of_order: int


class RoundTrip(NamedTuple):
    """One message and its answer, in ns since the start of sockperf's clock."""

    sent_ns: int
    received_ns: int


def parse_summary(printed: str) -> SockperfCounts:
    """Read the output of a client.

    Raises: OutputError: it has an error, or no statistics.
    """
    if (complaint := complaint_of(printed)) is not None:
        raise OutputError(complaint)
    text = plain(printed)
    total, valid, amiss = _TOTAL.search(text), _VALID.search(text), _AMISS.search(text)
    if total is None or valid is None or amiss is None:
        last = (text.strip().splitlines() or ["nothing"])[-1]
        raise OutputError(f"sockperf: printed no statistics; its last line: {last}")
    return SockperfCounts(float(total[1]), int(valid[2]), int(amiss[1]), int(amiss[2]), int(amiss[3]))


def complaint_of(printed: str) -> str | None:
    """Return the error that sockperf printed; None if there is none."""
    found = _COMPLAINT.search(plain(printed))
    return None if found is None else f"sockperf: {(found[1] or found[2]).strip()}"


def parse_log(lines: Iterable[str]) -> list[RoundTrip]:
    """Read a full log line by line, so that only the round trips need memory.

    Raises: OutputError: it is cut off, or has no header.
    """
    rest = iter(lines)
    if not any(line.startswith(HEADER) for line in rest):
        raise OutputError("sockperf: its full log has no messages")
    round_trips: list[RoundTrip] = []
    for line in rest:
        if line.startswith("---"):
            return round_trips
        fields = line.split(",")
        if len(fields) == 4:
            round_trips.append(RoundTrip(_ns(fields[1]), _ns(fields[2])))
    raise OutputError("sockperf: its full log is cut off; is the disk full?")


def plain(printed: str) -> str:
    """Return the text without its colours."""
    return _COLOUR.sub("", printed)


def _ns(seconds: str) -> int:
    """Return nanoseconds from decimal seconds with nine digits; a float would round after a day."""
    whole, _, fraction = seconds.strip().partition(".")
    return int(whole) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9])

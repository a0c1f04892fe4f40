"""What a capture says of TCP, as a table: each flow's round-trip times, retransmissions and timeouts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosswind.spec.read_file import require_file
from crosswind.text.console import widen
from crosswind.text.units import column_unit, count, duration, quantity

if TYPE_CHECKING:
    from rich.console import Console

# pcap in microseconds and nanoseconds, either byte order, and pcapng.
_BEGINNINGS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)
_FLOWS_SHOWN = 20
_TIMES = (("handshake", "p50"), ("acknowledgement", "p50"), ("acknowledgement", "p99"))
_LEFT_OUT = {
    "not-tcp": "are not TCP",
    "not-ip": "are not IP",
    "headers-cut": "were cut inside their headers (keep 128 bytes of each)",
    "no-stamp": "have no stamp",
    "link-not-read": "are of links that are not read (capture on Ethernet, raw IP, `any`, loopback or PPP)",
    "out-of-order": "are too far out of the order of their stamps (sort the file with reordercap)",
    "too-many-flows": "are of flows beyond the 65 536 that are followed at a place",
}


def is_capture(path: Path) -> bool:
    """Return whether a file begins as pcap or pcapng does; False where it cannot be read."""
    try:
        require_file(path)
        with path.open("rb") as file:
            return file.read(4) in _BEGINNINGS
    except OSError:
        return False


def print_capture(name: str, found: Mapping[str, Any], rto_ns: int, console: Console) -> None:
    """Print what a capture says (contracts.md, section 7): a row a flow, those with most packets first.

    Args:
        name: of the file.
        found: as `crosswind-simulate capture` prints it.
        rto_ns: what it was asked with.
    """
    widen(console)
    packets = f"{count(found['packets'])} packets in {duration(found['duration_ns'])}"
    console.print(f"{name}  {packets}, {count(len(found['flows']))} flows of TCP", markup=False)
    if found["ended"] is not None:
        console.print(f"The file {found['ended']}. What stands here is of what came before.", style="yellow")
    if found["flows"]:
        console.print(_table(found), soft_wrap=False)
    for line in _reading(found, rto_ns):
        console.print(line, style="dim", markup=False, soft_wrap=False)


def _table(found: Mapping[str, Any]) -> Any:
    from rich import box
    from rich.table import Table

    flows = sorted(found["flows"], key=lambda flow: -flow["packets"])[:_FLOWS_SHOWN]
    placed = any(flow["at"] for flow in flows)
    unit = column_unit(_time(flow, *which) for flow in (*flows, found["sum"]) for which in _TIMES)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    if placed:
        table.add_column("at", no_wrap=True)
    table.add_column("from -> to")
    for heading in (
        "packets",
        "size",
        f"handshake\nmedian, {unit.name}",
        f"acknowledged\nmedian, {unit.name}",
        f"acknowledged\nP99, {unit.name}",
        "sent\nagain",
        "of them\ntimeouts",
        "longest\nsilence",
        "known\nlosses",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for flow in flows:
        longest = max((silence["silence_ns"] for silence in flow["silences"]), default=None)
        place = [flow["at"]] if placed else []
        name = f"{flow['source']} -> {flow['destination']}"
        table.add_row(*place, name, *_cells(flow, unit.show), duration(longest), _lost(flow))
    table.add_section()
    table.add_row(*([""] if placed else []), "all", *_cells(found["sum"], unit.show), "", _lost(found["sum"]))
    return table


def _cells(figures: Mapping[str, Any], show: Any) -> list[str]:
    return [
        count(figures["packets"]),
        quantity(figures["bytes"], "B"),
        *(show(_time(figures, *which)) for which in _TIMES),
        count(figures["retransmissions"]),
        count(figures["timeouts"]),
    ]


def _time(figures: Mapping[str, Any], what: str, statistic: str) -> int | None:
    return figures[what][statistic] if figures[what] else None


def _lost(figures: Mapping[str, Any]) -> str:
    return count(sum(figures["lost"].values())) if figures["lost"] else "-"


def _reading(found: Mapping[str, Any], rto_ns: int) -> list[str]:
    """Return how the table is to be read, and what it is not of."""
    lines = []
    more = len(found["flows"]) - _FLOWS_SHOWN
    if more > 0:
        lines.append(f"{count(more)} flows with fewer packets are in --json.")
    for why, packets in found["sum"]["lost"].items():
        lines.append(f"{count(packets)} packets were lost at {why}, as the capture itself says.")
    for why, packets in found["left_out"].items():
        lines.append(f"{count(packets)} packets {_LEFT_OUT[why]}, and are left out.")
    if found["flows"]:
        lines += [
            "Round trips are from the place of the capture to the far end and back. acknowledged: from data",
            "to the acknowledgement of its last byte, which may be delayed; of nothing sent twice (Karn).",
            f"timeouts: sent again after {duration(rto_ns)} and a shortest round trip without data.",
        ]
    return lines

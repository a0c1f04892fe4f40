"""Print the TCP flows of a capture as a table: round-trip times, retransmissions and timeouts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crosswind.simulation.captured import Captured, FlowFigures
from crosswind.spec.read_file import require_file
from crosswind.text.console import widen
from crosswind.text.units import Unit, column_unit, count, duration, quantity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# pcap in microseconds and nanoseconds, either byte order, and pcapng.
_BEGINNINGS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)
_FLOWS_SHOWN = 20
_LEFT_OUT = {
    "not-tcp": "are not TCP",
    "not-ip": "are not IP",
    "headers-cut": "were cut inside their headers (capture 128 bytes of each)",
    "no-stamp": "have no time stamp",
    "link-not-read": "are of unsupported link types (supported: Ethernet, raw IP, `any`, loopback and PPP)",
    "out-of-order": "are too far out of the order of their time stamps (sort the file with reordercap)",
    "too-many-flows": "belong to flows beyond the limit of 65 536 at one place",
}


def is_capture(path: Path) -> bool:
    """Return whether a file begins as pcap or pcapng does; False where it cannot be read."""
    try:
        require_file(path)
        with path.open("rb") as file:
            return file.read(4) in _BEGINNINGS
    except OSError:
        return False


def print_capture(name: str, found: Captured, rto_ns: int, console: Console) -> None:
    """Print a row for each TCP flow, those with most packets first.

    Args:
        name: of the file.
        rto_ns: the shortest timeout with which the flows were judged.
    """
    widen(console)
    packets = f"{count(found.packets)} packets in {duration(found.duration_ns)}"
    console.print(f"{name}  {packets}, {count(len(found.flows))} flows of TCP", markup=False)
    if found.ended is not None:
        console.print(f"The file {found.ended}. The figures are of the packets before that.", style="yellow")
    if found.flows:
        console.print(_table(found), soft_wrap=False)
    for line in _notes(found, rto_ns):
        console.print(line, style="dim", markup=False, soft_wrap=False)


def _table(found: Captured) -> Table:
    from rich import box
    from rich.table import Table

    flows = sorted(found.flows, key=lambda flow: -flow.packets)[:_FLOWS_SHOWN]
    placed = any(flow.at for flow in flows)
    unit = column_unit(time for figures in (*flows, found.sum) for time in _times(figures))
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
        longest = max((silence.silence_ns for silence in flow.silences), default=None)
        place = [flow.at] if placed else []
        name = f"{flow.source} -> {flow.destination}"
        table.add_row(*place, name, *_cells(flow, unit), duration(longest), _lost(flow))
    table.add_section()
    table.add_row(*([""] if placed else []), "all", *_cells(found.sum, unit), "", _lost(found.sum))
    return table


def _cells(figures: FlowFigures, unit: Unit) -> list[str]:
    return [
        count(figures.packets),
        quantity(figures.bytes, "B"),
        *(unit.show(time) for time in _times(figures)),
        count(figures.retransmissions),
        count(figures.timeouts),
    ]


def _times(figures: FlowFigures) -> tuple[int | None, int | None, int | None]:
    """Return the times that the table shows, in ns."""
    handshake, acknowledgement = figures.handshake, figures.acknowledgement
    return (
        None if handshake is None else handshake.p50,
        None if acknowledgement is None else acknowledgement.p50,
        None if acknowledgement is None else acknowledgement.p99,
    )


def _lost(figures: FlowFigures) -> str:
    return count(sum(figures.lost.values())) if figures.lost else "-"


def _notes(found: Captured, rto_ns: int) -> list[str]:
    """Return how to read the table, and what it leaves out."""
    lines = []
    more = len(found.flows) - _FLOWS_SHOWN
    if more > 0:
        lines.append(f"{count(more)} flows with fewer packets are in --json.")
    for why, packets in found.sum.lost.items():
        lines.append(f"{count(packets)} packets were lost at {why}, as the capture itself says.")
    for why, packets in found.left_out.items():
        lines.append(f"{count(packets)} packets {_LEFT_OUT[why]}, and are left out.")
    if found.flows:
        lines += [
            "Round trips are from the place of the capture to the far end and back.",
            "acknowledged: from data to the acknowledgement of their last byte, which may be delayed.",
            "Data that were sent twice are left out (Karn).",
            f"timeouts: sent again after a silence of {duration(rto_ns)} plus the shortest round trip.",
        ]
    return lines

"""Print what was found on machines: a row for each, and below what one lacks, with its remedy."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from crosswind.doctor.finding import STYLES, FindingVerdict
from crosswind.doctor.machines.facts import RemoteFacts
from crosswind.doctor.machines.look import LookedAt
from crosswind.text.quantities import memory_text, time_text

_UNKNOWN = "-"


def print_machines(found: Sequence[LookedAt], console: Console) -> None:
    """Print a table of machines, what they lack, and the answer."""
    headings = (
        "reachable",
        "CPU",
        "cores",
        "memory",
        "kernel",
        "agent",
        "runs as",
        "clock",
        "MTU",
        "round trip",
    )
    table = Table("", "machine", *headings, box=None, pad_edge=False, header_style="bold")
    for each in found:
        verdict = _verdict(each)
        table.add_row(Text(verdict, style=STYLES[verdict]), each.machine.name, *_row(each))
    console.print(table)
    for each in found:
        for finding in each.findings:
            console.print()
            line = Text(f"{each.machine.name}, {finding.name}: ", style=STYLES[finding.verdict])
            line.append(finding.found, style="default")
            console.print(line)
            console.print(Text(f"  do: {finding.remedy}"))
    console.print()
    console.print(
        answer(found), style="bold" if all(each.ready for each in found) else "bold red", markup=False
    )


def answer(found: Sequence[LookedAt]) -> str:
    """Return the result in one sentence."""
    lacking = [each.machine.name for each in found if not each.ready]
    if lacking:
        ready = len(found) - len(lacking)
        return f"{ready} of {len(found)} machines are ready; not ready: {', '.join(lacking)}."
    return f"All {len(found)} machines are ready." if len(found) > 1 else "The machine is ready."


def _verdict(each: LookedAt) -> FindingVerdict:
    verdicts = {finding.verdict for finding in each.findings}
    return next(
        (one for one in (FindingVerdict.MISSING, FindingVerdict.WARNING) if one in verdicts),
        FindingVerdict.OK,
    )


def _row(each: LookedAt) -> list[str]:
    facts, hello = each.facts, each.hello
    return [
        _UNKNOWN if each.reachable_ms is None else f"{each.reachable_ms:.0f} ms",
        facts.processor or _UNKNOWN,
        _UNKNOWN if facts.cores is None else str(facts.cores),
        _UNKNOWN if facts.memory_bytes is None else memory_text(facts.memory_bytes),
        facts.kernel or _UNKNOWN,
        _UNKNOWN if hello is None else hello.version,
        _UNKNOWN if hello is None else "user namespaces" if hello.rootless else "root",
        facts.clock or _UNKNOWN,
        _mtu(facts),
        _round_trip(facts),
    ]


def _mtu(facts: RemoteFacts) -> str:
    """Return the MTU to the other machines; the least, where they differ."""
    found = [peer.mtu_bytes for peer in facts.peers.values() if peer.mtu_bytes is not None]
    return str(min(found)) if found else _UNKNOWN


def _round_trip(facts: RemoteFacts) -> str:
    """Return the longest round trip to any other machine."""
    found = [peer.round_trip_ns for peer in facts.peers.values() if peer.round_trip_ns is not None]
    return time_text(max(found)) if found else _UNKNOWN

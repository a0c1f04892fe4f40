"""Write a placement for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from crosswind.plan.placement import Placement
from crosswind.text.quantities import time_text

_LINKS_SHOWN = 12


def placement_lines(placement: Placement) -> list[str]:
    """Return what is on which machine, the links between them, and those that are too short for that."""
    lines = ["Machines"]
    for machine, cores in placement.demand.items():
        parts = [part for part, at in placement.machine_of.items() if at == machine]
        lines.append(f"  {machine}: {', '.join(parts)} ({cores:g} core{'' if cores == 1 else 's'} of nodes)")
    least = time_text(placement.shortest_cut_ns)
    by_length = sorted(placement.cuts, key=lambda cut: cut.delay_ns)
    cuts = [
        f"{cut.link} ({time_text(cut.delay_ns)}, {cut.source} to {cut.target})" if cut.delay_ns else cut.link
        for cut in by_length
    ]
    lines += [f"Links between machines: {len(cuts) or 'none'}", *_shown(cuts)]
    if cuts:
        lines.append(f"Packets between machines: {_carrier(placement)}")
    if placement.short:
        count = len(placement.short)
        lines.append(
            f"Too short to be between machines: {count} link{'' if count == 1 else 's'} (a constant delay of "
            f"at least {least} is needed)"
        )
        by_why = groupby(sorted(placement.short, key=lambda short: short.why), key=lambda short: short.why)
        lines += [f"  {why}: {_few([short.link for short in shorts])}" for why, shorts in by_why]
    lines += [f"Problem: {problem}" for problem in placement.problems]
    lines += [f"Note: {note}" for note in placement.notes]
    return lines


def _carrier(placement: Placement) -> str:
    if placement.network == "udp":
        return "in UDP datagrams"
    named = [f"{interface} of {machine}" for machine, interface in placement.interfaces.items()]
    over = ", ".join(named) or "the interface that has each machine's address"
    return f"in Ethernet frames without IP, over {over}"


def _shown(texts: Sequence[str]) -> list[str]:
    rest = len(texts) - _LINKS_SHOWN
    return [f"  {text}" for text in texts[:_LINKS_SHOWN]] + (
        [f"  and {rest} longer ones"] if rest > 0 else []
    )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")

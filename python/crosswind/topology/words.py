"""Texts for links, hosts and matrices in a picture of a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crosswind.spec.network import Link, Network
from crosswind.text.quantities import rate_text, time_text

TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


def link_words(link: Link) -> str:
    """Return rate and delay of a link, and its other effects on packets."""
    words = ["unlimited" if link.rate_bps is None else rate_text(link.rate_bps)]
    words += [time_text(link.delay_ns)] if link.delay_ns else []
    words += [f"jitter {time_text(link.jitter_ns)}"] if link.jitter_ns else []
    words += [f"loss {share_text(link.loss_ppb)}"] if link.loss_ppb else []
    return ", ".join([*words, *([f"cost {link.cost}"] if link.cost != 1 else [])])


def share_text(ppb: int) -> str:
    """Return parts per billion as a percentage."""
    return f"{ppb / 1e7:.3g} %"


def host_words(network: Network, host: str) -> str:
    """Return the nodes of a host as text; the host's own name if it has none."""
    return ", ".join(node for node, at in network.nodes.items() if at == host) or "no node"


def links_words(link: Link, back: Link | None) -> str:
    """Return the text for both directions of a link; once if they are equal."""
    if back is None:
        return f"{link_words(link)}, this way only"
    return link_words(link) if _alike(link, back) else f"{link_words(link)}; back {link_words(back)}"


def _alike(link: Link, back: Link) -> bool:
    return link_words(link) == link_words(back) and link.delay_ns == back.delay_ns


def back_of(network: Network, link: Link) -> Link | None:
    """Return the other direction of a link."""
    return next((each for each in (network.link.get(f"{link.target}->{link.source}"),) if each), None)


def delay_cells(network: Network) -> tuple[str, Mapping[tuple[str, str], str]]:
    """Return a suitable unit for the delays between switches, and the number for each ordered pair."""
    longest_ns = max((link.delay_ns for link in network.trunks), default=0)
    factor, unit = next((step for step in TIME_UNITS if longest_ns >= step[0]), TIME_UNITS[-1])
    return unit, {(link.source, link.target): number_text(link.delay_ns / factor) for link in network.trunks}


def matrix_heading(unit: str) -> str:
    """Return the heading of a table of delays."""
    return f"Delay from zone (row) to zone (column), one way, in {unit}"


def number_text(value: float) -> str:
    """Return a number with about three digits: 0.35, 7, 30.5, 142."""
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def other_than_delay(trunks: Iterable[Link]) -> str:
    """Return rate, jitter and loss of links between zones in one line."""
    links = list(trunks)
    rates = sorted({link.rate_bps for link in links if link.rate_bps is not None})
    parts = [] if rates else ["no limit of rate"]
    if rates:
        ends = dict.fromkeys(map(rate_text, (rates[0], rates[-1])))
        parts.append(" to ".join(ends))
    jitters = dict.fromkeys(time_text(ns) for ns in _ends(link.jitter_ns for link in links))
    losses = dict.fromkeys(share_text(ppb) for ppb in _ends(link.loss_ppb for link in links))
    parts += [f"jitter {' to '.join(jitters)}"] if jitters else []
    parts += [f"loss {' to '.join(losses)}"] if losses else []
    return ", ".join(parts)


def _ends(values: Iterable[int]) -> list[int]:
    """Return the smallest and the largest value; nothing if all are zero."""
    found = list(values)
    return [min(found), max(found)] if any(found) else []

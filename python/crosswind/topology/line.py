"""Describe a network in one line."""

from __future__ import annotations

from collections.abc import Sequence

from crosswind.spec.network import Link, Network
from crosswind.text.quantities import rate_text, time_text


def network_line(network: Network) -> str:
    """Return the form of a network, its number of hosts, switches and links, and their rates and delays."""
    uplinks = [*network.uplinks.values(), *network.downlinks.values()]
    hosts = f"{_count(network.hosts, 'host')}, {_links(uplinks)}"
    trunks = network.trunks
    if network.form == "star":
        return f"a star of {hosts}"
    between = f", {_links(trunks)}" if trunks else ""
    if network.form == "zones":
        return f"{_count(network.switches, 'zone')}{between}; {hosts}"
    routes = network.routes if isinstance(network.routes, str) else f"{_count(network.routes, 'written way')}"
    pairs = {frozenset((link.source, link.target)) for link in trunks}
    joined = f"{_count(network.switches, 'switch')} and {_count(list(pairs), 'link')} between them"
    return f"{joined}{between}; {hosts}; routes: {routes}"


def domains_text(domains: int | Sequence[Sequence[str]]) -> str:
    """Return the number of domains, and the names in each of them."""
    if isinstance(domains, int):
        return str(domains)
    return f"{len(domains)} ({'; '.join(', '.join(names) for names in domains)})"


def _links(links: Sequence[Link]) -> str:
    """Return rates and delays of links, as a range where they differ."""
    rates_bps = {link.rate_bps for link in links}
    limited = sorted(rate_bps for rate_bps in rates_bps if rate_bps is not None)
    rates = [*map(rate_text, dict.fromkeys([limited[0], limited[-1]]))] if limited else []
    rates += ["unlimited"] if None in rates_bps else []
    delays_ns = [link.delay_ns for link in links]
    delays = (
        dict.fromkeys(map(time_text, (min(delays_ns), max(delays_ns))))
        if any(delays_ns)
        else {"no delay": None}
    )
    return f"{' to '.join(rates)}, {' to '.join(delays)} each way"


def _count(things: Sequence[object], noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{len(things)} {noun}{'' if len(things) == 1 else plural}"

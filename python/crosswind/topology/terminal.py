"""Draw a network in a terminal: a tree of switches and hosts, a table of zones, and paths of hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crosswind.spec.network import Link, Network
from crosswind.text.quantities import rate_text, time_text
from crosswind.topology.line import domains_text, network_line
from crosswind.topology.words import (
    back_of,
    delay_cells,
    host_words,
    link_words,
    links_words,
    matrix_heading,
    other_than_delay,
)

WAYS_SHOWN = 12
CORNER = "from \\ to"
HOSTS_SHOWN = 40  # Per switch; the rest is one line.


def drawn(network: Network, columns: int) -> str:
    """Return a network as text.

    Args:
        columns: of the terminal; tables that are wider are cut into several.
    """
    domains = [] if network.domains == "auto" else [f"domains: {domains_text(network.domains)}"]
    lines = [network_line(network), *domains, ""]
    if network.form == "zones" and network.trunks:
        lines += [*_table(network, columns), ""]
    lines += _switches(network)
    ways = _ways(network)
    return "\n".join([*lines, *(["", "Ways between hosts", *ways] if ways else [])])


def _table(network: Network, columns: int) -> Iterator[str]:
    """Yield the matrix of delays, and the other properties of links between zones."""
    unit, cells = delay_cells(network)
    zones = network.switches
    head = max(map(len, [*zones, CORNER]))
    widths = {zone: max(len(zone), *(len(cells.get((each, zone), "")) for each in zones)) for zone in zones}
    yield f"{matrix_heading(unit)}; also {other_than_delay(network.trunks)}"
    for block in _blocks(zones, widths, columns - head):
        yield ""
        yield f"{CORNER:{head}}" + "".join(f"  {zone:>{widths[zone]}}" for zone in block)
        for source in zones:
            row = [f"  {cells.get((source, zone), '-'):>{widths[zone]}}" for zone in block]
            yield f"{source:{head}}" + "".join(row)


def _blocks(zones: Sequence[str], widths: dict[str, int], columns: int) -> Iterator[list[str]]:
    """Yield the columns of a table in parts that fit."""
    block: list[str] = []
    for zone in zones:
        if block and sum(widths[each] + 2 for each in (*block, zone)) > columns:
            yield block
            block = []
        block.append(zone)
    yield block


def _switches(network: Network) -> Iterator[str]:
    """Yield a tree for each switch: its links to other switches, and its hosts with their nodes."""
    for switch in network.switches:
        yield switch
        leaves = [*_trunk_leaves(network, switch), *_host_leaves(network, switch)]
        width = max((len(name) for name, _ in leaves), default=0)
        for number, (name, words) in enumerate(leaves, 1):
            yield f"{'└─' if number == len(leaves) else '├─'} {name:{width}}  {words}".rstrip()


def _trunk_leaves(network: Network, switch: str) -> Iterator[tuple[str, str]]:
    if network.form == "zones":
        return  # The table has these links.
    for link in network.trunks:
        if link.source == switch:
            yield link.target, links_words(link, back_of(network, link))
        elif link.target == switch and back_of(network, link) is None:
            yield link.source, f"from there only: {link_words(link)}"


def _host_leaves(network: Network, switch: str) -> Iterator[tuple[str, str]]:
    hosts = network.hosts_on(switch)
    for host in hosts[:HOSTS_SHOWN]:
        words = links_words(network.uplinks[host], network.downlinks[host])
        yield host, f"{words}  [{host_words(network, host)}]"
    if len(hosts) > HOSTS_SHOWN:
        yield "...", f"{len(hosts) - HOSTS_SHOWN} more hosts"


def _ways(network: Network) -> list[str]:
    """Return the paths between hosts of a graph; those of a star and of zones need no list."""
    if network.form != "graph":
        return []
    pairs = [(one, other) for one in network.hosts for other in network.hosts if one != other]
    lines = []
    for one, other in pairs[:WAYS_SHOWN]:
        way = network.way(one, other)
        if way is not None:
            lines.append(f"  {one} -> {' -> '.join(link.target for link in way)}: {_way_words(way)}")
    if network.routes == "ecmp":
        lines.append("  ecmp: other ways of the same cost are taken by other flows")
    more = len(pairs) - WAYS_SHOWN
    return [*lines, *([f"  and {more} more"] if more > 0 else [])]


def _way_words(way: Sequence[Link]) -> str:
    rates = [link.rate_bps for link in way if link.rate_bps is not None]
    slowest = f"{rate_text(min(rates))} at the slowest link" if rates else "unlimited"
    return f"{time_text(sum(link.delay_ns for link in way))}, {slowest}"

"""Draw switches, the links between them, and their hosts with the nodes on them."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.spec.network import Link, Network
from crosswind.topology.layout import layout
from crosswind.topology.svg import MARGIN_PX, Svg, text_width, title_width, titled
from crosswind.topology.words import back_of, host_words, link_words, links_words

SWITCH_HEIGHT_PX = 30
HOST_HEIGHT_PX = 40
GAP_PX = 12
HEAD_PX = 72
TIER_PX = 150
HOSTS_SHOWN = 8  # Per switch, in a column or in a row.
LABELS_MAX = 24  # With more links the labels would overlap; the pointer still shows them.


def graph_picture(network: Network) -> Svg:
    """Return the network as a picture."""
    found = layout(network)
    boxes = {switch: _hosts(network, switch) for switch in network.switches}
    room = max(_width(switch, boxes[switch]) for switch in network.switches)
    # Switches without tiers need the width of a few side by side.
    across, down = found.rows or (round(len(network.switches) ** 0.5) + 2, 0)
    width = max(across * (room + GAP_PX) + 2 * MARGIN_PX, title_width(network))
    tall = TIER_PX * (down - 1) if found.rows else 0.5 * width
    # The middle of the leftmost switch, and the largest distance between switches in tiers.
    left = MARGIN_PX if found.rows else MARGIN_PX + room / 2
    svg = titled(network, width, HEAD_PX + tall + SWITCH_HEIGHT_PX + HOST_HEIGHT_PX + 2 * GAP_PX + MARGIN_PX)
    at = {
        switch: (left + x * (width - 2 * left), HEAD_PX + SWITCH_HEIGHT_PX / 2 + y * tall)
        for switch, (x, y) in found.places.items()
    }
    _trunks(svg, network, at)
    for switch, (x, y) in at.items():
        _switch(svg, network, switch, x, y, boxes[switch])
    return svg


def _hosts(network: Network, switch: str) -> list[tuple[str, str]]:
    """Return name and nodes of the hosts that are drawn; the last entry is the number of the others."""
    hosts = network.hosts_on(switch)
    found = [(host, host_words(network, host)) for host in hosts[:HOSTS_SHOWN]]
    more = len(hosts) - HOSTS_SHOWN
    return [*found, ("", f"and {more} more")] if more > 0 else found


def _box_width(host: tuple[str, str]) -> float:
    return max(*map(text_width, host), 28) + 14


def _width(switch: str, hosts: list[tuple[str, str]]) -> float:
    return max(text_width(switch) + 30, sum(_box_width(host) + GAP_PX for host in hosts) - GAP_PX, 90)


def _trunks(svg: Svg, network: Network, at: dict[str, tuple[float, float]]) -> None:
    links = list(_each_once(network))
    for link, back in links:
        (x1, y1), (x2, y2) = at[link.source], at[link.target]
        hint = f"{link.source} - {link.target}: {links_words(link, back)}"
        svg.line(x1, y1, x2, y2, "trunk", hint, [each.name for each in (link, back) if each])
    # If all links are equal, the first line has their values.
    if len({links_words(link, back) for link, back in links}) == 1 or len(links) > LABELS_MAX:
        return
    for number, (link, _) in enumerate(links):
        (x1, y1), (x2, y2) = at[link.source], at[link.target]
        along = (0.5, 0.4, 0.6)[number % 3]  # Links that cross in the middle have labels at different places.
        svg.text(x1 + along * (x2 - x1), y1 + along * (y2 - y1) + 4, link_words(link), "soft label")


def _each_once(network: Network) -> Iterator[tuple[Link, Link | None]]:
    """Yield each link once, together with its other direction."""
    seen: set[str] = set()
    for link in network.trunks:
        if link.name in seen:
            continue
        back = back_of(network, link)
        seen |= {link.name} | ({back.name} if back else set())
        yield link, back


def _switch(
    svg: Svg, network: Network, switch: str, x: float, y: float, hosts: list[tuple[str, str]]
) -> None:
    """Draw a switch at its middle, and its hosts in a row below it."""
    total = sum(_box_width(host) + GAP_PX for host in hosts) - GAP_PX
    left, top = x - total / 2, y + SWITCH_HEIGHT_PX / 2 + 2 * GAP_PX
    for host in hosts:
        wide = _box_width(host)
        if host[0]:
            up, down = network.uplinks[host[0]], network.downlinks[host[0]]
            hint = f"{host[0]}: {links_words(up, down)}"
            svg.line(x, y, left + wide / 2, top, "uplink", hint, [up.name, down.name])
        svg.box(left, top, wide, HOST_HEIGHT_PX, "host", host=host[0])
        svg.text(left + wide / 2, top + 17, host[1])
        svg.text(left + wide / 2, top + 33, host[0], "soft")
        left += wide + GAP_PX
    wide = text_width(switch) + 26
    svg.box(x - wide / 2, y - SWITCH_HEIGHT_PX / 2, wide, SWITCH_HEIGHT_PX, "switch")
    svg.text(x, y + 5, switch, "on-switch")

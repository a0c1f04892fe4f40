"""Draw zones as a table: the delay of every ordered pair, darker where longer, and the nodes."""

from __future__ import annotations

from crosswind.spec.network import ARROW, Network
from crosswind.topology.svg import LETTER_PX, MARGIN_PX, TEXT_PX, Svg, text_width, title_width, titled
from crosswind.topology.words import delay_cells, host_words, matrix_heading, other_than_delay

ROW_PX = 30
GAP_PX = 3
HEAD_PX = 92  # Height of the two lines of the heading.
SLANT_DEGREES = -40
NODES_SHOWN = 6


def matrix_picture(network: Network) -> Svg:
    """Return the table as a picture."""
    unit, cells = delay_cells(network)
    zones = network.switches
    names_px = max(text_width(zone) for zone in zones)
    cell_px = max(44.0, max(text_width(text) for text in cells.values()) + 16)
    left = MARGIN_PX + names_px + 12
    top = HEAD_PX + names_px * 0.7
    nodes = {zone: _nodes(network, zone) for zone in zones}
    right = left + len(zones) * cell_px + 16
    width = max(right + max(map(text_width, nodes.values())) + MARGIN_PX, title_width(network))
    svg = titled(network, width, top + len(zones) * ROW_PX + MARGIN_PX)
    heading = f"{matrix_heading(unit)}; also {other_than_delay(network.trunks)}"
    svg.width = max(svg.width, text_width(heading) + 2 * MARGIN_PX)
    svg.text(MARGIN_PX, MARGIN_PX + TEXT_PX + 22, heading, "soft", "start")
    _columns(svg, zones, left, top, cell_px)
    longest_ns = max(link.delay_ns for link in network.trunks)
    delays_ns = {(link.source, link.target): link.delay_ns for link in network.trunks}
    for row, source in enumerate(zones):
        y = top + row * ROW_PX
        middle = y + ROW_PX / 2 + 4
        svg.text(left - 10, middle, source, "", "end")
        for column, target in enumerate(zones):
            x = left + column * cell_px
            share = delays_ns.get((source, target), 0) / longest_ns
            box = (x, y, cell_px - GAP_PX, ROW_PX - GAP_PX)
            if source == target:
                svg.box(*box, "plain")
                continue
            links = [f"{source}{ARROW}{target}"]
            svg.box(*box, "cell", opacity=0.08 + 0.42 * share, links=links)
            svg.text(x + (cell_px - GAP_PX) / 2, middle, cells[source, target])
        svg.text(right, middle, nodes[source], "soft", "start")
    return svg


def _columns(svg: Svg, zones: tuple[str, ...], left: float, top: float, cell_px: float) -> None:
    """Write the names of columns, slanted where they would overlap."""
    slanted = any(len(zone) * LETTER_PX > cell_px - 6 for zone in zones)
    for column, zone in enumerate(zones):
        x, y = left + column * cell_px + (cell_px - GAP_PX) / 2, top - 8
        if not slanted:
            svg.text(x, y, zone)
            continue
        svg.parts.append(f'<g transform="rotate({SLANT_DEGREES} {x:.1f} {y:.1f})">')
        svg.text(x, y, zone, "", "start")
        svg.parts.append("</g>")


def _nodes(network: Network, zone: str) -> str:
    hosts = network.hosts_on(zone)
    nodes = [node for node, host in network.nodes.items() if host in hosts]
    more = len(nodes) - NODES_SHOWN
    if not nodes:
        return ", ".join(host_words(network, host) for host in hosts[:1])
    return ", ".join(nodes[:NODES_SHOWN]) + (f" and {more} more" if more > 0 else "")

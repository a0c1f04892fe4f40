"""Draw a network as SVG, in the colours of the report, for light and dark screens."""

from __future__ import annotations

from crosswind.spec.network import Network
from crosswind.topology.graph_picture import graph_picture
from crosswind.topology.matrix_picture import matrix_picture
from crosswind.topology.svg import Svg


def picture(network: Network) -> Svg:
    """Return a network as a picture: zones as a table of delays, everything else as switches and links."""
    is_table = network.form == "zones" and bool(network.trunks)
    return matrix_picture(network) if is_table else graph_picture(network)

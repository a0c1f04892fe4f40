"""Show a network: in one line, in a terminal, and as an SVG picture."""

from crosswind.topology.line import network_line

__all__ = ["network_line"]

"""Show a network: in one line, in a terminal, and as an SVG picture."""

from crosswind.topology.line import domains_text, network_line

__all__ = ["domains_text", "network_line"]

"""A graph of a GraphML or GML file: nodes and edges with attributes, each with its line."""

from __future__ import annotations

from dataclasses import dataclass, field

from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError

NODES_MAX = 10_000
EDGES_MAX = 100_000
BYTES_MAX = 64 << 20

Attribute = str | float | bool


@dataclass
class DrawnNode:
    """A node, and the line of the file that it begins on."""

    line: int
    name: str
    attributes: dict[str, Attribute] = field(default_factory=dict)


@dataclass
class DrawnEdge:
    """An edge between two nodes by their names, and the line of the file that it begins on."""

    line: int
    source: str
    target: str
    is_directed: bool
    attributes: dict[str, Attribute] = field(default_factory=dict)


@dataclass
class Drawing:
    """The graph of a file."""

    nodes: dict[str, DrawnNode] = field(default_factory=dict)
    edges: list[DrawnEdge] = field(default_factory=list)

    def add_node(self, node: DrawnNode) -> None:
        """Add a node.

        Raises: LineError: it is the second one of this name, or one too many.
        """
        if node.name in self.nodes:
            first = self.nodes[node.name].line
            raise LineError(
                node.line, f"node {shown(node.name)} is given twice (first on line {first}); keep one"
            )
        if len(self.nodes) == NODES_MAX:
            raise LineError(node.line, f"has more than {NODES_MAX} nodes; use a part of the graph")
        self.nodes[node.name] = node

    def add_edge(self, edge: DrawnEdge) -> None:
        """Add an edge.

        Raises: LineError: too many.
        """
        if len(self.edges) == EDGES_MAX:
            raise LineError(edge.line, f"has more than {EDGES_MAX} edges; use a part of the graph")
        self.edges.append(edge)

    def checked(self) -> Drawing:
        """Return the drawing, after checking that its edges join its nodes.

        Raises: LineError: an edge does not, or there are no nodes.
        """
        if not self.nodes:
            raise LineError(0, "has no nodes; name a GraphML or GML file of a network")
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in self.nodes:
                    raise LineError(
                        edge.line, f"an edge leads to {shown(end)}, which is not a node of the file"
                    )
        return self


def check_size(content: bytes) -> None:
    """Check the size of a file.

    Raises: LineError: it is too large.
    """
    if len(content) > BYTES_MAX:
        raise LineError(0, f"has {len(content)} bytes; at most {BYTES_MAX}: use a part of the graph")

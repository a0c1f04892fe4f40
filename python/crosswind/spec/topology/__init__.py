"""The topology of an experiment: a star, zones, or a graph, which is written out or in a file.

Each form is a model. It checks the rules between its parts (`findings`) and becomes a `Network` of directed
links.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Tag

from crosswind.spec.topology.graph import Graph
from crosswind.spec.topology.graph_file import GraphFromFile
from crosswind.spec.topology.star import Star
from crosswind.spec.topology.zones import Zones

AnyTopology = Star | Zones | Graph | GraphFromFile


def form_of(raw: object) -> type[AnyTopology]:
    """Return the model that reads a topology, by the keys that only one of the forms has."""
    if isinstance(raw, AnyTopology):
        return type(raw)
    keys = set(raw) if isinstance(raw, dict) else set()
    if "zones" in keys:
        return Zones
    if "graph" in keys:
        return GraphFromFile
    return Graph if keys & {"switches", "links"} else Star


# No tag may be a key of a topology, because errors find their places by keys.
Topology = Annotated[
    Annotated[Star, Tag("a star")]
    | Annotated[Zones, Tag("some zones")]
    | Annotated[Graph, Tag("a graph")]
    | Annotated[GraphFromFile, Tag("a graph in a file")],
    Discriminator(lambda raw: _TAGS[form_of(raw)]),
]
_TAGS: dict[type[AnyTopology], str] = {
    Star: "a star",
    Zones: "some zones",
    Graph: "a graph",
    GraphFromFile: "a graph in a file",
}

__all__ = ["AnyTopology", "Graph", "GraphFromFile", "Star", "Topology", "Zones", "form_of"]

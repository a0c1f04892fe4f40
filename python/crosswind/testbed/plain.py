"""A fabric with nodes only: the start of all measurements of the machine itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crosswind.spec.buffer import BufferSize
from crosswind.spec.network import STAR_SWITCH, star_links
from crosswind.spec.resolved import FabricCondition, FabricNode, FabricSpec, ResolvedTcp


def plain_fabric(
    nodes: Sequence[str] = ("n0", "n1"),
    *,
    rate_bps: int | None = None,
    delay_ns: int = 0,
    buffer_bytes: int | None = None,
    places: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
    congestion_control: str = "cubic",
    socket_buffer_bytes: int | None = None,
    seed: int = 1,
) -> FabricSpec:
    """Return a fabric (docs/reference/contracts.md, section 1) of nodes with a host each, h0, h1 and so on.

    Args:
        rate_bps, delay_ns, buffer_bytes: of every uplink, each way; None is unlimited.
        places: elements by place.
        congestion_control: one that the kernel has.
        socket_buffer_bytes: the largest buffer of a socket; None is that of the machine.
    """
    hosts = [f"h{number}" for number in range(len(nodes))]
    return FabricSpec(
        seed=seed,
        hosts=hosts,
        switches=[STAR_SWITCH],
        links=[
            link.resolved(1.0) for link in star_links(hosts, rate_bps, delay_ns, BufferSize(buffer_bytes))
        ],
        routes="shortest",
        nodes=[FabricNode(name=name, host=host) for name, host in zip(nodes, hosts, strict=True)],
        mtu_bytes=1500,
        tcp=ResolvedTcp(
            congestion_control=congestion_control,
            rto_min_us=200_000,
            socket_buffer_bytes=socket_buffer_bytes,
        ),
        merge_window_ns=20_000,
        condition=FabricCondition.model_validate({"name": "plain", "places": _plain(places or {})}),
    )


def _plain(value: object) -> object:
    """Return mappings as dictionaries and sequences as lists, as JSON has them."""
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list | tuple) else value

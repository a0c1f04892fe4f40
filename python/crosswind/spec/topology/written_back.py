"""Turn the fabric of a recording back into a topology, as a file writes it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from crosswind.spec.buffer import Bdp, BufferSize
from crosswind.spec.network import STAR_SWITCH, Link, Network
from crosswind.spec.resolved import FabricSpec, ResolvedTopology


def topology_of(fabric: FabricSpec) -> dict[str, JsonValue]:
    """Return the topology of this fabric, as plain values of a file.

    A fabric has no zones. Where every switch has a link to every other one, and there are no written routes,
    the switches become zones, so that conditions may use `wan`.
    """
    # The runner adds neighbours that generate real interference; no condition can name them.
    nodes = {node.name: node.host for node in fabric.nodes if not node.name.startswith("noise-")}
    network = Network.of(
        ResolvedTopology(
            form="graph",
            hosts=fabric.hosts,
            switches=fabric.switches,
            links=fabric.links,
            routes=fabric.routes,
            nodes=nodes,
        )
    )
    mtu = {"mtu": f"{fabric.mtu_bytes}B"}
    uplinks = {(link.rate_bps, link.delay_ns, link.buffer) for link in network.uplinks.values()}
    if network.switches == (STAR_SWITCH,) and len(uplinks) == 1:
        first = next(iter(network.uplinks.values()))
        return {"hosts": list(network.hosts), **_uplink(first), "nodes": {**nodes}, **mtu}
    if _is_mesh(network):
        return {
            "zones": _between(network),
            "hosts": {host: {"zone": link.target, **_uplink(link)} for host, link in network.uplinks.items()},
            "nodes": {**nodes},
            **mtu,
        }
    return {
        "switches": list(network.switches),
        "hosts": {host: {"switch": link.target, **_uplink(link)} for host, link in network.uplinks.items()},
        "links": [_trunk(link) for link in network.trunks],
        "routes": network.routes
        if isinstance(network.routes, str)
        else [list(way) for way in network.routes],
        "nodes": {**nodes},
        **mtu,
    }


def _is_mesh(network: Network) -> bool:
    """Return whether the network can be written as zones."""
    trunks, count = network.trunks, len(network.switches)
    return (
        len(trunks) == count * (count - 1)
        and network.routes == "shortest"
        and len({link.buffer for link in trunks}) == 1
        and all(link.delay_ns and link.cost == 1 for link in trunks)
    )


def _between(network: Network) -> dict[str, JsonValue]:
    trunks = network.trunks
    return {
        "delay": _matrix((link, f"{link.delay_ns}ns") for link in trunks),
        "rate": _matrix((link, _quantity(link.rate_bps, "bit/s")) for link in trunks),
        "jitter": _matrix((link, f"{link.jitter_ns}ns") for link in trunks),
        "loss": _matrix((link, _share(link.loss_ppb)) for link in trunks),
        "buffer": _buffer(trunks[0].buffer),
    }


def _matrix(values: Iterable[tuple[Link, str]]) -> dict[str, JsonValue]:
    rows: dict[str, dict[str, JsonValue]] = {}
    for link, value in values:
        rows.setdefault(link.source, {})[link.target] = value
    return {**rows}


def _trunk(link: Link) -> dict[str, JsonValue]:
    return {
        "from": link.source,
        "to": link.target,
        **_wire(link),
        "jitter": f"{link.jitter_ns}ns",
        "loss": _share(link.loss_ppb),
        "cost": link.cost,
    }


def _uplink(link: Link) -> dict[str, JsonValue]:
    return {"uplink": _wire(link)}


def _wire(link: Link) -> dict[str, JsonValue]:
    return {
        "rate": _quantity(link.rate_bps, "bit/s"),
        "delay": f"{link.delay_ns}ns",
        "buffer": _buffer(link.buffer),
    }


def _buffer(buffer: BufferSize | Bdp) -> str:
    assert isinstance(buffer, BufferSize)  # In a fabric, a product is bytes.
    if buffer.packets is not None:
        return f"{buffer.packets}packets"
    return _quantity(buffer.size_bytes, "B") if buffer.time_ns is None else f"{buffer.time_ns}ns"


def _share(loss_ppb: int) -> str:
    return f"{loss_ppb // 10**7}.{loss_ppb % 10**7:07d}%"


def _quantity(value: int | None, unit: str) -> str:
    return "unlimited" if value is None else f"{value}{unit}"

"""How far apart two ends are, and what is set up between them."""

from __future__ import annotations

from typing import Any

import pytest

from crosswind.fingerprint.measure.crossing import tcp_metrics
from crosswind.fingerprint.measure.ends import End, Ends
from crosswind.fingerprint.measure.way import Way, way_text


def between(near: tuple[str, str | None], far: tuple[str, str | None]) -> Ends:
    """Return two ends, each by its address and its host."""
    ends = [
        End(name, (), address, "crosswind-load", "python3", ("iperf3",), ("nuttcp",), host)
        for name, (address, host) in zip("ab", (near, far), strict=True)
    ]
    return Ends(ends[0], ends[1], one_machine=True, tool="traffic", ours=True)


def seen(interface: str = "eth0", driver: str | None = "veth", routers: int | None = 0) -> dict[str, Any]:
    """Return what of an end's facts tells the way."""
    return {"interface": {"name": interface, "driver": driver}, "connection": {"routers": routers}}


A, B, BESIDE_A = ("10.77.0.1", "h0"), ("10.77.0.2", "h1"), ("10.77.0.2", "h0")


@pytest.mark.parametrize(
    ("ends", "facts", "place", "distance"),
    [
        (between(A, A), seen(), "loopback", 0),
        (between(("127.0.0.1", None), ("127.0.0.2", None)), seen("lo", None), "loopback", 0),
        (between(A, BESIDE_A), seen(), "same host", 0),
        (between(A, B), seen(), "other host", 2),
        (between(A, B), seen(routers=1), "routed", 4),
        # One host, but what they send each other goes over a router: the study's fourth distance.
        (between(A, BESIDE_A), seen(routers=1), "routed", 4),
        (between(A, B), seen(routers=3), "routed", 8),
        # No connection was made with any time to live: hosts are known, what lies between is not.
        (between(A, B), seen(routers=None), "other host", None),
        # Nodes of a fabric that is up, or containers: nobody says whether they stand for one host.
        (between(("10.77.0.1", None), ("10.77.0.2", None)), seen(), None, None),
    ],
)
def test_the_distance_is_that_of_osmefs_tree(
    ends: Ends, facts: dict[str, Any], place: str | None, distance: int | None
) -> None:
    found = Way.of(ends, facts)
    assert (found.place, found.distance, found.tunnel) == (place, distance, None)


def test_a_tunnel_is_told_by_the_device_and_does_not_count() -> None:
    way = Way.of(between(A, B), seen("tunnel0", "vxlan")).as_dict()
    assert way == {"place": "other host", "routers": 0, "tunnel": "vxlan", "distance": 2}
    assert way_text(way) == "other host, through a tunnel (vxlan), distance 2"


def test_a_route_keeps_what_was_declared_for_tcp() -> None:
    # As `ip -4 route show` printed it in a node (iproute2 6.1); it takes no `lock` back.
    shown = "10.77.0.0/16 via 169.254.77.1 dev eth0 src 10.77.0.1 onlink rto_min lock 200ms congctl cubic \n"
    assert tcp_metrics(shown) == ["rto_min", "200ms", "congctl", "cubic"]

"""How far apart two ends are, and what is set up between them."""

from __future__ import annotations

import pytest
from documents import document, fingerprint, machines

from crosswind.analysis.network.ends import Connection, EndFacts, Interface
from crosswind.fingerprint.measure.crossing import tcp_metrics
from crosswind.fingerprint.measure.ends import End, Ends
from crosswind.fingerprint.measure.way import way_of


def between(near: tuple[str, str | None], far: tuple[str, str | None]) -> Ends:
    """Return two ends, each by its address and its host."""
    ends = [
        End(name, (), address, "crosswind-load", "python3", ("iperf3",), ("nuttcp",), host)
        for name, (address, host) in zip("ab", (near, far), strict=True)
    ]
    return Ends(ends[0], ends[1], one_machine=True, tool="traffic", ours=True)


def seen(interface: str = "eth0", driver: str | None = "veth", routers: int | None = 0) -> EndFacts:
    """Return the facts of an end that show the way."""
    facts = document(fingerprint(1) | {"machines": {"before": machines()}}).machines.before
    assert facts is not None
    connection = Connection(
        congestion_control="cubic",
        rto_us=200_000,
        mss_bytes=1448,
        path_mtu_bytes=1500,
        handshake_rtt_us=100,
        routers=routers,
    )
    found = {"interface": Interface(name=interface, driver=driver), "connection": connection}
    return facts.near.model_copy(update=found)


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
    ends: Ends, facts: EndFacts, place: str | None, distance: int | None
) -> None:
    found = way_of(ends, facts)
    assert (found.place, found.distance, found.tunnel) == (place, distance, None)


def test_a_tunnel_is_told_by_the_device_and_does_not_count() -> None:
    way = way_of(between(A, B), seen("tunnel0", "vxlan"))
    assert way.as_json() == {"place": "other host", "routers": 0, "tunnel": "vxlan", "distance": 2}
    assert str(way) == "other host, through a tunnel (vxlan), distance 2"


def test_a_route_keeps_what_was_declared_for_tcp() -> None:
    # As `ip -4 route show` printed it in a node (iproute2 6.1); it takes no `lock` back.
    shown = "10.77.0.0/16 via 169.254.77.1 dev eth0 src 10.77.0.1 onlink rto_min lock 200ms congctl cubic \n"
    assert tcp_metrics(shown) == ["rto_min", "200ms", "congctl", "cubic"]

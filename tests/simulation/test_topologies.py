"""Zones, routes and equal ways in virtual time: packets take what the file says, to the nanosecond."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from crosswind.certify.table import Packets, play
from crosswind.spec import FabricSpec
from crosswind.spec.document import parse_document
from crosswind.spec.fabric import fabric_of
from crosswind.spec.setup import setup_of
from crosswind.testbed import TestbedError, find_binary

ZONES = 13
GAP_NS = 10_000_000_000  # Between two packets, so that none waits for another.
UPLINK_NS = 2 * (123_040 + 50_000)  # Two links: 1538 bytes on the wire at 100 Mbit/s, and 50 us.


def delay_ns(source: int, target: int) -> int:
    """Return a delay of its own for each of the 156 ordered pairs."""
    return 5_000_000 + 1_000_003 * (source * ZONES + target)


@pytest.fixture(autouse=True)
def simulator() -> None:
    try:
        find_binary("crosswind-simulate")
    except TestbedError as reason:
        pytest.skip(f"SKIPPED: {reason}")


def fabric(text: str, folder: Path = Path()) -> FabricSpec:
    setup = setup_of(parse_document(text.encode(), str(folder / "network.yaml")))
    resolved = setup.resolved(7)
    return fabric_of(resolved, resolved.conditions[0].name)


def delays_ns(made: FabricSpec, pairs: list[tuple[int, int]]) -> list[int]:
    """Return how long one packet takes for each pair of nodes by their numbers, in their order."""
    at = np.arange(len(pairs)) * GAP_NS
    source, target = np.array(pairs).T
    found = play(made, Packets.of(at, source=source, destination=target)).departed_ns - at
    return [int(each) for each in found]


def test_each_ordered_pair_of_thirteen_zones_has_its_own_delay(tmp_path: Path) -> None:
    rows = [
        ",".join(
            [f"z{one}", *(f"{delay_ns(one, other)}ns" if one != other else "" for other in range(ZONES))]
        )
        for one in range(ZONES)
    ]
    (tmp_path / "m.csv").write_text(
        "\n".join([",".join(["", *(f"z{zone}" for zone in range(ZONES))]), *rows])
    )
    nodes = ", ".join(f"n{zone}: z{zone}" for zone in range(ZONES))
    made = fabric(
        f"""
topology:
  zones: {{delay: {{matrix: m.csv, value: one-way}}}}
  uplink: {{rate: 100Mbit/s, delay: 50us}}
  nodes: {{{nodes}}}
""",
        tmp_path,
    )
    pairs = list(permutations(range(ZONES), 2))
    found = delays_ns(made, pairs)
    assert found == [delay_ns(*pair) + UPLINK_NS for pair in pairs]
    assert len(set(found)) == 156
    by_pair = dict(zip(pairs, found, strict=True))
    for one, other in pairs:
        round_trip_ns = by_pair[one, other] + by_pair[other, one]
        assert round_trip_ns == delay_ns(one, other) + delay_ns(other, one) + 2 * UPLINK_NS


def test_a_condition_of_one_pair_of_zones_changes_no_other() -> None:
    made = fabric("""
topology:
  zones: {delay: {a: {b: 10ms, c: 20ms}, b: {a: 11ms, c: 5ms}, c: {a: 21ms, b: 6ms}}}
  nodes: {n0: a, n1: b, n2: c}
condition: {far: {wan: {a->b: [delay: 3ms], c: [delay: 1ms]}}}
""")
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]
    assert [each / 1e6 for each in delays_ns(made, pairs)] == [13, 11, 20, 22, 5, 7]


# Two ways of the same cost; the packet's delay tells which it took.
SPINES = """
topology:
  switches: [leaf0, leaf1, spine0, spine1]
  links:
    - {ends: [leaf0, spine0], rate: unlimited, delay: 1ms}
    - {ends: [spine0, leaf1], rate: unlimited, delay: 1ms}
    - {ends: [leaf0, spine1], rate: unlimited, delay: 2ms}
    - {ends: [spine1, leaf1], rate: unlimited, delay: 2ms}
  routes: ROUTES
  hosts: {HOSTS}
  nodes: {NODES}
"""
SIDE = 16


def spines(routes: str, seed: int = 7) -> FabricSpec:
    hosts = ", ".join(f"h{number}: leaf{number // SIDE}" for number in range(2 * SIDE))
    nodes = ", ".join(f"n{number}: h{number}" for number in range(2 * SIDE))
    made = fabric(SPINES.replace("ROUTES", routes).replace("HOSTS", hosts).replace("NODES", nodes))
    return made.with_changes(seed=seed)


ACROSS = [(one, SIDE + other) for one in range(SIDE) for other in range(SIDE)]


def test_ecmp_spreads_flows_over_equal_ways_and_keeps_each_on_its_own() -> None:
    found = delays_ns(spines("ecmp"), ACROSS * 2)
    first, second = found[: len(ACROSS)], found[len(ACROSS) :]
    assert first == second
    assert set(first) == {2_000_000, 4_000_000}
    # 256 flows, each with an even chance: the standard deviation of the count is 8.
    assert abs(first.count(2_000_000) - 128) < 4 * 8
    # Another seed is another hash.
    assert delays_ns(spines("ecmp", seed=8), ACROSS) != first


def test_the_shortest_way_is_the_first_of_equal_ones() -> None:
    assert set(delays_ns(spines("shortest"), ACROSS)) == {2_000_000}


def test_a_written_way_is_followed_in_its_direction_alone() -> None:
    made = spines("[[h0, leaf0, spine1, leaf1, h16]]")
    assert delays_ns(made, [(0, 16), (16, 0), (1, 16)]) == [4_000_000, 2_000_000, 2_000_000]


def test_a_named_link_between_switches_has_elements_of_its_own() -> None:
    text = SPINES.replace("ROUTES", "shortest").replace("HOSTS", "h0: leaf0, h1: leaf1")
    condition = "condition: {c: {link: {leaf0->spine0: [delay: 7ms]}}}\n"
    made = fabric(text.replace("NODES", "a: h0, b: h1") + condition)
    assert delays_ns(made, [(0, 1), (1, 0)]) == [9_000_000, 2_000_000]


def test_a_link_of_a_graph_has_its_own_rate() -> None:
    made = fabric("""
topology:
  switches: [a, b]
  links: [{from: a, to: b, rate: 10Mbit/s, delay: 1ms}, {from: b, to: a, rate: 100Mbit/s}]
  nodes: {n0: a, n1: b}
""")
    # 1538 bytes: 1.2304 ms at 10 Mbit/s and 0.12304 ms at 100.
    assert delays_ns(made, [(0, 1), (1, 0)]) == [2_230_400, 123_040]

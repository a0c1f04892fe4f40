"""Long links are cut first, capacity is respected, and what is written is used or refused."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.plan import outline
from crosswind.plan.placement import Placement, place, placement_of
from crosswind.plan.text import describe
from crosswind.spec import resolve
from crosswind.spec.load import parse_experiment
from crosswind.spec.network import Link, Network
from crosswind.spec.resolved import Resolved, ResolvedMachine, ResolvedTestbed

MS = 1_000_000
# 2 x 200 us and 100 us.
LEAST_NS = 500_000


def machines(*cores: int | None, written: dict[str, str] | None = None) -> ResolvedTestbed:
    found = [ResolvedMachine(name=f"m{number}", cores=each) for number, each in enumerate(cores)]
    return ResolvedTestbed(machines=found, place=written or {}, delay_ns=200_000, clock_error_ns=100_000)


def both_ways(one: str, other: str, delay_ns: int, jitter_ns: int = 0) -> list[Link]:
    return [Link(*ends, None, delay_ns, jitter_ns=jitter_ns) for ends in ((one, other), (other, one))]


def zones(sizes: list[int], delay_ns: dict[tuple[int, int], int]) -> Network:
    """Return zones with a node on each of their hosts; host hXY is number Y in zone X."""
    hosts = [f"h{zone}x{number}" for zone, size in enumerate(sizes) for number in range(size)]
    links = [link for host in hosts for link in both_ways(host, f"z{host[1:].split('x')[0]}", 0)]
    links += [
        link
        for (one, other), each_ns in delay_ns.items()
        for link in both_ways(f"z{one}", f"z{other}", each_ns)
    ]
    switches = tuple(f"z{zone}" for zone in range(len(sizes)))
    return Network("zones", tuple(hosts), switches, tuple(links), {f"n{host}": host for host in hosts})


def placed(network: Network, at: ResolvedTestbed, cores: float = 1.0) -> Placement:
    return place(network, at, dict.fromkeys(network.nodes, cores))


def of_zones(found: Placement) -> list[str]:
    """Return the machine of each zone, and check that its hosts are there, too."""
    zones = {part: machine for part, machine in found.machine_of.items() if part.startswith("z")}
    for part, machine in found.machine_of.items():
        assert machine == zones[f"z{part[1:].split('x')[0]}"]
    return list(zones.values())


def test_the_longest_links_are_cut_that_leave_even_shares() -> None:
    near = {(0, 1): MS, (2, 3): MS}
    far = {(0, 2): 80 * MS, (0, 3): 80 * MS, (1, 2): 80 * MS, (1, 3): 80 * MS}
    found = placed(zones([2, 2, 2, 2], near | far), machines(None, None))
    assert of_zones(found) == ["m0", "m0", "m1", "m1"]
    assert {cut.delay_ns for cut in found.cuts} == {80 * MS}
    # With three machines one of the near links has to be cut as well.
    found = placed(zones([2, 2, 2, 2], near | far), machines(None, None, None))
    assert len({*of_zones(found)}) == 3
    # One zone that is far from all has an eighth of the nodes: a millisecond between even shares is better.
    alone = {(0, 1): MS, (0, 2): 80 * MS, (1, 2): 80 * MS}
    assert of_zones(placed(zones([4, 3, 1], alone), machines(None, None))) == ["m0", "m1", "m1"]


def test_a_machine_gets_work_in_proportion_to_the_cores_that_the_emulator_leaves() -> None:
    mesh = {(one, other): 10 * MS for one in range(8) for other in range(one)}
    found = placed(zones([1] * 8, mesh), machines(7, 3))
    assert found.demand == {"m0": 6.0, "m1": 2.0}
    assert not found.notes
    found = placed(zones([1] * 8, mesh), machines(3, 3))
    assert [note.split(";")[0] for note in found.notes] == [
        "m0: its nodes take 4 cores, and 2 of its 3 are left beside the emulator",
        "m1: its nodes take 4 cores, and 2 of its 3 are left beside the emulator",
    ]


def test_short_links_and_links_with_jitter_hold_their_ends_together() -> None:
    network = zones([1, 1, 1], {(0, 1): LEAST_NS, (1, 2): LEAST_NS - 1, (0, 2): LEAST_NS})
    found = placed(network, machines(None, None, None))
    machine_of = of_zones(found)
    assert machine_of[1] == machine_of[2] != machine_of[0]
    assert [short.why for short in found.short if short.link == "z1->z2"] == ["a delay of 500 us"]
    assert found.notes == [
        "m2: nothing is there, because the network has only 2 parts between links that can be cut; give more "
        "links a constant delay of at least 500 us (2 x 200 us of the underlay and 100 us of clock error), "
        "or leave the machine out"
    ]
    shaky = Network(
        "graph",
        ("h0", "h1"),
        ("a", "b"),
        (*both_ways("h0", "a", 0), *both_ways("h1", "b", 0), *both_ways("a", "b", MS, 5)),
    )
    assert len({*placed(shaky, machines(None, None)).machine_of.values()}) == 1


def test_a_written_place_is_used_or_refused_with_the_link_and_a_remedy() -> None:
    network = zones([1, 1], {(0, 1): 10 * MS})
    found = placed(network, machines(None, None, written={"z0": "m1", "h1x0": "m0"}))
    assert of_zones(found) == ["m1", "m0"]
    assert not found.problems
    assert list(found.parts.values()) == [["z0", "h0x0"], ["z1", "h1x0"]]
    found = placed(network, machines(None, None, written={"z0": "m1", "z1": "m1", "h1x0": "m0"}))
    assert len(found.problems) == 1  # For both directions.
    assert found.problems[0].startswith(
        "link h1x0->z1: is cut between m0 and m1, and has no delay; a link between machines needs a constant "
        "delay of at least 500 us"
    )


def test_what_a_condition_binds_stays_on_one_machine() -> None:
    network = zones([1, 1], {(0, 1): 10 * MS})
    demand = dict.fromkeys(network.nodes, 1.0)
    found = place(network, machines(None, None), demand, [("h0x0", "h1x0")])
    assert len({*found.machine_of.values()}) == 1
    apart = machines(None, None, written={"z0": "m0", "z1": "m1"})
    (problem,) = place(network, apart, demand, [("h0x0", "h1x0")]).problems
    assert problem.startswith("h0x0 and h1x0: are on m0 and m1, and a condition has interference of")


def test_a_full_mesh_of_200_zones_is_placed_within_seconds() -> None:
    count = 200
    mesh = {
        (one, other): (1 + (one * 7 + other * 13) % 90) * MS for one in range(count) for other in range(one)
    }
    network = zones([3] * count, mesh)
    started = time.process_time()
    found = placed(network, machines(*[None] * 10))
    assert time.process_time() - started < 10
    assert len(found.demand) == 10
    assert max(found.demand.values()) <= 1.5 * 60


DELAYS = st.sampled_from([0, 1, LEAST_NS - 1, LEAST_NS, MS, 20 * MS])


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.lists(DELAYS, min_size=15, max_size=15),
    st.lists(st.none() | st.integers(1, 16), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=2),
)
def test_no_chosen_placement_has_a_problem_and_every_one_can_be_written_out(
    sizes: list[int], delays: list[int], cores: list[int | None], bound: list[tuple[int, int]]
) -> None:
    pairs = [(one, other) for one in range(len(sizes)) for other in range(one)]
    network = zones(sizes, dict(zip(pairs, delays, strict=False)))
    demand = dict.fromkeys(network.nodes, 1.0)
    together = [(f"z{one}", f"z{other}") for one, other in bound if max(one, other) < len(sizes)]
    found = place(network, machines(*cores), demand, together)
    assert not found.problems
    assert all(cut.delay_ns >= LEAST_NS for cut in found.cuts)
    assert sum(found.demand.values()) == len(network.nodes)
    assert set(found.machine_of) == {*network.hosts, *network.switches}
    switches = {part: machine for part, machine in found.machine_of.items() if part in network.switches}
    written = place(network, machines(*cores, written=switches), demand, together)
    assert (written.machine_of, written.cuts) == (found.machine_of, found.cuts)


EXPERIMENT = """\
name: placed
topology:
  zones: {delay: {us: {eu: 35ms, ap: 80ms}, eu: {us: 35ms, ap: 110ms}, ap: {us: 80ms, eu: 110ms}}}
  hosts: {h0: us, h1: us, h2: eu, h3: ap}
  nodes: {server: h0, client: {host: h1, cpus: 0.5}, c2: h2, c3: h3}
conditions: [none, CONDITION]
application: {rpc: {duration: 1s, warm_up: 100ms}}
trials: {repeat: 2}
testbed: {ssh: {hosts: [m0, m1]}}
"""


def experiment(condition: str) -> Resolved:
    return resolve(parse_experiment(EXPERIMENT.replace("CONDITION", condition).encode(), "x.yaml"))


def test_a_plan_shows_machines_and_the_links_between_them() -> None:
    planned = outline(experiment("{slow: {wan: [{delay: 5ms}]}}"))
    text = describe(planned)
    assert "  m0: us, eu, h0, h1, h2 (2.5 cores of nodes)\n  m1: ap, h3 (1 core of nodes)\n" in text
    assert "Links between machines: 4\n  us->ap (80 ms, m0 to m1)\n" in text
    assert "Too short to be between machines: 8 links (a constant delay of at least 500 us is needed)" in text
    assert "copy the agent to ~/.cache/crosswind on m0, m1, where it is not there already" in text
    assert "Packets between machines: in UDP datagrams\n" in text
    found = json.loads(json.dumps(planned.as_dict()))["placement"]
    assert found["machine_of"]["h3"] == "m1"


@pytest.mark.parametrize(
    ("testbed", "over"),
    [
        ("network: native", "the interface that has each machine's address"),
        ("network: native, interface: eth1", "eth1 of m0, eth1 of m1"),
    ],
)
def test_a_plan_says_that_packets_between_machines_are_ethernet(testbed: str, over: str) -> None:
    text = EXPERIMENT.replace("[none, CONDITION]", "[none]").replace("testbed: {", f"testbed: {{{testbed}, ")
    planned = outline(resolve(parse_experiment(text.encode(), "x.yaml")))
    assert f"Packets between machines: in Ethernet frames without IP, over {over}\n" in describe(planned)
    found = json.loads(json.dumps(planned.as_dict()))["placement"]
    assert found["network"] == "native"


@pytest.mark.parametrize(
    "condition",
    [
        "{tcp: {interference: {between: [h0-h3], rate: 1Mbit/s, transport: tcp}}}",
        "{seen: {wan: [{monitor: [rtt]}]}}",
    ],
)
def test_conditions_decide_what_stays_together(condition: str) -> None:
    found = placement_of(experiment(condition))
    assert found is not None
    assert found.machine_of["h0"] == found.machine_of["h3"]
    assert not found.problems

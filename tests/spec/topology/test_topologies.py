"""Zones and graphs: what they become, and every bad one is refused with its place and a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crosswind import catalog
from crosswind.spec import SpecErrors, fabric_of, load_experiment, resolve
from crosswind.spec.document import parse_document, read_document
from crosswind.spec.network import Network
from crosswind.spec.quantities import RATE, TIME
from crosswind.spec.resolved import ConstantRate
from crosswind.spec.scale import scaled
from crosswind.spec.setup import load_setup, setup_of
from crosswind.spec.topology.written_back import topology_of

ZONES = """\
topology:
  zones:
    delay:
      a: {b: 30ms, c: 80ms}
      b: {a: 31ms, c: 5ms}
      c: {a: 82ms, b: 6ms}
    rate: 1Gbit/s
  uplink: {rate: 1Gbit/s, buffer: 1MiB}
  nodes: {n0: a, n1: b, n2: c}
"""
GRAPH = """\
topology:
  switches: [leaf0, leaf1, spine0, spine1]
  hosts: {h0: leaf0, h1: leaf0, h2: leaf1}
  uplink: {rate: 1Gbit/s}
  links:
    - {ends: [leaf0, spine0], rate: 40Gbit/s, delay: 1us}
    - {ends: [leaf1, spine0], rate: 40Gbit/s, delay: 1us}
    - {ends: [leaf0, spine1], rate: 10Gbit/s, delay: 2us, cost: 3, jitter: 1us, loss: 0.1%}
    - {ends: [leaf1, spine1], rate: 10Gbit/s, delay: 2us, cost: 3}
  nodes: {x: h0, y: h2}
"""


def network(text: str, folder: Path = Path()) -> Network:
    return Network.of(setup_of(parse_document(text.encode(), str(folder / "x.yaml"))).resolved(1).topology)


def refusal(text: str, folder: Path = Path()) -> str:
    """Return the one message with which a file is refused, with its place."""
    with pytest.raises(SpecErrors) as caught:
        network(text, folder)
    (problem,) = caught.value.problems
    return str(problem).removeprefix(f"{folder / 'x.yaml'}:")


def condition(text: str, places: str) -> Any:
    """Return the places of a condition as the agent reads them."""
    setup = setup_of(parse_document(f"{text}condition: {{mine: {places}}}\n".encode(), "x.yaml"))
    return setup.resolved(1).conditions[0].places


# --- what they become --------------------------------------------------------------------------------------


def test_zones_have_a_link_for_every_ordered_pair_and_stay_as_asymmetric_as_they_are() -> None:
    found = network(ZONES)
    assert (found.hosts, found.switches) == (("h0", "h1", "h2"), ("a", "b", "c"))
    delays = {link.name: link.delay_ns for link in found.trunks}
    ms = 10**6
    assert delays == {
        "a->b": 30 * ms, "a->c": 80 * ms, "b->a": 31 * ms, "b->c": 5 * ms, "c->a": 82 * ms, "c->b": 6 * ms,
    }  # fmt: skip
    assert {link.rate_bps for link in found.trunks} == {10**9}
    assert [link.name for link in found.way("h0", "h2") or ()] == ["h0->a", "a->c", "c->h2"]


def test_a_zone_without_hosts_is_left_out() -> None:
    assert network(ZONES.replace(", n2: c", "")).switches == ("a", "b")


def test_nodes_share_a_host_that_is_named_and_have_their_own_otherwise() -> None:
    found = network(
        ZONES.replace("n2: c}", "h1: c}\n  hosts: {h0: a}").replace("n0: a", "n0: h0, n4: {host: h0}")
    )
    assert found.nodes == {"n0": "h0", "n4": "h0", "n1": "h2", "h1": "h3"}
    assert found.switch_of("h2") == "b"


def test_links_keep_what_they_are_given_each_way() -> None:
    found = network(GRAPH)
    assert found.link["spine1->leaf0"].resolved(0.5).as_json() == {
        "from": "spine1",
        "to": "leaf0",
        "rate_bps": 5 * 10**9,
        "delay_ns": 2000,
        "buffer_bytes": 256 * 1024,
        "jitter_ns": 1000,
        "loss_ppb": 10**6,
        "cost": 3,
    }
    assert "jitter_ns" not in found.link["leaf1->spine1"].resolved(1.0).as_json()


def test_the_shortest_way_has_the_least_cost_and_a_written_one_is_as_written() -> None:
    written = GRAPH.replace("  nodes:", "  routes: [[h0, leaf0, spine1, leaf1, h2]]\n  nodes:")
    for text, there in ((GRAPH, "spine0"), (written, "spine1")):
        found = network(text)
        assert [link.target for link in found.way("h0", "h2") or ()] == ["leaf0", there, "leaf1", "h2"]
        assert [link.target for link in found.way("h2", "h0") or ()] == ["leaf1", "spine0", "leaf0", "h0"]


def test_a_fabric_has_the_links_and_the_routes() -> None:
    setup = setup_of(parse_document(GRAPH.replace("  nodes:", "  routes: ecmp\n  nodes:").encode(), "x.yaml"))
    fabric = fabric_of(setup.resolved(1), "none")
    assert fabric.routes == "ecmp"
    assert fabric.links[0].as_json() == {
        "from": "h0", "to": "leaf0", "rate_bps": 10**9, "delay_ns": 0, "buffer_bytes": 524288,
    }  # fmt: skip
    assert len(fabric.links) == 2 * 3 + 2 * 4


@pytest.mark.parametrize("text", [ZONES, GRAPH, GRAPH.replace("cost: 3, j", "buffer: 9packets, j")])
def test_a_recorded_fabric_becomes_the_same_topology_again(text: str) -> None:
    fabric = fabric_of(setup_of(parse_document(text.encode(), "x.yaml")).resolved(1), "none")
    import json

    again = setup_of(parse_document(json.dumps({"topology": topology_of(fabric)}).encode(), "y.yaml"))
    assert fabric_of(again.resolved(1), "none").links == fabric.links


@pytest.mark.parametrize("name", [name for name in catalog.experiment_names() if name.startswith("icpe23-")])
def test_the_set_ups_of_icpe_are_the_stars_that_they_were(name: str) -> None:
    topology = read_document(catalog.experiment_file(name)).data["topology"]
    scale = read_document(catalog.experiment_file(name)).data.get("scale", 1)
    uplink = topology["uplink"]
    found = Network.of(resolve(load_experiment(catalog.experiment_file(name))).topology)
    assert found.form == "star"
    assert [link.name for link in found.links] == [
        each for host in found.hosts for each in (f"{host}->switch", f"switch->{host}")
    ]
    for link in found.links:
        assert link.rate_bps == scaled(RATE.read(uplink["rate"]), scale)
        assert link.delay_ns == TIME.read(uplink.get("delay", "0s"))


# --- matrices in files -------------------------------------------------------------------------------------

IN_FILE = """\
topology:
  zones: {delay: {matrix: m.csv, OPTIONS}}
  nodes: {n0: ZONE0, n1: ZONE1}
"""


def in_file(folder: Path, csv: str | bytes, options: str, zones: str = "a b") -> str:
    (folder / "m.csv").write_bytes(csv if isinstance(csv, bytes) else csv.encode())
    first, second = zones.split()
    return IN_FILE.replace("OPTIONS", options).replace("ZONE0", first).replace("ZONE1", second)


@pytest.mark.parametrize(
    ("csv", "options", "zones"),
    [
        ("from/to,a,b\na,0,7.5\nb,8,0\n", "unit: ms, value: one-way", "a b"),
        # The order of the rows is their own; half a nanosecond more would be rounded up.
        (",a,b,\nb,16,,\na,,15,\n", "unit: ms, value: round-trip", "a b"),
        ("# measured\na;b\n;0.0075\n0.008;-\n", "unit: s, value: one-way", "a b"),
        ("0 7500\n8000 0\n", "unit: us, value: one-way", "z0 z1"),
        ("a\tb\na\t-\t7500us\nb\t8ms\t-\n", "value: one-way", "a b"),
        ('"","a","b"\n"a",NA,1.5e1\n"b",16.0,NA\n', "unit: ms, value: round-trip", "a b"),
    ],
    ids=["corner", "trailing commas", "semicolons", "no names", "own units", "quoted"],
)
def test_a_matrix_is_read_as_people_write_it(tmp_path: Path, csv: str, options: str, zones: str) -> None:
    found = network(in_file(tmp_path, csv, options, zones), tmp_path)
    assert [link.delay_ns for link in found.trunks] == [7_500_000, 8_000_000]


@pytest.mark.parametrize(
    ("csv", "options", "expected"),
    [
        (
            "x,a,b\na,0,\nb,8,0\n",
            "unit: ms, value: one-way",
            "row 2 (a), column 3 (b) is empty; every ordered pair",
        ),
        ("x,a,b\na,0,-7\nb,8,0\n", "unit: ms, value: one-way", 'row 2 (a), column 3 (b): "-7" is negative'),
        ("x,a,b\na,0,7\nb,z,0\n", "unit: ms, value: one-way", 'row 3 (b), column 2 (a): "z" is not a time'),
        ("x,a,b\na,0,7\nb,8,0\n", "value: one-way", '"7" has no unit; write unit: with one of s, ms'),
        ("x,a,b\na,0,7\nb,8,0\n", "unit: ms", 'zones.delay: needs "value"; add it'),
        ("x,a,b\na,0,0\nb,8,0\n", "unit: ms, value: one-way", "has zero from a to b; zones without a delay"),
        ("x,a,b\na,0,7\n", "unit: ms, value: one-way", "has a column b and no row of this name"),
        ("x,a,b\na,0,7\nb,8\n", "unit: ms, value: one-way", "line 3: has 1 values, and there are 2 columns"),
        ("x,a,a\na,0,7\na,8,0\n", "unit: ms, value: one-way", "line 1: has two columns called a"),
        ("", "unit: ms, value: one-way", "is empty; write a row and a column"),
        (b"x,a,\xff\n", "unit: ms, value: one-way", "line 1: is not UTF-8"),
        (",".join(map(str, range(3163))), "unit: ms, value: one-way", "has 3163 columns, so 10004569 links"),
    ],
)
def test_a_bad_matrix_names_the_cell(tmp_path: Path, csv: str | bytes, options: str, expected: str) -> None:
    message = refusal(in_file(tmp_path, csv, options), tmp_path)
    assert expected in message
    assert message.startswith("2:")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    text = IN_FILE.replace("OPTIONS", "unit: ms, value: one-way").replace("ZONE", "z")
    assert '"m.csv" cannot be read: no such file or directory' in refusal(text, tmp_path)


def test_rates_jitter_and_loss_may_be_matrices_of_files_too(tmp_path: Path) -> None:
    for name, cells in (("r", "100"), ("j", "0.5"), ("l", "0.25")):
        (tmp_path / f"{name}.csv").write_text(f"x,a,b\na,,{cells}\nb,{cells},\n")
    text = """\
topology:
  zones:
    delay: 10ms
    rate: {matrix: r.csv, unit: Mbit/s}
    jitter: {matrix: j.csv, unit: ms}
    loss: {matrix: l.csv, unit: "%"}
    buffer: {bdp: 20ms}
  nodes: {n0: a, n1: b}
"""
    for link in network(text, tmp_path).trunks:
        assert link.resolved(1.0).as_json() == {
            "from": link.source, "to": link.target, "rate_bps": 10**8, "delay_ns": 10**7,
            "buffer_bytes": 250_000, "jitter_ns": 500_000, "loss_ppb": 2_500_000,
        }  # fmt: skip


def test_the_files_of_a_topology_are_kept_with_the_results(tmp_path: Path) -> None:
    text = in_file(tmp_path, "x,a,b\na,0,7\nb,8,0\n", "unit: ms, value: one-way")
    (tmp_path / "x.yaml").write_text(text)
    (entry,) = load_setup(tmp_path / "x.yaml").resolved(1).topology.files
    assert entry.file == "m.csv"
    assert len(entry.sha256) == 64


# --- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{a: 82ms, b: 6ms}", "{a: 82ms}", "6:10: topology.zones.delay: c has no delay to b; every"),
        ("      c: {a: 82ms, b: 6ms}\n", "", "3:5: topology.zones.delay: c has no row; every ordered pair"),
        ("5ms", "-5ms", '5:23: topology.zones.delay.b: c "-5ms" is negative'),
        ("5ms", "0ms", "5:23: topology.zones.delay.b: c is zero; zones without"),
        ("5ms", "5", '5:23: topology.zones.delay.b: c "5" has no unit; write 5ms'),
        ("n2: c", "n2: d", '9:29: topology.nodes: n2 is on "d", which is neither a host nor a zone; choose'),
        ("n2: c", "c: c", "9:28: topology.nodes: c is also the name of a zone"),
        ("n2: c}", "n2: c}\n  hosts: {a: b}", "10:14: topology.hosts: a is also the name of a zone"),
        ("n2: c}", "n2: c}\n  hosts: {h7: q}", '10:15: topology.hosts: h7 is on "q", which is not a zone'),
        ("rate: 1Gbit/s\n  up", "jitter: {a: {b: 1ms}, b: {a: 1ms}}\n  up", "zones of delay (differing: c)"),
        ("rate: 1Gbit/s\n  up", "loss: 101%\n  up", '7:11: topology.zones: loss "101%" is outside'),
        ("rate: 1Gbit/s\n  up", "buffer: 5ms\n  up", "is a time, and the rate is unlimited"),
        ("buffer: 1MiB", "buffer: 100B", '8:35: topology.uplink: buffer "100B" is smaller than one packet'),
        ("  uplink", "  routes: ecmp\n  uplink", '8:3: topology: unknown key "routes"'),
        ("n2: c", "n2: {zone: c, host: h0}", "needs either a zone or a host"),
        ("a: {b: 30ms", "a->x: {b: 30ms", '"a->x" is not a valid name for a zone'),
    ],
)  # fmt: skip
def test_bad_zones_are_refused_with_their_place(old: str, new: str, expected: str) -> None:
    assert old in ZONES
    assert expected in refusal(ZONES.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "    - {ends: [leaf0, spine1]",
            "    - {ends: [spine0, leaf0], rate: 1Gbit/s}\n    - {ends: [leaf0, spine1]",
            "8:7: topology.links: item 3 is a second link spine0->leaf0 (the first is item 1); keep one",
        ),
        (
            "h2: leaf1",
            "h2: leaf7",
            '3:37: topology.hosts: h2 is on "leaf7", which is not a switch; did you mean',
        ),
        (
            "[leaf1, spine1]",
            "[leaf1, spine9]",
            '9:7: topology.links: item 4 leads to "spine9", which is not a switch',
        ),
        ("[leaf1, spine1]", "[leaf1, leaf1]", 'joins "leaf1" with itself'),
        ("[leaf1, spine1]", "[leaf1]", "topology.links[4]: ends"),
        ("ends: [leaf1, spine1]", "from: leaf1", "has no two ends"),
        ("spine1]\n", "spine1, spine1]\n", '2:44: topology.switches: item 5 "spine1" is given twice'),
        ("x: h0", "x: h9", 'topology.nodes: x is on "h9", which is neither a host nor a switch'),
        ("x: h0", "leaf0: h0", "topology.nodes: leaf0 is also the name of a switch"),
        ("cost: 3, j", "cost: 0, j", "8:65: topology.links[3]: cost"),
        ("cost: 3, j", "delay: -1ms, j", 'key "delay" is given twice'),
        ("delay: 2us, cost: 3, j", "delay: -2us, j", '8:54: topology.links[3]: delay "-2us" is negative'),
        ("rate: 10Gbit/s, delay: 2us, cost: 3, j", "j", '8:7: topology.links[3]: needs "rate"'),
        ("ends: [leaf0, spine1]", "buffer: 10ns, ends: [leaf0, spine1]", "is less than one packet of 1500B"),
    ],
)
def test_bad_graphs_are_refused_with_their_place(old: str, new: str, expected: str) -> None:
    assert old in GRAPH
    assert expected in refusal(GRAPH.replace(old, new, 1))


def test_a_host_without_a_way_is_refused() -> None:
    text = GRAPH.replace("{ends: [leaf1, spine0]", "{from: leaf1, to: spine0")
    text = text.replace("{ends: [leaf1, spine1]", "{from: leaf1, to: spine1")
    assert refusal(text) == (
        "3:15: topology.hosts: h0 has no path to h2: no links lead from leaf0 to leaf1; "
        "add a link, or remove one of the hosts"
    )
    # A way that is written out is one, if there are links for it.
    assert "has no link from spine0 to leaf1" in refusal(
        text.replace("  nodes:", "  routes: [[h0, leaf0, spine0, leaf1, h2]]\n  nodes:")
        .replace("h1: leaf0, ", "")
        .replace("{from: leaf1, to: spine1", "{ends: [leaf1, spine1]")
    )


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (
            "[h0, leaf0, spine0, leaf0, h1]",
            '10:12: topology.routes: item 1 has "leaf0" twice, which would',
        ),
        ("[h0, leaf0, leaf1, h2]", "has no link from leaf0 to leaf1; add one"),
        ("[h0, leaf0, spine0]", 'ends at "spine0", which is not a host'),
        ("[h0, leaf0, h1, leaf0, h2]", 'has "leaf0" twice'),
        ("[h0, leaf0, spine9, leaf1, h2]", 'leads over "spine9", which is not a switch'),
        ("[h0, leaf0, h1], [h0, leaf0, h1]", "item 2 is a second route from h0 to h1 (the first is item 1)"),
        ("[h0]", "topology.routes: item 1 is not a route; write its hosts"),
    ],
)
def test_bad_routes_are_refused_with_their_place(way: str, expected: str) -> None:
    assert expected in refusal(GRAPH.replace("  nodes:", f"  routes: [{way}]\n  nodes:"))


def test_a_route_is_one_of_the_three() -> None:
    text = GRAPH.replace("  nodes:", "  routes: fastest\n  nodes:")
    assert refusal(text).startswith('10:11: topology: routes "fastest" must be "shortest" or "ecmp"')


def test_a_thousand_links_too_many_in_a_file_are_refused_before_they_are_built() -> None:
    links = "\n".join("    - {ends: [leaf0, spine0], rate: 1Gbit/s}" for _ in range(10_000))
    assert "has more than 20000 values" in refusal(GRAPH.replace("  links:", f"  links:\n{links}"))


# --- places ------------------------------------------------------------------------------------------------


def test_a_place_by_name_is_a_list_whose_elements_are_there_alone() -> None:
    delay = {"delay": {"time_ns": 5_000_000}}
    assert condition(ZONES, "{wan: {a->b: [delay: 5ms], c: [lose: 1%]}}") == {
        "wan": [
            {"delay": {**delay["delay"], "on": ["a->b"]}},
            {"lose": {"law": {"bernoulli": {"share_ppb": 10**7}}, "on": ["c"]}},
        ]
    }
    assert condition(ZONES, "{wan: [delay: 5ms]}") == {"wan": [delay]}
    assert condition(GRAPH, "{link: {leaf0->spine0: [delay: 5ms]}}")["link"][0]["delay"]["on"] == [
        "leaf0->spine0"
    ]
    assert condition(GRAPH, "{host.egress: {leaf0: [delay: 5ms]}}")["host.egress"][0]["delay"]["on"] == [
        "leaf0"
    ]


def test_a_queue_of_products_is_another_one_on_links_of_other_rates() -> None:
    text = GRAPH.replace("h2: leaf1", "h2: {switch: leaf1, uplink: {rate: 2Gbit/s}}")
    queue = "queue: {buffer: {bdp: 10ms}}"
    assert condition(text, f"{{switch.egress: [{queue}]}}")["switch.egress"] == [
        {"queue": {"buffer_bytes": 1_250_000, "on": ["leaf0->h0", "leaf0->h1"]}},
        {"queue": {"buffer_bytes": 2_500_000, "on": ["leaf1->h2"]}},
    ]
    assert condition(text, f"{{host.egress: [{queue}]}}")["host.egress"][1]["queue"]["on"] == ["h2"]
    # 40 Gbit/s for 10 ms.
    named = condition(text, f"{{switch.egress: {{leaf0->spine0: [{queue}]}}}}")
    assert named["switch.egress"] == [{"queue": {"buffer_bytes": 50_000_000, "on": ["leaf0->spine0"]}}]


@pytest.mark.parametrize(
    ("text", "places", "expected"),
    [
        (ZONES, "wan: {a->d: [delay: 5ms]}", "wan: a->d is not a pair of zones with hosts (a->b)"),
        (ZONES, "wan: {h0: [delay: 5ms]}", "wan: h0 is not a pair of zones"),
        (ZONES, "link: {n0: [delay: 5ms]}", "link: n0 is not a host, zone with hosts or link"),
        (
            ZONES,
            "link: {a: [delay: {time: 5ms, on: [h0]}]}",
            'on is below "a" already; remove one of the two',
        ),
        (ZONES, "link: {a: [delay: 5]}", 'link.a[1]: delay "5" has no unit'),
        (ZONES, "link: {}", "link"),
        (ZONES, "link: {a: {delay: 5ms}}", "link"),
        (ZONES, "host.egress: [delay: {time: 5ms, on: [d]}]", '"d" is not a node, host or zone with hosts'),
        (
            ZONES,
            "wan: [capacity: {steps: {0s: 1Gbit/s}, direction: up}]",
            "direction is for links of hosts",
        ),
        (
            GRAPH,
            "wan: [delay: 5ms]",
            "wan is for links between zones, and this topology has no zones; write link: {leaf0->spine0",
        ),
        (
            GRAPH,
            "link: {leaf0->spine7: [delay: 5ms]}",
            'is not a host, switch or link; did you mean "leaf0->spine1"?',
        ),
        (GRAPH, "host.egress: [queue: {buffer: 1MB, on: [x]}]", '"x" is not a host or switch'),
        (
            GRAPH,
            "switch.egress: {leaf0->spine0: [queue: 1MB], leaf1->h2: [queue: 1MB], h2: [queue: 2MB]}",
            "switch.egress.h2[1]: queue is a second queue or scheduler for the same link",
        ),
        (GRAPH, "switch.egress: {leaf0->spine0: [queue: 100ns]}", 'buffer "100ns" at 40000000000bit/s'),
        (
            GRAPH.replace("uplink: {rate: 1Gbit/s}", "uplink: {rate: unlimited}"),
            "link: [monitor: [utilisation]]",
            "of an unlimited link is not defined",
        ),
    ],
)
def test_names_of_places_are_checked(text: str, places: str, expected: str) -> None:
    message = refusal(f"{text}condition: {{mine: {{{places}}}}}\n")
    assert expected in message
    assert int(message.split(":")[0]) == text.count("\n") + 1


def test_a_star_has_no_wide_area() -> None:
    text = "topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}\n"
    message = refusal(f"{text}condition: {{mine: {{wan: [delay: 5ms]}}}}\n")
    assert message.startswith(
        "2:25: condition.mine: wan is for links between zones, and this topology has no zones; write "
        "link: {h0"
    )


def test_interference_is_a_share_of_the_slower_host() -> None:
    text = GRAPH.replace("h2: leaf1", "h2: {switch: leaf1, uplink: {rate: 100Mbit/s}}")
    setup = setup_of(
        parse_document(
            f"{text}condition: {{i: {{interference: {{between: [h0-h2], rate: 50%}}}}}}\n".encode(), "x.yaml"
        )
    )
    assert setup.resolved(1).conditions[0].interference[0].rate == ConstantRate(constant_bps=50_000_000)

"""Domains: what a topology may declare in each of its forms, and what the agent is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crosswind.spec import SpecErrors, fabric_of
from crosswind.spec.document import parse_document
from crosswind.spec.network import Network
from crosswind.spec.resolved import ResolvedSetup
from crosswind.spec.setup import setup_of

STAR = "{hosts: 2, uplink: {rate: 1Gbit/s, delay: 200us}, nodes: {a: h0, b: h1}DOMAINS}"
ZONES = (
    "{zones: {delay: {x: {y: 5ms, z: 9ms}, y: {x: 5ms, z: 9ms}, z: {x: 1ms, y: 1ms}}}, "
    "nodes: {a: x, b: y}DOMAINS}"
)
GRAPH = "{switches: [s, t], links: [{ends: [s, t], rate: 1Gbit/s, delay: 100us}], nodes: {a: s, b: t}DOMAINS}"
FILE = "{graph: {file: g.gml}, nodes: {a: s, b: t}DOMAINS}"
GML = """\
graph [
  node [ id 0 label "s" ] node [ id 1 label "t" ]
  edge [ source 0 target 1 rate "1Gbit/s" delay "1ms" ]
]
"""


def resolved(folder: Path, topology: str, domains: str | None) -> ResolvedSetup:
    (folder / "g.gml").write_text(GML)
    declared = "" if domains is None else f", domains: {domains}"
    text = f"topology: {topology.replace('DOMAINS', declared)}\n"
    return setup_of(parse_document(text.encode(), str(folder / "x.yaml"))).resolved(1)


def refusal(folder: Path, topology: str, domains: str) -> str:
    with pytest.raises(SpecErrors) as caught:
        resolved(folder, topology, domains)
    (problem,) = caught.value.problems
    return problem.message


@pytest.mark.parametrize(
    ("topology", "written"),
    [
        (STAR, [["switch", "h0"], ["h1"]]),
        (ZONES, [["x"], ["y"]]),
        (GRAPH, [["s", "h0"], ["t"]]),
        (FILE, [["s"], ["t", "h1"]]),
    ],
)
def test_every_form_of_topology_takes_a_number_lists_or_auto(
    tmp_path: Path, topology: str, written: list[list[str]]
) -> None:
    declared: list[tuple[str | None, Any]] = [
        (None, "auto"), ("auto", "auto"), ("1", 1), ("2", 2), ("64", 64), (str(written), written)
    ]  # fmt: skip
    for text, expected in declared:
        found = resolved(tmp_path, topology, text).topology
        assert found.domains == expected
        # What is read again is the same network.
        assert Network.of(found).resolved(1.0).domains == expected


@pytest.mark.parametrize(
    ("domains", "auto", "given"),
    [
        (None, 1, None),
        (None, 4, 4),
        ("auto", 4, 4),
        ("1", 4, None),
        ("[[s, t]]", 4, None),
        ("3", 1, 3),
        ("[[s, h0], [t]]", 1, [["s", "h0"], ["t"]]),
    ],
)
def test_the_agent_is_given_domains_where_there_are_several(
    tmp_path: Path, domains: str | None, auto: int, given: Any
) -> None:
    fabric = fabric_of(resolved(tmp_path, GRAPH, domains), "none", auto_domains=auto)
    assert fabric.domains == given


def test_a_host_that_is_not_named_goes_with_its_switch(tmp_path: Path) -> None:
    found = Network.of(resolved(tmp_path, STAR, "[[h1], [switch]]").topology)
    assert found.domain_of == {"h0": 1, "h1": 0, "switch": 1}
    assert Network.of(resolved(tmp_path, STAR, "2").topology).domain_of == {}


@pytest.mark.parametrize(
    ("topology", "domains", "expected"),
    [
        (
            ZONES,
            "[[x], [y, z]]",
            'item 2 "z" is a zone without hosts, which is not part of the network; remove it',
        ),
        (ZONES, "[[x], [w, y]]", 'item 1 "w" is neither a zone nor a host; choose one of x, y, h0, h1'),
        (ZONES, "[[x]]", "topology: domains lacks y; name every zone in one domain"),
        (GRAPH, "[[s], [t, b]]", 'item 2 "b" is a node; name its host h1'),
        (GRAPH, "[[s, t], []]", "item 2 is empty; name a switch or a host, or remove it"),
        (GRAPH, "[[s], [t, s]]", 'item 2 "s" is named twice (first in item 1); name it once'),
        (
            GRAPH.replace("100us", "99us"),
            "[[s], [t]]",
            "s->t, t->s, which have less than 100us of delay; put",
        ),
        (
            GRAPH.replace("100us", "9ms, jitter: 1ns"),
            "[[s], [t]]",
            "which have jitter; put both ends into one",
        ),
        (GRAPH, "[[s, t], [h0]]", "item 2 is cut from item 1 at h0->s, s->h0, which have no delay"),
        (GRAPH, "many", 'domains "many" is neither auto, nor a number, nor lists of switches and hosts; wr'),
        (GRAPH, "2.5", 'domains "2.5" is neither auto'),
        (GRAPH, "0", 'domains "0" must be at least 1'),
        (GRAPH, "65", 'domains "65" must be at most 64'),
        (GRAPH, "[s, [t]]", 'topology.domains: item 1 "s" must be a list'),
        (GRAPH, "[[s, 1], [t]]", 'topology.domains[1]: item 2 "1" must be text'),
    ],
)
def test_domains_that_cannot_be_are_refused(
    tmp_path: Path, topology: str, domains: str, expected: str
) -> None:
    assert expected in refusal(tmp_path, topology, domains)


def test_names_are_checked_where_other_parts_of_the_topology_are_wrong(tmp_path: Path) -> None:
    lost = GRAPH.replace("ends: [s, t]", "ends: [s, q]")
    with pytest.raises(SpecErrors) as caught:
        resolved(tmp_path, lost, "[[s], [u, t]]")
    assert [problem.message.split(";")[0] for problem in caught.value.problems] == [
        'topology.links: item 1 leads to "q", which is not a switch',
        'topology.domains[2]: item 1 "u" is neither a switch nor a host',
    ]

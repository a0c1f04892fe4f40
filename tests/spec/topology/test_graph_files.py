"""GraphML and GML: what their attributes mean, and every bad file is refused by its line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crosswind.spec import SpecErrors
from crosswind.spec.document import parse_document
from crosswind.spec.network import Network
from crosswind.spec.setup import setup_of

GML = """\
graph [
  label "Small"
  node [ id 0 label "S\u00e3o Paulo" Latitude -23.55 Longitude -46.63 graphics [ x 1 y 2 ] ]
  node [ id 1 label "Rio" Latitude -22.91 Longitude -43.17 ]
  node [ id 2 label "Rio" ]
  edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 2 delay "5ms" rate "1Gbit/s" cost 3 loss "0.5%" ]
]
"""
GRAPHML = """\
<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="delay" attr.type="string"><default>1ms</default></key>
  <key id="d1" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>
  <key id="d2" for="node" attr.name="label" attr.type="string"/>
  <key id="d3" for="edge" attr.name="directed-weight" attr.type="int"/>
  <graph edgedefault="undirected">
    <node id="n0"><data key="d2">Wien</data></node>
    <node id="n1"><data key="d2">Graz</data></node>
    <edge source="n0" target="n1">
      <data key="d1">1e9</data>
    </edge>
    <edge source="n1" target="n0" directed="true"><data key="d0">2ms</data><data key="d1">2e9</data></edge>
  </graph>
</graphml>
"""


def network(folder: Path, content: str | bytes, more: str = "", nodes: str = "a: Wien, b: Graz") -> Network:
    (folder / "g").write_bytes(content if isinstance(content, bytes) else content.encode())
    text = f"topology: {{graph: {{file: g{more}}}, nodes: {{{nodes}}}}}\n"
    return Network.of(setup_of(parse_document(text.encode(), str(folder / "x.yaml"))).resolved(1).topology)


def refusal(folder: Path, content: str | bytes, more: str = "") -> str:
    with pytest.raises(SpecErrors) as caught:
        network(folder, content, more)
    (problem,) = caught.value.problems
    assert problem.line == 1
    return problem.message


def test_the_zoos_speeds_and_coordinates_are_rates_and_delays(tmp_path: Path) -> None:
    found = network(tmp_path, GML, nodes="a: Sao-Paulo, b: Rio-2")
    assert found.switches == ("Sao-Paulo", "Rio-1", "Rio-2")
    one, back, other, _ = found.trunks
    assert (one.name, one.rate_bps, back.name) == ("Sao-Paulo->Rio-1", 10**10, "Rio-1->Sao-Paulo")
    # 361 km of great circle, at 5 us for each.
    assert one.delay_ns == pytest.approx(361 * 5000, rel=0.01)
    assert (other.rate_bps, other.delay_ns, other.cost, other.loss_ppb) == (10**9, 5_000_000, 3, 5_000_000)


def test_what_a_file_leaves_out_is_said_beside_it(tmp_path: Path) -> None:
    bare = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]"
    found = network(tmp_path, bare, ", rate: unlimited, delay: 7ms, buffer: 1MB", "a: '0', b: '1'")
    assert {(link.rate_bps, link.delay_ns) for link in found.trunks} == {(None, 7_000_000)}
    assert "has neither rate nor LinkSpeedRaw; write rate: 10Gbit/s" in refusal(tmp_path, bare)
    assert "has no delay, and 0 has no Latitude and Longitude" in refusal(tmp_path, bare, ", rate: 1Gbit/s")


def test_typed_attributes_and_their_defaults_are_read(tmp_path: Path) -> None:
    one_way = GRAPHML.replace('source="n0" target="n1"', 'source="n0" target="n1" directed="true"')
    found = network(tmp_path, one_way)
    assert [(link.name, link.delay_ns, link.rate_bps) for link in found.trunks] == [
        ("Wien->Graz", 1_000_000, 10**9),
        ("Graz->Wien", 2_000_000, 2 * 10**9),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", '"g" line 13: link Graz->Wien is a second one (the first is on line 10); keep one'),
        (">1e9<", ">fast<", '"g" line 11: LinkSpeedRaw "fast" is not of its declared type double'),
        (">1e9<", ">-1<", '"g" line 10: link Wien->Graz has LinkSpeedRaw "-1.0", which is not a rate'),
        (">1e9<", ">nan<", 'has LinkSpeedRaw "nan", which is not a rate'),
        (">1ms<", ">1<", '"g" line 10: link Wien->Graz "1" has no unit; write 1ms'),
        (">1ms<", ">-1ms<", '"-1ms" is negative; write a time of at least zero'),
        (
            'attr.type="string"><default>',
            'attr.type="double"><default>',
            'line 3: delay "1ms" is not of its declared',
        ),
        ('target="n1"', 'target="n7"', '"g" line 10: an edge leads to "n7", which is not a node'),
        ('target="n1"', 'target="n0"', "joins a node with itself"),
        ('id="n1"', 'id="n0"', 'line 9: node "n0" is given twice (first on line 8)'),
        ('key="d1">1e9', 'key="d9">1e9', 'line 11: has data of "d9", which no <key> declares'),
        ("</graphml>", "", "is not XML (no element found)"),
        ("<graphml xmlns", "<svg xmlns", "is XML that begins with"),
        (
            'edgedefault="undirected"',
            'edgedefault="both"',
            'line 7: edgedefault "both" must be directed or undirected',
        ),
        ("<edge source", "<hyperedge/><edge source", "is a hyperedge"),
    ],
)
def test_bad_graphml_is_refused_by_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in GRAPHML
    assert expected in refusal(tmp_path, GRAPHML.replace(old, new, 1) if old else GRAPHML)


def test_entities_are_refused_before_they_are_expanded(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 30))
    text = f'<?xml version="1.0"?>\n<!DOCTYPE graphml [<!ENTITY e0 "x">{entities}]>\n<graphml>&e29;</graphml>'
    assert '"g" line 2: declares a document type or an entity' in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "has no graph [ ... ]"),
        ("hosts: 4", 'line 1: ":" is neither a key, a number, a text nor a list'),
        ("graph [ node [ id 0 ", "ends inside a list"),
        ("graph [\n node [ label 1 ] ]", "line 2: has a node without id"),
        ("graph [\n\n node [ id 0 Latitude ] ]", "line 3: Latitude has no value"),
        ("graph [ node [ id 0 x 1.2.3 ] ]", 'x "1.2.3" is not a number'),
        ("graph [ edge 5 ]", 'edge is followed by "5"'),
        ("graph [ " + "a [ " * 99, "is nested too deeply"),
        (b"\x00\xff\xfe", "line 1"),
        ("graph [ ]", "has no nodes"),
    ],
)
def test_bad_gml_is_refused_by_its_line(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert expected in refusal(tmp_path, content)


def test_ten_million_links_are_refused_at_once(tmp_path: Path) -> None:
    edges = "edge [ source 0 target 1 ]\n" * 200_000
    began = time.process_time()
    message = refusal(tmp_path, f"graph [ node [ id 0 ] node [ id 1 ]\n{edges}")
    assert "line 100002: has more than 100000 edges; use a part of the graph" in message
    # What is longer is not even looked at.
    assert "bytes; at most" in refusal(tmp_path, b"<" + b" " * (64 << 20))
    assert time.process_time() - began < 10

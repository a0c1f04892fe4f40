"""`crosswind topology show`: what a reader sees in the terminal, and a picture that browsers take."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from crosswind.cli._main import group

ZONES = """\
topology:
  zones: {delay: {a: {b: 30.5ms, c: 180ms}, b: {a: 31ms, c: 5ms}, c: {a: 182ms, b: 6ms}}, rate: 1Gbit/s}
  uplink: {rate: 1Gbit/s}
  nodes: {n0: a, n1: b, n2: c, m2: c}
"""
GRAPH = """\
topology:
  switches: [leaf0, leaf1, spine0]
  links:
    - {ends: [leaf0, spine0], rate: 40Gbit/s, delay: 1us}
    - {from: leaf1, to: spine0, rate: 10Gbit/s, delay: 2us}
    - {from: spine0, to: leaf1, rate: 40Gbit/s, delay: 1us}
  nodes: {x: leaf0, y: leaf1}
"""


def shown(folder: Path, text: str, *more: str) -> str:
    (folder / "x.yaml").write_text(text)
    result = CliRunner().invoke(
        group, ["topology", "show", str(folder / "x.yaml"), *more], standalone_mode=False
    )
    assert result.exception is None, result.exception
    return result.stdout


def test_zones_are_a_table(tmp_path: Path) -> None:
    text = shown(tmp_path, ZONES)
    assert text.startswith(
        "3 zones, 1 Gbit/s, 5 ms to 182 ms each way; 4 hosts, 1 Gbit/s, no delay each way\n"
    )
    assert "from \\ to    a     b    c\na            -  30.5  180\nb           31     -    5\n" in text
    assert "└─ h3  1 Gbit/s  [m2]" in text


def test_a_graph_is_a_tree_with_ways(tmp_path: Path) -> None:
    text = shown(tmp_path, GRAPH)
    assert "3 switches and 2 links between them, 10 Gbit/s to 40 Gbit/s" in text
    assert "├─ spine0  10 Gbit/s, 2 us; back 40 Gbit/s, 1 us" in text
    assert "  h0 -> leaf0 -> spine0 -> leaf1 -> h1: 2 us, 40 Gbit/s at the slowest link" in text


def test_domains_are_shown_where_they_are_declared(tmp_path: Path) -> None:
    assert "domains" not in shown(tmp_path, ZONES)
    assert "\ndomains: 2\n" in shown(tmp_path, f"{ZONES}  domains: 2\n")
    assert "\ndomains: 2 (a; b, c, h2)\n" in shown(tmp_path, f"{ZONES}  domains: [[a], [b, c, h2]]\n")


@pytest.mark.parametrize("text", [ZONES, GRAPH, "icpe23-rpc"])
def test_a_picture_names_everything_and_is_the_same_again(tmp_path: Path, text: str) -> None:
    picture = tmp_path / "x.svg"
    if "\n" in text:
        shown(tmp_path, text, "--svg", str(picture))
    else:
        CliRunner().invoke(group, ["topology", "show", text, "--svg", str(picture)], standalone_mode=False)
    root = ElementTree.fromstring(picture.read_text())
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {ZONES: "30.5", GRAPH: "spine0"}.get(text, "switch") in words
    first = picture.read_bytes()
    if "\n" in text:
        shown(tmp_path, text, "--svg", str(picture))
        assert picture.read_bytes() == first

"""Delays between the regions of a table of the catalogue: what they become, and where they are from."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from crosswind import catalog
from crosswind.cli._main import group
from crosswind.spec import SpecErrors
from crosswind.spec.document import parse_document
from crosswind.spec.network import Network
from crosswind.spec.setup import setup_of
from crosswind.spec.topology.region_table import load_region_table

FILE = """\
topology:
  zones: {delay: {regions: TABLE}, rate: 1Gbit/s}
  nodes: {n0: FIRST, n1: SECOND}
"""


def delays_us(table: str, first: str, second: str) -> tuple[Fraction, Fraction]:
    """Return the delays from the first region to the second and back."""
    text = FILE.replace("TABLE", table).replace("FIRST", first).replace("SECOND", second)
    found = Network.of(setup_of(parse_document(text.encode(), "x.yaml")).resolved(1).topology)
    by_name = {link.name: Fraction(link.delay_ns, 1000) for link in found.trunks}
    return by_name[f"{first}->{second}"], by_name[f"{second}->{first}"]


def refusal(table: str, first: str = "a", second: str = "b") -> str:
    with pytest.raises(SpecErrors) as caught:
        delays_us(table, first, second)
    return str(caught.value.problems[0])


@pytest.mark.parametrize(
    ("table", "first", "second", "expected"),
    [
        # Round trips of 70.45 and 69.44 ms.
        ("aws-2024", "us-east-1", "eu-west-1", (35_225, 34_720)),
        # Averages of 81.841 and 81.828 ms.
        ("gcp-2019", "europe-west1", "us-east4", (Fraction("40920.5"), 40_914)),
        ("azure-2026", "eastus", "westeurope", (44_500, 45_500)),
        ("azure-2026", "westus3", "australiaeast", (84_500, 88_000)),
        # Measured one way: not halved, and 1 ms apart.
        ("cometbft-2023", "Tokyo", "Seoul", (16_000, 17_000)),
        ("cities-2024", "Melbourne", "Toronto", (109_300, 109_300)),
    ],
)
def test_a_delay_is_half_a_round_trip_and_each_direction_has_its_own(
    table: str, first: str, second: str, expected: tuple[Fraction | int, Fraction | int]
) -> None:
    assert delays_us(table, first, second) == expected


@pytest.mark.parametrize("name", catalog.region_table_names())
def test_a_table_is_whole_and_has_a_source_and_a_date(name: str) -> None:
    header = catalog.header(catalog.region_table_file(name))
    for part in ("Models", "Source", "Date", "Differs"):
        assert re.search(rf"^{part}: ", header, re.MULTILINE)
    assert re.search(r"^Source: .*(licence|licensed)", header, re.MULTILINE | re.DOTALL)
    assert name.rpartition("-")[2] in re.search(r"^Date: (.*)$", header, re.MULTILINE)[1]
    table = load_region_table(name)
    assert str(len(table.names)) in table.summary
    for source, row in zip(table.names, table.cells.cells, strict=True):
        for target, cell in zip(table.names, row, strict=True):
            # Zones without a delay would be one zone.
            assert cell.is_missing if source == target else Fraction(cell.text) > 0


def test_a_cell_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "x-2030.yaml"
    file.write_text(
        "x-2030: {summary: two, unit: ms, value: one-way, table: 'from/to,a,b\n\n    a,,\n\n    b,3,'}\n"
    )
    monkeypatch.setattr(catalog, "region_table_names", lambda: ["x-2030"])
    monkeypatch.setattr(catalog, "region_table_file", lambda name: file)
    load_region_table.cache_clear()
    place = "x.yaml:2:18: topology.zones: delay"
    assert refusal("x-2030").startswith(f'{place} "x-2030" row 2 (a), column 3 (b) is empty; ')


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("aws-2023", '"aws-2023" is not a table of regions of the catalogue; did you mean "aws-2024" or'),
        ("somewhere", '"somewhere" is not a table of regions of the catalogue; choose one of aws-2020,'),
        ("cometbft-2023, unit: ms", 'unknown key "unit"'),
        ("[aws-2024]", "must be text"),
    ],
)
def test_a_table_that_is_unknown_is_refused_with_its_place(table: str, expected: str) -> None:
    message = refusal(table, "Tokyo", "Seoul")
    assert expected in message
    assert message.startswith("x.yaml:2:")


def test_a_table_for_anything_but_delays_is_refused() -> None:
    text = FILE.replace("rate: 1Gbit/s", "loss: {regions: aws-2024}").replace("TABLE", "aws-2024")
    with pytest.raises(SpecErrors, match="loss cannot be a table of regions, which has delays only"):
        setup_of(parse_document(text.encode(), "x.yaml"))


def test_a_region_that_is_not_in_the_table_is_refused_with_the_nearest() -> None:
    assert 'n0 is on "us-east-9", which is neither a host nor a zone; did you mean "us-east-' in refusal(
        "aws-2024", "us-east-9", "us-east-2"
    )


def invoked(*arguments: str) -> str:
    result = CliRunner().invoke(group, ["topology", "regions", *arguments], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.stdout


def test_tables_are_listed_and_shown() -> None:
    assert [line.split()[0] for line in invoked().splitlines()] == catalog.region_table_names()
    assert [entry["name"] for entry in json.loads(invoked("--json"))] == catalog.region_table_names()
    assert "licensed under CC BY 4.0" in invoked("azure-2026")
    assert "Tokyo" in json.loads(invoked("cometbft-2023", "--json"))["regions"]

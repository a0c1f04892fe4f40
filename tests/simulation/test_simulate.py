"""`crosswind simulate` without any machine: a condition under traffic that nobody sends."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crosswind.cli._main import group
from crosswind.errors import CrosswindError
from crosswind.simulation import Offer, read_offer
from crosswind.spec.quantities import QuantityError
from crosswind.testbed import TestbedError, find_binary

NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 1ms, buffer: 64KiB}
  nodes: {a: h0, b: h1}
condition:
  limited: {switch.ingress: [{police: {rate: 12Mbit/s, burst: 15kB}}]}
"""


@pytest.fixture
def network(tmp_path: Path) -> Path:
    try:
        find_binary("crosswind-simulate")
    except TestbedError as reason:
        pytest.skip(str(reason))
    path = tmp_path / "network.yaml"
    path.write_text(NETWORK)
    return path


def simulate(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["simulate", *map(str, arguments)], standalone_mode=False)


def test_a_policer_passes_its_rate_and_its_burst(network: Path) -> None:
    said = simulate(network, "--offer", "a->b=24Mbit/s", "--arrivals", "constant", "--for", "1s", "--json")
    (pair,) = json.loads(said.output)["summary"]["pairs"]
    # 24 Mbit/s of 1500 B are 2,000 packets a second; tokens come for 1,000, and 10 lie in the bucket.
    assert pair["offered"]["packets"] == 2000
    assert abs(pair["delivered"]["packets"] - 1010) <= 1
    dropped = pair["dropped"]["h0/switch.ingress/0:police no-tokens"]["packets"]
    assert dropped == 2000 - pair["delivered"]["packets"]
    # Two links at 100 Mbit/s: 1538 B take 123.04 us each, and 1 ms each.
    assert pair["delay_ns"]["p50"] == 2 * (123_040 + 1_000_000)


def test_every_packet_has_a_row(network: Path, tmp_path: Path) -> None:
    rows = tmp_path / "packets.csv"
    simulate(
        network, "--offer", "a->b=12Mbit/s", "--offer", "b->a=12Mbit/s", "--for", "10ms", "--packets", rows
    )
    heading, *lines = rows.read_text().splitlines()
    assert heading == "from,to,entered_ns,ended_ns,ip_bytes,packets,dscp,fate"
    assert {line.split(",")[0] for line in lines} == {"a", "b"}


def test_the_same_seed_draws_the_same_arrivals_and_another_others(network: Path) -> None:
    def drawn(seed: int) -> str:
        return simulate(network, "--offer", "a->b=6Mbit/s", "--for", "1s", "--seed", seed, "--json").output

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_network_without_traffic_says_how_to_offer_some(network: Path) -> None:
    with pytest.raises(CrosswindError, match="--offer"):
        raise_of(simulate(network))


def test_an_offer_between_unknown_nodes_names_those_there_are(network: Path) -> None:
    with pytest.raises(CrosswindError, match="nodes are a, b"):
        raise_of(simulate(network, "--offer", "a->z=1Mbit/s"))


def test_offers_are_read_with_their_unit() -> None:
    assert read_offer("a->b-2=10Mbit/s") == Offer("a", "b-2", 10_000_000)
    for wrong in ("a-b=1Mbit/s", "a->b", "a->b=10", "a->b=unlimited"):
        with pytest.raises(QuantityError):
            read_offer(wrong)


def raise_of(result: Result) -> None:
    assert result.exception is not None
    raise result.exception

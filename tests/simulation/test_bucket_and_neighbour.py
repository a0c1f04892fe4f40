"""How many packets a bucket on the switch's port costs an application whose neighbour shares it.

ICPE '23's bucket (8 Gbit/s, 100 kB, on a line of 10 Gbit/s) under a neighbour at half of the line, in bursts
every 10 ms: does the loss depend on the scale? The answer, live too: docs/lab/2026-11-studies.md.
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from crosswind.cli._main import group
from crosswind.testbed import TestbedError, find_binary


def lost_share(folder: Path, scale: float, packet_bytes: int, transport: str) -> float:
    """Return the share of a thousand small packets a second that the bucket drops."""
    try:
        find_binary("crosswind-simulate")
    except TestbedError as reason:
        pytest.skip(f"SKIPPED: {reason}")
    network = folder / f"{scale}-{packet_bytes}-{transport}.yaml"
    network.write_text(f"""
topology:
  hosts: 2
  uplink: {{rate: 10Gbit/s, delay: 2us, buffer: 512KiB}}
  nodes: {{db: h0, client: h1}}
scale: {scale}
condition:
  shared:
    interference: {{between: [h0-h1], rate: 50%, pacing: 10ms, by: ghost, transport: {transport}}}
    switch.ingress: [{{police: {{rate: 8Gbit/s, burst: 100kB}}}}]
""")
    offer = f"db->client={8 * packet_bytes * 1000}bit/s"
    arguments = [
        "simulate",
        network,
        "--offer",
        offer,
        "--packet",
        f"{packet_bytes}B",
        "--for",
        "5s",
        "--json",
    ]
    said = CliRunner().invoke(group, [str(each) for each in arguments], standalone_mode=False)
    (pair,) = json.loads(said.output)["summary"]["pairs"]
    return 1 - float(pair["delivered"]["packets"] / pair["offered"]["packets"])


def test_the_scale_does_not_change_what_a_neighbour_that_never_backs_off_costs(tmp_path: Path) -> None:
    # A burst at the rate of the line empties the bucket in 100 kB / (10 - 8 Gbit/s) = 0.4 ms at any scale, so
    # it is empty for 4.6 ms of each 10 ms. A packet of 1100 bytes then lacks tokens if less than 0.2 * 1100
    # bytes are left of up to 1500, in 15 % of cases: 6.7 % in all.
    found = [lost_share(tmp_path, scale, 1100, "udp") for scale in (0.05, 0.1, 0.2)]
    assert found == [pytest.approx(0.067, abs=0.015)] * 3


def test_small_requests_pass_and_full_packets_are_lost_in_proportion_to_their_size(tmp_path: Path) -> None:
    assert lost_share(tmp_path, 0.1, 100, "udp") < 0.005
    assert lost_share(tmp_path, 0.1, 1500, "udp") == pytest.approx(0.092, abs=0.02)


def test_a_neighbour_that_backs_off_costs_half_as_much_and_less_at_a_larger_scale(tmp_path: Path) -> None:
    small, large = (lost_share(tmp_path, scale, 1100, "tcp") for scale in (0.05, 0.2))
    assert large < small < 0.05

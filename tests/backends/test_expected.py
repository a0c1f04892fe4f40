"""What probe traffic has to show: the least rate and the last mark on a way."""

import pytest
from experiments import resolved

from crosswind.backends.expected import expectations
from crosswind.spec import fabric_of


def test_the_slowest_on_the_way_counts_and_the_last_mark():
    experiment = resolved(
        "switch.ingress: [{police: {rate: 20Mbit/s, burst: 50kB, on: [h0]}}, {mark: {dscp: AF41}}]\n"
        "host.ingress: [{mark: {dscp: AF11, on: [client]}}]"
    )
    spec = fabric_of(experiment, "tried")
    there, back = expectations(spec, spec.condition)
    assert (there.sender.name, there.receiver.name) == ("server", "client")
    assert (there.ip_bps, there.by) == (20_000_000, "police at switch.ingress of h0")
    assert (there.dscp, back.dscp) == (10, 34)
    assert back.ip_bps == pytest.approx(100e6 * 1500 / 1538)
    assert back.by == "link h1->switch"


def test_nodes_on_one_host_show_nothing():
    spec = fabric_of(resolved("host.egress: []", nodes="server: h0, client: h0"), "tried")
    assert expectations(spec, spec.condition) == []

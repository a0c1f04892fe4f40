"""`backend` and `overlay` in an experiment file."""

import pytest
from experiments import resolved

from crosswind.spec import Resolved, SpecErrors, fabric_of


def test_without_a_backend_the_emulator_carries_packets_and_nothing_is_written():
    found = resolved("host.egress: []", backend="crosswind")
    assert found.backend is None
    assert "backend" not in found.as_json()


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("ovs", {"name": "ovs", "police": "meter"}),
        ("{ovs: {police: ingress-policing}}", {"name": "ovs", "police": "ingress-policing"}),
        ("tc", {"name": "tc"}),
    ],
)
def test_a_backend_is_part_of_the_resolved_experiment(written: str, sent: dict[str, str]):
    found = resolved("host.egress: []", backend=written)
    assert found.as_json()["backend"] == sent
    assert Resolved.model_validate(found.as_json()).backend == found.backend


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("ovz", 'backend "ovz" is not a backend; did you mean "ovs"?'),
        ("[ovs]", "is not a backend; write one of crosswind, ovs, tc"),
        ("{ovs: {police: tbf}}", '"tbf" must be "meter" or "ingress-policing"'),
    ],
)
def test_another_backend_is_refused_with_the_ones_there_are(written: str, words: str):
    with pytest.raises(SpecErrors, match=words.replace("?", r"\?").replace("[", r"\[")):
        resolved("host.egress: []", backend=written)


def test_an_overlay_is_sent_beside_the_fabric_and_needs_room_in_the_mtu():
    found = resolved("host.egress: []", backend="crosswind\noverlay: vxlan")
    spec = fabric_of(found, "tried")
    assert (found.overlay, spec.overlay) == ("vxlan", "vxlan")
    assert "overlay" not in spec.as_json()
    with pytest.raises(SpecErrors, match="overlay leaves an MTU of 550B inside"):
        resolved("host.egress: []", backend="crosswind\noverlay: vxlan", hosts="2\n  mtu: 600B")

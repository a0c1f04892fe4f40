"""Placement of pairs: same host, other host, other tenant."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from crosswind.analysis.osmef.placement import MachineLabels, by_placement, placement_of
from crosswind.spec.testbed_file import load_testbed
from crosswind.stats import GroupsNeedTrials, Interval, NeedsTrials, RatioInterval


@pytest.mark.parametrize(
    ("one", "other", "placement"),
    [
        (("a", "red"), ("a", "red"), "same host"),
        (("a", "red"), ("a", "blue"), "same host, other tenant"),
        (("a", "red"), ("b", "red"), "other host"),
        (("a", "red"), ("b", "blue"), "other host, other tenant"),
        (("a", None), ("b", "blue"), "other host"),
        (("a", None), ("a", None), "same host"),
        ((None, "red"), ("b", "red"), None),
    ],
)
def test_the_labels_of_two_machines_say_where_they_are(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None], placement: str | None
) -> None:
    assert placement_of(MachineLabels(*one), MachineLabels(*other)) == placement
    assert placement_of(MachineLabels(*other), MachineLabels(*one)) == placement


# Eight machines on two hosts: 12 pairs share a host, 16 do not.
LABELS = {f"m{number}": MachineLabels("left" if number < 4 else "right") for number in range(8)}


def values(near_ns: float, far_ns: float) -> dict[tuple[str, str], dict[str, float]]:
    """Return delays of all ordered pairs; one direction is 10 longer than the mean, and the other shorter."""
    found = {}
    for number, (one, other) in enumerate(permutations(LABELS, 2)):
        mean_ns = near_ns if LABELS[one] == LABELS[other] else far_ns
        found[one, other] = {
            "one way": mean_ns + (10 if one < other else -10),
            "loss": 0.0,
            "n": number + 1.0,
        }
    return found


def test_each_pair_counts_once_with_the_mean_of_both_directions() -> None:
    near, far = by_placement(LABELS, values(100, 250))
    assert (near.placement, near.pairs) == ("same host", 12)
    assert (far.placement, far.pairs) == ("other host", 16)
    median = near.figures["one way"].over.median
    assert isinstance(median, Interval)
    assert (median.estimate, median.low, median.high) == (100, 100, 100)
    ratio = far.figures["one way"].ratio
    assert isinstance(ratio, RatioInterval)
    assert ratio.estimate == pytest.approx(2.5)
    assert ratio.differs
    assert near.figures["one way"].ratio is None
    # Nothing is lost, and zero has no ratio.
    assert far.figures["loss"].ratio is None


def test_few_pairs_have_a_range_and_no_interval() -> None:
    labels = {"m0": MachineLabels("a"), "m1": MachineLabels("a"), "m2": MachineLabels("b")}
    one_way = {
        (one, other): {"one way": 5.0 + ("m2" in (one, other))} for one, other in permutations(labels, 2)
    }
    near, far = by_placement(labels, one_way)
    assert isinstance(far.figures["one way"].over.median, NeedsTrials)
    assert isinstance(far.figures["one way"].ratio, GroupsNeedTrials)
    assert (near.pairs, far.pairs) == (1, 2)


def test_a_pair_without_its_other_direction_and_machines_without_labels_are_left_out() -> None:
    labels = {"m0": MachineLabels("a"), "m1": MachineLabels("a"), "m2": MachineLabels()}
    assert by_placement(labels, {("m0", "m1"): {"one way": 1.0}}) == []
    assert by_placement(labels, {("m0", "m2"): {"one way": 1.0}, ("m2", "m0"): {"one way": 1.0}}) == []


def test_inventories_say_where_machines_are_and_whose(tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text(
        "m0 crosswind_host=rack1-3 crosswind_tenant=blue\n[there]\nm1\n[there:vars]\ncrosswind_host=rack2-1\n"
    )
    (tmp_path / "terraform.json").write_text(
        '{"vms": {"value": [{"name": "m0", "host": "rack1-3", "tenant": "blue"}, {"name": "m1", "host": "b"}'
        "]}}"
    )
    listed = "[{name: m0, host: rack1-3, tenant: blue}, {name: m1, host: b}]"
    for hosts in (listed, "{ansible: hosts.ini}", "{terraform: terraform.json}"):
        file = tmp_path / "testbed.yaml"
        file.write_text(f"ssh: {{hosts: {hosts}}}\n")
        testbed = load_testbed(file)
        assert testbed is not None
        first, second = testbed.machines
        assert first.labels == {"host": "rack1-3", "tenant": "blue"}
        assert second.labels == {"host": "rack2-1" if "ansible" in hosts else "b"}

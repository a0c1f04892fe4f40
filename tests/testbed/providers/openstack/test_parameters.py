"""Keys of `testbed: {openstack: ...}`: names, placement, and what is wrong with its line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from crosswind.spec import SpecErrors
from crosswind.spec.testbed_file import load_testbed
from crosswind.testbed.providers import provider_of
from crosswind.testbed.providers.openstack import OpenstackParameters

COMMON = "image: debian, flavor: small, user: debian"


def read(folder: Path, text: str) -> OpenstackParameters:
    (folder / "t.yaml").write_text(f"openstack: {{{COMMON}, {text}}}")
    found = load_testbed(folder / "t.yaml")
    assert found is not None
    assert found.provider is not None
    parameters = provider_of(found.provider).parameters
    assert isinstance(parameters, OpenstackParameters)
    return parameters


def test_a_number_of_machines_is_one_group_and_names_go_on_from_group_to_group(tmp_path: Path) -> None:
    assert [names for _, names in read(tmp_path, "machines: 3").named()] == [["m0", "m1", "m2"]]
    groups = read(tmp_path, "machines: [{count: 2, policy: affinity}, {different_host: [m0, m1], zone: z}]")
    assert [names for _, names in groups.named()] == [["m0", "m1"], ["m2"]]
    assert [each.policy for each, _ in groups.named()] == ["affinity", None]
    assert [machine.name for machine in groups.machines()] == ["m0", "m1", "m2"]


def test_osmef_s_placements_can_be_written(tmp_path: Path) -> None:
    """RR-13-287, table 1: same host and other host, each in the same tenant and in another."""
    text = (
        "cloud: first, network: shared, machines: [{}, {same_host: [m0]}, {different_host: [m0]}, "
        "{cloud: second, same_host: [m0]}, {cloud: second, different_host: [m0]}]"
    )
    assert [each.cloud for each, _ in read(tmp_path, text).named()] == [None, None, None, "second", "second"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "machines: two",
            '1:67: openstack: machines "two" is neither a number nor a list; write 4, or [{count: 2, policy: '
            "affinity}, {count: 2}]",
        ),
        ("machines: 0", '1:67: openstack: machines "0" must be at least 1'),
        (
            "machines: [{count: 1, policy: affinity}]",
            "1:87: openstack.machines[1]: policy has no effect on one server; write count: 2, or more",
        ),
        (
            "machines: [{count: 2, policy: afinity}]",
            '1:87: openstack.machines[1]: policy "afinity" must be "affinity", "anti-affinity", '
            '"soft-affinity" or "soft-anti-affinity"; did you mean "affinity"?',
        ),
        (
            "machines: [{same_host: [m1]}, {}]",
            '1:80: openstack.machines[1]: same_host names "m1", which is not a machine above; there is none '
            "above the first",
        ),
        (
            "machines: [{}, {cloud: other, network: n}]",
            "1:68: openstack.machines: item 1 has no network, and servers of several projects need networks "
            "that reach each other; write network: NAME",
        ),
        ("machines: [{count: 999}, {count: 2}]", "1:67: openstack: machines are 1001; at most 1000"),
        (
            "machines: 1, flavour: x",
            '1:70: openstack: unknown key "flavour"; did you mean "flavor"? (keys: place, underlay, cloud, '
            "machines, image, flavor, user, network, external)",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        read(tmp_path, text)
    assert [str(each).removeprefix(f"{tmp_path}/t.yaml:") for each in caught.value.problems] == [expected]

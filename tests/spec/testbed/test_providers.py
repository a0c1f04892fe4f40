"""Providers in a testbed: their keys, machines and errors with line and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.spec import SpecErrors
from crosswind.spec.resolved import Resolved, ResolvedMachine, ResolvedTestbed
from crosswind.spec.schema import experiment_schema
from crosswind.spec.testbed.provided import provider_names
from crosswind.spec.testbed_file import load_testbed

COMMANDS = "machines: 2, up: ./up, down: ./down, list: ./list"


def loaded(folder: Path, text: str) -> ResolvedTestbed:
    (folder / "t.yaml").write_text(text)
    found = load_testbed(folder / "t.yaml")
    assert found is not None
    return found


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(SpecErrors) as caught:
        loaded(folder, text)
    return [str(problem).removeprefix(f"{folder}/t.yaml:") for problem in caught.value.problems]


def test_machines_of_a_provider_have_names_before_they_exist(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"command: {{{COMMANDS}, underlay: {{delay: 1ms}}}}")
    assert found.machines == [ResolvedMachine(name="m0"), ResolvedMachine(name="m1")]
    assert found.delay_ns == 1_000_000
    assert found.provider is not None
    assert (found.provider.name, found.provider.parameters["up"]) == ("command", ["/bin/sh", "-c", "./up"])
    assert ResolvedTestbed.model_validate(json.loads(json.dumps(found.as_json()))) == found


def test_packets_between_machines_of_a_provider_may_be_raw_ethernet(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"command: {{{COMMANDS}}}\nnetwork: native\ninterface: eth1")
    assert (found.network, found.interface_of(found.machines[0])) == ("native", "eth1")
    (said,) = problems(tmp_path, f"command: {{{COMMANDS}}}\ninterface: eth1")
    assert said.startswith("2:12: interface has no effect on UDP")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "comand: {machines: 2}",
            '1:1: the file has neither ssh nor the name of a provider; did you mean "command"?',
        ),
        (
            f"command: {{{COMMANDS}, donw: x}}",
            '1:62: command: unknown key "donw"; did you mean "down"? (keys: place, underlay, machines, up, '
            "down, list)",
        ),
        ("command: {machines: 0, up: a, down: b, list: c}", '1:21: command: machines "0" must be at least 1'),
        (
            f"command: {{{COMMANDS}, place: {{h0: m2}}}}",
            '1:74: command.place: h0 is on "m2", which is not a machine; machines are m0, m1',
        ),
        (
            f"command: {{{COMMANDS}}}\nssh: {{hosts: [m0]}}",
            '1:1: unknown key "command"; keys are network, interface, ssh',
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    assert problems(tmp_path, text) == [expected]


def test_every_installed_provider_is_in_the_schema() -> None:
    offered = experiment_schema()["properties"]["testbed"]["anyOf"]
    names = {key for option in offered for key in option.get("properties", {})}
    assert set(provider_names()) <= names
    assert Resolved.model_fields["testbed"].default is None

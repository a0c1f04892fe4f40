"""`testbed:` in an experiment and in a file of its own: machines, and what is placed on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.spec import SpecErrors, resolve
from crosswind.spec.load import load_experiment
from crosswind.spec.resolved import Resolved, ResolvedMachine
from crosswind.spec.testbed_file import on_testbed

EXPERIMENT = """\
name: placed
topology:
  zones: {{delay: 20ms}}
  nodes: {{server: east, client: west}}
conditions: [none]
application: {{rpc: {{duration: 1s, warm_up: 100ms}}}}
trials: {{repeat: 2}}
testbed: {testbed}
"""

_UNUSED = (
    "has no effect on UDP, which takes the interface that routes say; write `network: native` beside it in "
    "`testbed`, or remove it"
)


def resolved(folder: Path, testbed: str) -> Resolved:
    (folder / "x.yaml").write_text(EXPERIMENT.format(testbed=testbed))
    return resolve(load_experiment(folder / "x.yaml"))


def problems(folder: Path, testbed: str) -> list[str]:
    with pytest.raises(SpecErrors) as caught:
        resolved(folder, testbed)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


def test_this_machine_is_not_written_down(tmp_path: Path) -> None:
    assert "testbed" not in resolved(tmp_path, "local").as_json()


def test_machines_are_names_or_have_an_address_a_port_and_cores(tmp_path: Path) -> None:
    hosts = "[m0, {name: m1, address: 10.0.0.2, port: 7777, cores: 8}]"
    found = resolved(tmp_path, f"{{ssh: {{hosts: {hosts}, underlay: {{delay: 1ms, clock_error: 50us}}}}}}")
    assert found.testbed is not None
    assert found.testbed.machines == [
        ResolvedMachine(name="m0"),
        ResolvedMachine(name="m1", address="10.0.0.2", port=7777, cores=8),
    ]
    # 2 x 1 ms and 50 us.
    assert found.testbed.shortest_cut_ns == 2_050_000
    assert Resolved.model_validate(json.loads(json.dumps(found.as_json()))) == found


def test_raw_ethernet_has_an_interface_for_all_machines_and_one_for_some(tmp_path: Path) -> None:
    hosts = "[m0, {name: m1, interface: ens4}]"
    found = resolved(tmp_path, f"{{ssh: {{hosts: {hosts}}}, network: native, interface: eth1}}").testbed
    assert found is not None
    assert found.network == "native"
    assert [found.interface_of(machine) for machine in found.machines] == ["eth1", "ens4"]
    plain = resolved(tmp_path, "{ssh: {hosts: [m0]}, network: udp}").testbed
    assert plain is not None
    assert plain == resolved(tmp_path, "{ssh: {hosts: [m0]}}").testbed
    assert "network" not in plain.as_json()


def test_an_inventory_is_stored_by_its_hash_and_gives_words_for_ssh(tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text(
        "[web]\nm0 ansible_host=10.0.0.1 ansible_port=2222 ansible_user=ops\n"
    )
    found = resolved(tmp_path, "{ssh: {hosts: {ansible: hosts.ini, group: web}}}")
    assert [file.file for file in found.files()] == ["hosts.ini"]
    assert found.testbed is not None
    (machine,) = found.testbed.machines
    assert machine.ssh_options == ("-o", "HostName=10.0.0.1", "-p", "2222", "-l", "ops")


@pytest.mark.parametrize(
    ("testbed", "expected"),
    [
        ("remote", '8:10: testbed "remote" is not a testbed; write local, or ssh: {hosts: [m0, m1]}'),
        (
            "{ssh: {hosts: [m0, m0]}}",
            '8:29: testbed.ssh.hosts: item 2 "m0" is given twice; name each machine once',
        ),
        (
            "{ssh: {hosts: [ops@m0]}}",
            '8:25: testbed.ssh.hosts: item 1 "ops@m0" has a user in it; write m0, and the user as User in '
            "~/.ssh/config",
        ),
        (
            "{ssh: {hosts: [{name: m1, adress: 10.0.0.1}]}}",
            '8:36: testbed.ssh.hosts[1]: unknown key "adress"; did you mean "address"? (keys: name, '
            "address, port, interface, cores, host, tenant)",
        ),
        (
            "{ssh: {hosts: [m0]}, network: vxlan}",
            '8:40: testbed: network "vxlan" must be "udp" or "native"',
        ),
        (
            "{ssh: {hosts: [m0]}, network: native, interface: eth/1}",
            '8:59: testbed: interface "eth/1" is not a name of an interface; write one that `ip link` shows, '
            "such as eth1",
        ),
        (
            "{ssh: {hosts: [m0]}, interface: eth1}",
            f"8:42: testbed: interface {_UNUSED}",
        ),
        (
            "{ssh: {hosts: [{name: m0, interface: eth1}]}}",
            f"8:47: testbed.ssh.hosts[1]: interface {_UNUSED}",
        ),
        (
            "{ssh: {hosts: [m0, {name: m1, port: 7777}]}, network: native}",
            "8:46: testbed.ssh.hosts[2]: port has no effect on Ethernet without UDP; remove it, or "
            "`network: native`",
        ),
        (
            "{ssh: {hosts: {slurm: 'n[1-'}}}",
            '8:32: testbed.ssh.hosts: slurm "n[1-" is not a Slurm node list, at character 2: the bracket '
            "is not closed; write ] after the numbers",
        ),
        (
            "{ssh: {hosts: {ansible: hosts.ini}}}",
            '8:34: testbed.ssh.hosts: ansible "hosts.ini" line 2: "c" is not a variable; write name=value',
        ),
        (
            "{ssh: {hosts: [m0], place: {east: m1}}}",
            '8:44: testbed.ssh.place: east is on "m1", which is not a machine; machines are m0',
        ),
        (
            "{ssh: {hosts: [m0], place: {server: m0, east: m0, west: m0}}}",
            "8:46: testbed.ssh.place: server is a node; place its host h0",
        ),
        (
            "{ssh: {hosts: [m0], place: {eats: m0, east: m0, west: m0}}}",
            "8:44: testbed.ssh.place: eats is neither a switch nor a host of the topology; did you mean "
            '"east"?',
        ),
        (
            "{ssh: {hosts: [m0, m1], place: {h0: m0}}}",
            "8:41: testbed.ssh: place lacks west; place each switch, or all of its hosts on one machine, "
            "or remove `place`",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, testbed: str, expected: str) -> None:
    (tmp_path / "hosts.ini").write_text("a\nb c\n")
    assert f"x.yaml:{expected}" in problems(tmp_path, testbed)


def test_a_file_takes_the_place_of_the_experiments_own_testbed(tmp_path: Path) -> None:
    experiment = resolved(tmp_path, "{ssh: {hosts: [m0]}}")
    (tmp_path / "inventories").mkdir()
    (tmp_path / "inventories/hosts.ini").write_text("m7\n")
    file = tmp_path / "inventories/testbed.yaml"
    file.write_text("ssh: {hosts: {ansible: hosts.ini}, place: {east: m7, west: m7}}\n")
    found = on_testbed(experiment, file).testbed
    assert found is not None
    assert [machine.name for machine in found.machines] == ["m7"]
    # What it lists is stored in full: its inventory is not beside the experiment.
    assert (found.named, found.files) == (str(file), [])
    file.write_text("local\n")
    assert on_testbed(experiment, file).testbed is None
    assert on_testbed(experiment, None) is experiment
    file.write_text("ssh:\n  hosts: [m0]\n  place: {est: m0, east: m0, west: m0}\n")
    with pytest.raises(SpecErrors) as caught:
        on_testbed(experiment, file)
    assert str(caught.value).startswith(f"{file}:3:16: ssh.place: est is neither a switch nor a host")

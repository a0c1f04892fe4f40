"""Agents on five machines over ssh: started at once, copied once, and gone with the client or the link."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import machines as rigs
import pytest
from machine_runs import rig_of
from machines import Rig

from crosswind.testbed import Agent, AgentDied, NotHere, RunningFabric
from crosswind.testbed.plain import plain_fabric
from crosswind.testbed.ssh import SshTransport, agent_programs, start_agents

COUNT = 5
# What sshd needs to notice that ssh is gone, and the agent to end processes, on a busy machine.
UNDONE_S = 10.0
CLIENT = """
import sys, time
from pathlib import Path
from crosswind.testbed import RunningFabric
from crosswind.testbed.plain import plain_fabric
from crosswind.testbed.replies import Started
from crosswind.testbed.ssh import SshTransport, start_agents
agents = start_agents([SshTransport(name) for name in sys.argv[1:]])
for agent in agents:
    fabric = RunningFabric(agent, plain_fabric(), Path("/tmp/logs")).__enter__()
    agent.request("start", Started, {
        "node": "n0", "name": "sleeper", "argv": ["sleep", "1000"], "env": {}, "cwd": "/",
        "stdout": "/dev/null", "stderr": "/dev/null"})
print("ready", flush=True)
time.sleep(1000)
"""


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with rig_of(COUNT) as (rig, _):
        yield rig


@pytest.fixture(autouse=True)
def path(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", rig.env["PATH"])


def test_five_agents_start_at_once_and_are_copied_once(rig: Rig, tmp_path: Path) -> None:
    transports = [SshTransport(machine.name) for machine in rig.machines]
    with ExitStack() as stack:
        agents = start_agents(transports)
        for agent in agents:
            stack.enter_context(agent)
        starts_ns = []
        for agent in agents:
            fabric = stack.enter_context(RunningFabric(agent, plain_fabric(), tmp_path))
            assert list(fabric.nodes) == ["n0", "n1"]
            starts_ns.append(fabric.measure())
        # Every machine's clock is 1000 s ahead of the one before it.
        steps_s = [round((later - earlier) / 1e9) for earlier, later in itertools.pairwise(starts_ns)]
        assert all(abs(step_s - 1000) < 60 for step_s in steps_s), steps_s
    copies = [sorted((machine.home / ".cache/crosswind/agents").rglob("*")) for machine in rig.machines]
    assert [[path.name for path in found] for found in copies] == [
        [agent_programs()["x86_64"].sha256, "crosswind-agent"] for _ in rig.machines
    ]
    for machine in rig.machines:
        machine.await_no_process(UNDONE_S)
    inodes = [found[1].stat().st_ino for found in copies]
    for agent in start_agents(transports):
        agent.close()
    assert [found[1].stat().st_ino for found in copies] == inodes


def test_killing_the_client_leaves_nothing_on_any_machine(rig: Rig) -> None:
    names = [machine.name for machine in rig.machines]
    env = rig.env | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, *names], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as client:
        assert client.stdout is not None
        try:
            assert client.stdout.readline() == b"ready\n"
            for machine in rig.machines:
                assert "sleep 1000" in machine.processes().values()
        finally:
            client.send_signal(signal.SIGKILL)
    for machine in rig.machines:
        machine.await_no_process(UNDONE_S)
        assert "veth" not in machine.run("ip", "-brief", "link")


@pytest.mark.long
def test_a_link_that_is_cut_for_longer_than_the_lease_leaves_nothing(rig: Rig, tmp_path: Path) -> None:
    machine, lease_s = rig.machines[1], 4
    agent = Agent(SshTransport(machine.name, lease_s=lease_s))
    try:
        RunningFabric(agent, plain_fabric(), tmp_path).__enter__()
        assert machine.processes()
        machine.cut()
        # Half a lease may have passed since the last request that arrived.
        assert machine.await_no_process(lease_s + UNDONE_S) > lease_s / 2
        # ssh gives up after 3 x 5 s; until then nothing tells the client.
        with pytest.raises(AgentDied, match="agent on m1: the connection was lost"):
            agent.wait_exit(process=1, timeout_s=60)
    finally:
        machine.mend()
        agent.close()


def test_a_wrong_host_key_is_one_clear_error_and_the_other_agents_are_closed(rig: Rig) -> None:
    honest = rig.known_hosts.read_text()
    first, second, *others = honest.splitlines()
    wrong = f"{first.split()[0]} {second.partition(' ')[2]}"
    rig.known_hosts.write_text("\n".join((wrong, second, *others)) + "\n")
    try:
        with pytest.raises(NotHere) as refused:
            start_agents([SshTransport(machine.name) for machine in rig.machines])
    finally:
        rig.known_hosts.write_text(honest)
    assert str(refused.value).startswith("host m0: its host key is not the one in your known_hosts file")
    assert "\n" not in str(refused.value)
    for machine in rig.machines:
        machine.await_no_process(UNDONE_S)


@pytest.mark.parametrize(
    ("host", "options", "why"),
    [
        ("m0", ("-p", "2"), "nothing listens on its ssh port"),
        ("m0", ("-l", "no-such-user"), "it accepts none of your keys"),
        ("m0", ("-l", "nobody"), "its login shell ended with 1 (This account is currently not available.)"),
        ("10.98.0.1", (), "no route leads there"),
        ("m0", ("-o", "UserKnownHostsFile=/dev/null"), "its host key is not in your known_hosts file"),
        ("m0", ("-o", "NoSuchOption=1"), "ssh refuses your configuration"),
    ],
)
def test_what_ssh_complains_of_is_one_line(rig: Rig, host: str, options: tuple[str, ...], why: str) -> None:
    with pytest.raises(NotHere) as refused:
        SshTransport(host, options).start()
    assert str(refused.value).startswith(f"host {host}: {why}")
    assert "\n" not in str(refused.value)


def test_two_copies_at_the_same_time_leave_one_whole_file(rig: Rig) -> None:
    machine = rig.machines[2]
    (folder,) = (machine.home / ".cache/crosswind/agents").iterdir()
    for path in folder.iterdir():
        path.unlink()
    for agent in start_agents([SshTransport(machine.name) for _ in range(4)]):
        agent.close()
    assert [path.name for path in folder.iterdir()] == ["crosswind-agent"]
    assert (folder / "crosswind-agent").read_bytes() == agent_programs()["x86_64"].path.read_bytes()


@pytest.mark.long
def test_doctor_has_a_row_for_every_machine_and_names_the_one_that_is_gone(rig: Rig, tmp_path: Path) -> None:
    file, gone = tmp_path / "testbed.yaml", rig.machines[4]
    file.write_text(f"ssh: {{hosts: [{', '.join(machine.name for machine in rig.machines)}, nowhere]}}\n")
    command = [
        sys.executable,
        "-c",
        "from crosswind.cli import main; main()",
        "doctor",
        "--testbed",
        str(file),
    ]
    env = rig.env | {"PYTHONPATH": os.pathsep.join(sys.path)}
    gone.cut()
    try:
        done = subprocess.run([*command, "--json"], env=env, capture_output=True, text=True, check=False)
    finally:
        gone.mend()
    assert done.returncode == 3, done.stderr
    found = {each["machine"]: each for each in json.loads(done.stdout)}
    assert [name for name, each in found.items() if not each["ready"]] == ["m4", "nowhere"]
    assert found["nowhere"]["findings"][0]["found"].startswith("no such host name")
    first = found["m0"]
    assert (first["agent"]["rootless"], first["facts"]["system"]) == (False, "Linux")
    assert first["reachable_ms"] > 0
    assert first["facts"]["peers"]["m1"]["mtu_bytes"] == 1500
    for machine in rig.machines:
        machine.await_no_process(UNDONE_S)


def test_an_underlay_of_crosswind_delays_and_comes_back_after_a_cut(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="crosswind-machines-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        with rigs.machines(2, Path(name), mtu=9000, shaped=True) as shaped:
            first, second = shaped.machines
            second.cut()
            second.mend()
            took_s = []
            for _ in range(5):
                began = time.monotonic()
                assert shaped.ssh(first, "uname", "-n") == "m0\n"
                took_s.append(time.monotonic() - began)
            # Connecting takes more than four round trips of 0.4 ms.
            assert min(took_s) > 4 * 0.4e-3
            assert shaped.ssh(second, "uname", "-n") == "m1\n"

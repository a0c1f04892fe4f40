"""Machines of the provider `command`: made, reached over ssh, and removed however the run ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import machines as rigs
import pytest
from conftest import START

from crosswind.spec.resolved import Resolved, ResolvedTestbed
from crosswind.spec.testbed_file import load_testbed
from crosswind.testbed.providers import provided_machines
from crosswind.testbed.ssh import SshTransport, start_agents

pytestmark = pytest.mark.skipif(rigs.missing() is not None, reason=f"SKIPPED: {rigs.missing()}")

HERE = Path(__file__).parent
WITHIN_S = 120.0
EXPERIMENT = """
name: live
topology:
  zones: {delay: 5ms}
  uplink: {rate: 100Mbit/s, delay: 100us, buffer: 64KiB}
  nodes: {server: left, client: right}
  wait: sleep
conditions: [none]
application: {rpc: {duration: 1s, warm_up: 500ms}}
trials: {repeat: 1, rest: 0s, seed: 7, limits: {void: accept}}
"""
RUN = """
import signal, sys, time
# A shell without job control lets programs in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from crosswind.spec.testbed_file import load_testbed
from crosswind.testbed.providers import provided_machines
with provided_machines(load_testbed(sys.argv[1])) as testbed:
    print("ready", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a cloud, with an ssh that enters the network of its machines."""
    with tempfile.TemporaryDirectory(prefix="crosswind-cloud-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bin").mkdir()
        ssh = folder / "bin/ssh"
        # No configuration of the user: all that ssh needs comes from the provider.
        ssh.write_text(
            f"#!/bin/sh\nexec nsenter --net=/proc/$(cat {folder}/client)/ns/net {rigs.SSH} -F /dev/null "
            '"$@"\n'
        )
        ssh.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
        monkeypatch.setenv("CROSSWIND_STATE_DIR", str(folder / "state"))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), *filter(None, sys.path)]))
        verbs = {
            verb: [sys.executable, str(HERE / "rig_cloud.py"), name, verb] for verb in ("up", "down", "list")
        }
        (folder / "testbed.yaml").write_text(json.dumps({"command": {"machines": 2, **verbs}}))
        yield folder


def testbed_of(cloud: Path) -> ResolvedTestbed:
    found = load_testbed(cloud / "testbed.yaml")
    assert found is not None
    return found


testbed_of.__test__ = False  # type: ignore[attr-defined]


def tags(cloud: Path) -> list[str]:
    return [path.name for path in cloud.glob("crosswind-*")]


def cleaned(cloud: Path) -> tuple[int, list[str]]:
    """Run `crosswind cleanup`, and return its exit status and the lines it printed."""
    words = [sys.executable, "-c", "from crosswind.cli import main; main()", "cleanup", "--testbed"]
    done = subprocess.run(
        [*words, str(cloud / "testbed.yaml")], check=False, capture_output=True, text=True, timeout=WITHIN_S
    )
    return done.returncode, done.stdout.splitlines()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_agents_start_on_machines_that_exist_while_the_block_runs(cloud: Path) -> None:
    with provided_machines(testbed_of(cloud)) as testbed:
        (tag,) = tags(cloud)
        inits = [int(machine.labels["pid"]) for machine in testbed.machines]
        agents = start_agents([SshTransport.of(machine) for machine in testbed.machines])
        assert [agent.hello.version for agent in agents] == [agents[0].hello.version] * 2
        for agent in agents:
            agent.close()
        assert cleaned(cloud) == (
            0,
            [
                f"found {tag}: machine m0",
                f"found {tag}: machine m1",
                f"{tag}: not removed: in use by an active run",
            ],
        )
    assert tags(cloud) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in inits)
    assert cleaned(cloud) == (0, ["nothing to clean up"])


def test_what_kill_9_left_is_listed_and_removed(cloud: Path) -> None:
    words = [sys.executable, "-c", RUN, str(cloud / "testbed.yaml")]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        run.send_signal(signal.SIGKILL)
    (tag,) = tags(cloud)
    found = [f"found {tag}: machine m0", f"found {tag}: machine m1"]
    assert cleaned(cloud) == (0, [*found, f"removed {tag}"])
    assert tags(cloud) == []


def test_machines_whose_up_goes_on_after_kill_9_stay_until_it_ends(cloud: Path) -> None:
    (cloud / "slow").touch()
    words = [sys.executable, "-c", RUN, str(cloud / "testbed.yaml")]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as run:
        until(lambda: any(cloud.glob("crosswind-*/ready")))
        run.send_signal(signal.SIGKILL)
    (tag,) = tags(cloud)
    status, lines = cleaned(cloud)
    assert status == 0
    assert lines[-1].startswith(f"{tag}: not removed: in use by process ")
    (cloud / "slow").unlink()
    until(lambda: cleaned(cloud)[1][-1] == f"removed {tag}")
    assert tags(cloud) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_machines_are_made_leaves_nothing(cloud: Path, number: signal.Signals) -> None:
    (cloud / "slow").touch()
    words = [sys.executable, "-c", RUN, str(cloud / "testbed.yaml")]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        until(lambda: any(cloud.glob("crosswind-*/ready")))
        run.send_signal(number)
        try:
            run.wait(WITHIN_S)
        finally:
            run.kill()
    assert tags(cloud) == []


def test_an_experiment_runs_on_machines_that_are_made_for_it(cloud: Path) -> None:
    (cloud / "live.yaml").write_text(EXPERIMENT)
    words = [*START, "run", "live.yaml", "--testbed", "testbed.yaml"]
    env = os.environ | {"CROSSWIND_WORK_DIR": str(cloud / "work")}
    done = subprocess.run(
        words,
        cwd=cloud,
        env=env,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder = (cloud / "results/live/latest").resolve()
    resolved = Resolved.model_validate_json((folder / "resolved.json").read_text())
    assert resolved.testbed is not None
    assert resolved.testbed.provider is not None
    # The machines that there were are gone; `resume` makes other ones.
    assert [machine.host_name for machine in resolved.testbed.machines] == [None, None]
    before = json.loads((folder / "provenance.json").read_text())["before"]
    assert [(each["name"], sorted(each["labels"])) for each in before["machines"]] == [
        ("m0", ["pid"]),
        ("m1", ["pid"]),
    ]
    assert tags(cloud) == []
    again = subprocess.run(
        [*START, "doctor", "--testbed", "testbed.yaml"], cwd=cloud, check=True, capture_output=True, text=True
    )
    assert again.stdout == "The provider command can make the 2 machines. A run checks each.\n"

"""The provider `openstack` against the real services of OpenStack, which place servers that do not boot."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "openstack_services"))
import cloud as clouds
from cloud import Cloud

openstack = pytest.importorskip(
    "openstack", reason='SKIPPED: openstacksdk is not installed; pip install "crosswind[openstack]"'
)
from openstack.connection import Connection  # noqa: E402

from crosswind.spec.resolved import ResolvedMachine, ResolvedProvider  # noqa: E402
from crosswind.spec.testbed_file import load_testbed  # noqa: E402
from crosswind.testbed import NotHere, TestbedError  # noqa: E402
from crosswind.testbed.providers import (  # noqa: E402
    Deployment,
    Order,
    Provider,
    provided_machines,
    provider_of,
    up,
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(clouds.missing() is not None, reason=f"SKIPPED: {clouds.missing()}"),
]

WITHIN_S = 300.0
COMMON = {"cloud": "first", "image": "debian", "flavor": "small", "user": "debian"}
RUN = """
import sys
from crosswind.spec.testbed_file import load_testbed
from crosswind.testbed.providers import provided_machines
with provided_machines(load_testbed(sys.argv[1])):
    pass
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Cloud]:
    """Return a running cloud."""
    with (
        tempfile.TemporaryDirectory(prefix="crosswind-openstack-", dir="/var/tmp") as name,
        clouds.cloud(Path(name)) as it,
    ):
        yield it


@pytest.fixture(autouse=True)
def _environment(site: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", site.env["OS_CLIENT_CONFIG_FILE"])
    monkeypatch.setenv("CROSSWIND_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def file_of(folder: Path, **keys: object) -> Path:
    path = folder / "testbed.yaml"
    path.write_text(json.dumps({"openstack": {**COMMON, **keys}}))
    return path


def resolved_of(folder: Path, **keys: object) -> tuple[ResolvedProvider, list[ResolvedMachine]]:
    found = load_testbed(file_of(folder, **keys))
    assert found is not None
    assert found.provider is not None
    return found.provider, found.machines


@contextmanager
def made(folder: Path, **keys: object) -> Iterator[tuple[str, Provider, dict[str, ResolvedMachine]]]:
    """Make machines, without waiting for ssh; return their tag, the provider, and them."""
    resolved, machines = resolved_of(folder, **keys)
    provider = provider_of(resolved)
    provider.check()
    with Deployment.new() as it:
        order = Order(it.tag, tuple(machines), it.key, it.known_hosts, it.while_running)
        try:
            yield it.tag, provider, {machine.name: machine for machine in provider.up(order)}
        finally:
            provider.down(it.tag)


def connected(name: str) -> Connection:
    return openstack.connect(cloud=name)


def hosts(tag: str) -> dict[str, str]:
    """Return the compute host of each machine, as the administrator sees it."""
    servers = connected("admin").compute.servers(all_projects=True, name=tag)
    return {server.name.removeprefix(f"{tag}-"): server.compute_host for server in servers}


def cleaned(file: Path) -> tuple[int, list[str]]:
    words = [
        sys.executable,
        "-c",
        "from crosswind.cli import main; main()",
        "cleanup",
        "--testbed",
        str(file),
    ]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=WITHIN_S)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_servers_get_their_network_key_and_tag_and_nothing_is_left(tmp_path: Path) -> None:
    with made(tmp_path, machines=2, external="public") as (tag, provider, machines):
        first, site = connected("first"), machines["m0"]
        assert site.host_name is not None
        assert site.host_name.startswith("203.0.113.")
        assert site.address is not None
        assert site.address.startswith("10.78.")
        assert (site.cores, site.user) == (1, "debian")
        servers = [first.compute.get_server(each.id) for each in first.compute.servers()]
        assert [(each.tags, each.key_name, each.status) for each in servers] == [([tag], tag, "ACTIVE")] * 2
        (group,) = first.network.security_groups(tags=[tag])
        rules = {
            (rule["protocol"], rule["port_range_min"], rule["remote_group_id"] == group.id)
            for rule in group.security_group_rules
            if rule["direction"] == "ingress"
        }
        assert rules == {("tcp", 22, False), ("udp", None, True), ("icmp", None, True)}
        for listed in (
            first.network.networks,
            first.network.routers,
            first.network.ips,
            first.network.subnets,
        ):
            assert [each.tags for each in listed(tags=[tag])][:1] == [[tag]], listed
        kinds = sorted(found.kind for found in provider.found() if found.tag == tag)
        assert kinds == [
            *("floating address", "floating address", "key pair", "network", "router"),
            *("security group", "server", "server"),
        ]
    assert provider.found() == []


def test_placement_follows_policies_and_hints(tmp_path: Path) -> None:
    groups = [
        {"count": 2, "policy": "anti-affinity"},
        {"count": 2, "policy": "affinity"},
        {"same_host": ["m1"], "flavor": "large"},
        {"different_host": ["m0", "m1"]},
    ]
    with made(tmp_path, machines=groups) as (tag, _, machines):
        at = hosts(tag)
        assert at["m0"] != at["m1"]
        assert at["m2"] == at["m3"]
        assert at["m4"] == at["m1"]
        assert at["m5"] not in (at["m0"], at["m1"])
        assert machines["m4"].cores == 4
        seen = {name: machine.labels["host"] for name, machine in machines.items()}
        for one in at:
            for other in at:
                assert (seen[one] == seen[other]) == (at[one] == at[other])


def test_osmef_s_four_placements_of_two_machines(tmp_path: Path) -> None:
    """Two tenants on a network that the administrator shares (RR-13-287, table 1)."""
    network = connected("admin").network
    shared = network.create_network(name="shared", is_shared=True)
    network.create_subnet(network_id=shared.id, ip_version=4, cidr="10.1.0.0/24")
    groups = [
        {},
        {"same_host": ["m0"]},
        {"different_host": ["m0"]},
        {"cloud": "second", "same_host": ["m0"]},
        {"cloud": "second", "different_host": ["m0"]},
    ]
    with made(tmp_path, machines=groups, network="shared") as (tag, provider, machines):
        at = hosts(tag)
        assert [at[name] == at["m0"] for name in ("m1", "m2", "m3", "m4")] == [True, False, True, False]
        projects = [machines[name].labels["project"] for name in ("m0", "m1", "m2", "m3", "m4")]
        assert projects == [projects[0]] * 3 + [projects[3]] * 2
        assert projects[0] != projects[3]
        (group,) = connected("second").network.security_groups(name=tag)
        # The machines of the other project have a security group that this one cannot name.
        assert "10.1.0.0/24" in [rule["remote_ip_prefix"] for rule in group.security_group_rules]
    assert provider.found() == []
    network.delete_network(shared.id)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"flavor": "smal"}, 'cloud first has no flavor "smal"; did you mean "small"?'),
        ({"image": "windows"}, 'cloud first has no image "windows"; it has debian'),
        ({"external": "outside"}, 'cloud first has no network "outside"; it has public'),
        ({"machines": [{"zone": "z9"}]}, 'cloud first has no availability zone "z9"; it has nova'),
        (
            {"machines": 3, "flavor": "huge"},
            "the quota of cloud first has no room for 192 cores (of 20, 0 are in use), 196608 MiB of memory "
            "(of 51200, 0 are in use); take fewer or smaller machines, remove some, or ask for a",
        ),
        (
            {"machines": [{"count": 11, "policy": "soft-affinity"}]},
            "has no room for 11 servers (of 10, 0 are in use), 11 members of a server group (of 10, 0 are in "
            "use); take",
        ),
        ({"cloud": "third"}, "cloud third: it was not reached: "),
    ],
)
def test_what_cannot_be_made_is_one_sentence_before_anything_is(
    tmp_path: Path, keys: dict[str, object], why: str
) -> None:
    resolved, _ = resolved_of(tmp_path, **({"machines": 1} | keys))
    with pytest.raises(NotHere) as refused:
        provider_of(resolved).check()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert provider_of(resolved_of(tmp_path, machines=1)[0]).found() == []


def test_where_the_scheduler_finds_no_host_its_reason_is_in_the_message(tmp_path: Path) -> None:
    # There are three hosts.
    with (
        pytest.raises(TestbedError, match=r"cloud first: machine m\d was not started: .*; choose another"),
        made(tmp_path, machines=[{"count": 4, "policy": "anti-affinity"}]),
    ):
        pass
    assert provider_of(resolved_of(tmp_path, machines=1)[0]).found() == []


def test_what_kill_9_left_is_listed_and_removed_and_an_active_run_is_not(tmp_path: Path) -> None:
    file = file_of(tmp_path, machines=[{"count": 2, "policy": "anti-affinity"}], external="public")
    first = connected("first")
    words = [sys.executable, "-c", RUN, str(file)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + WITHIN_S
        # In the middle: the first server is there, the second one and the addresses are not all.
        while not list(first.compute.servers()):
            assert time.monotonic() < deadline
            assert run.poll() is None
            time.sleep(0.1)
        status, lines = cleaned(file)
        assert status == 0
        assert lines[-1].endswith("not removed: in use by an active run")
        run.send_signal(signal.SIGKILL)
    status, lines = cleaned(file)
    assert status == 0
    tag = lines[-1].removeprefix("removed ")
    assert f"found {tag}: server {tag}-m0" in lines
    assert f"found {tag}: key pair {tag}" in lines
    assert provider_of(resolved_of(tmp_path, machines=1)[0]).found() == []
    assert cleaned(file) == (0, ["nothing to clean up"])


def test_servers_that_never_answer_over_ssh_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up, "READY_S", 0.0)
    found = load_testbed(file_of(tmp_path, machines=1))
    assert found is not None
    with (
        pytest.raises(NotHere, match=r"^host m0: .* \(not ready 0 s after it was made\)$"),
        provided_machines(found),
    ):
        pass
    assert provider_of(resolved_of(tmp_path, machines=1)[0]).found() == []

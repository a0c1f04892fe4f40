"""The user's own commands as a provider, with a cloud whose machines are files."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from crosswind.cli.cleanup import command as cleanup
from crosswind.spec.resolved import ResolvedTestbed
from crosswind.spec.testbed_file import load_testbed
from crosswind.testbed import NotHere, TestbedError
from crosswind.testbed.providers import Deployment, provided_machines, up
from crosswind.testbed.providers.command.printed import read_found, read_machines
from crosswind.testbed.providers.deployment import recorded

CLOUD = Path(__file__).parent / "cloud.py"


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the cloud's machines."""
    monkeypatch.setenv("CROSSWIND_STATE_DIR", str(tmp_path / "state"))
    # Files do not answer over ssh.
    monkeypatch.setattr(up, "await_ssh", lambda machines, within_s: None)
    (tmp_path / "cloud").mkdir()
    return tmp_path / "cloud"


def file_of(cloud: Path, **commands: str) -> Path:
    """Write a testbed that names the cloud, with other commands where they are given."""
    verbs = {verb: f"{sys.executable} {CLOUD} {cloud} {verb}" for verb in ("up", "down", "list")}
    path = cloud.parent / "testbed.yaml"
    path.write_text(json.dumps({"command": {"machines": 2, **verbs, **commands}}))
    return path


def testbed_of(cloud: Path, **commands: str) -> ResolvedTestbed:
    found = load_testbed(file_of(cloud, **commands))
    assert found is not None
    return found


testbed_of.__test__ = False  # type: ignore[attr-defined]


def names_in(cloud: Path) -> list[str]:
    return sorted(path.name.partition(".")[2] for path in cloud.glob("crosswind-*.*"))


def test_machines_exist_while_the_block_runs_and_have_the_run_s_key(cloud: Path) -> None:
    with provided_machines(testbed_of(cloud)) as testbed:
        assert names_in(cloud) == ["m0", "m1"]
        assert [machine.host_name for machine in testbed.machines] == ["m0.example", "m1.example"]
        (deployment,) = recorded()
        content = next(cloud.glob("*.m0")).read_text()
        assert content == deployment.key.with_suffix(".pub").read_text().strip()
    assert names_in(cloud) == []
    assert recorded() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_machines_are_removed_however_the_block_ends(cloud: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), provided_machines(testbed_of(cloud)):
        raise error
    assert names_in(cloud) == []


def test_what_was_made_before_up_failed_is_removed(cloud: Path) -> None:
    half = f"touch {shlex.quote(str(cloud))}/$CROSSWIND_TAG.m0; exit 3"
    with (
        pytest.raises(TestbedError, match=r"^testbed\.command\.up: it ended with status 3"),
        provided_machines(testbed_of(cloud, up=half)),
    ):
        pass
    assert names_in(cloud) == []


def test_where_down_fails_too_both_reasons_and_the_remedy_are_in_the_message(cloud: Path) -> None:
    with (
        pytest.raises(TestbedError) as failed,
        provided_machines(testbed_of(cloud, up="exit 3", down="exit 4")),
    ):
        pass
    (deployment,) = recorded()
    for part in (
        "up: it ended with status 3",
        "down: it ended with status 4",
        deployment.tag,
        "crosswind cleanup",
    ):
        assert part in str(failed.value)


def test_a_program_that_is_missing_is_named_before_anything_is_made(cloud: Path) -> None:
    path = file_of(cloud)
    written = json.loads(path.read_text())
    written["command"]["down"] = ["no-such-program", "down"]
    path.write_text(json.dumps(written))
    found = load_testbed(path)
    assert found is not None
    with (
        pytest.raises(NotHere, match=r"^testbed\.command\.down: program no-such-program is not found; "),
        provided_machines(found),
    ):
        pass
    assert recorded() == []


def test_cleanup_removes_what_ended_runs_left_and_no_other(cloud: Path) -> None:
    file = file_of(cloud)
    with Deployment.new() as active, Deployment.new() as ended:
        pass
    elsewhere = "crosswind-00000001"
    for tag in (active.tag, ended.tag, elsewhere):
        (cloud / f"{tag}.m0").touch()
    with_lock = Deployment(active.tag)
    with_lock.forget()
    with with_lock:
        done = CliRunner().invoke(cleanup, ["--testbed", str(file)], standalone_mode=False)
        assert done.return_value == 0, done.output
        for line in (
            f"found {ended.tag}: machine m0",
            f"removed {ended.tag}",
            f"{active.tag}: not removed: in use by an active run",
            f"{elsewhere}: not removed: made on another machine; add --tag {elsewhere} if its run has ended",
        ):
            assert line in done.output.splitlines()
    CliRunner().invoke(cleanup, ["--testbed", str(file), "--tag", elsewhere], standalone_mode=False)
    assert [path.name for path in cloud.iterdir()] == [f"{active.tag}.m0"]
    CliRunner().invoke(cleanup, ["--testbed", str(file)], standalone_mode=False)
    again = CliRunner().invoke(cleanup, ["--testbed", str(file)], standalone_mode=False)
    assert again.output == "nothing to clean up\n"


def test_cleanup_that_fails_says_so_and_keeps_the_record(cloud: Path) -> None:
    with Deployment.new() as ended:
        pass
    (cloud / f"{ended.tag}.m0").touch()
    file = file_of(cloud, down="exit 5")
    done = CliRunner().invoke(cleanup, ["--testbed", str(file)], standalone_mode=False)
    assert (done.return_value, [each.tag for each in recorded()]) == (8, [ended.tag])
    assert f"{ended.tag}: not removed: testbed.command.down: it ended with status 5" in done.output


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("", r"not as it should be: invalid JSON"),
        ('{"m0": 1}', r"not as it should be: input should be a valid array"),
        ('[{"name": "m0"}]', r"not as it should be at \[0\]\.address: field required"),
        ('[{"name": "m0", "address": "-oProxyCommand=x"}]', r"at \[0\]\.address: .*not a name of a machine"),
        ('[{"name": "m0", "address": "a", "user": "-l"}]', r"at \[0\]\.user: .*no word that ssh takes"),
        ('[{"name": "m0", "address": "a", "tunnel_address": "b"}]', r"at \[0\]\.tunnel_address"),
        ('[{"name": "m0", "address": "a", "host_key": "x\\ny z"}]', r"at \[0\]\.host_key"),
        ('[{"name": "m0", "address": "a", "adress": "a"}]', r"at \[0\]\.adress: extra inputs"),
        ('[{"name": "m0", "address": "a"}]', r"printed m0, and m0, m1 are needed; print each name"),
    ],
)
def test_what_up_prints_is_checked_and_the_error_says_where(cloud: Path, printed: str, why: str) -> None:
    (cloud / "printed").write_text(printed)
    with (
        pytest.raises(
            NotHere, match=r"^testbed\.command\.up: it printed|^testbed\.command\.up: what"
        ) as refused,
        provided_machines(testbed_of(cloud)),
    ):
        pass
    assert refused.match(why)
    assert names_in(cloud) == []


def test_a_machine_may_have_a_user_a_port_keys_cores_and_labels(cloud: Path, tmp_path: Path) -> None:
    known = tmp_path / "known"
    machine = {
        "name": "m0",
        "address": "192.0.2.7",
        "tunnel_address": "10.0.0.7",
        "user": "debian",
        "port": 2222,
        "key": "/keys/run",
        "host_key": "ssh-ed25519 AAAA machine",
        "cores": 8,
        "labels": {"host": "rack1"},
    }
    (ordered,) = [each for each in testbed_of(cloud).machines if each.name == "m0"]
    (read,) = read_machines(json.dumps([machine]), [ordered], known)
    assert known.read_text() == "[192.0.2.7]:2222 ssh-ed25519 AAAA machine\n"
    assert (read.address, read.cores, read.labels) == ("10.0.0.7", 8, {"host": "rack1"})
    assert read.ssh_options == (
        *("-o", "HostName=192.0.2.7", "-p", "2222", "-l", "debian"),
        *("-i", "/keys/run", "-o", "IdentitiesOnly=yes"),
        *("-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=accept-new"),
    )


def test_what_list_prints_is_checked() -> None:
    assert [(each.tag, each.name) for each in read_found('{"crosswind-1a2b3c4d": ["m0"]}')] == [
        ("crosswind-1a2b3c4d", "m0")
    ]
    with pytest.raises(NotHere, match=r"^testbed\.command\.list: .*pattern"):
        read_found('{"prod-database": ["m0"]}')


@given(st.one_of(st.text(), st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps)))
def test_whatever_is_printed_is_read_or_refused(printed: str) -> None:
    for read in (read_found, lambda text: read_machines(text, [], Path(os.devnull))):
        with suppress(NotHere):
            read(printed)

"""What machines report is read, judged against the testbed and an experiment, and shown a row each."""

from __future__ import annotations

import hashlib
import io
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from crosswind.app.requirements import NeededFile, OwnProgram
from crosswind.doctor.finding import Finding
from crosswind.doctor.machines import (
    LookedAt,
    Needs,
    PeerPath,
    RemoteFacts,
    ethernet_findings,
    facts_from,
    findings_of,
    needs_of,
    print_machines,
    script_for,
)
from crosswind.results.provenance import InterfaceRates
from crosswind.spec import resolve
from crosswind.spec.load import parse_experiment
from crosswind.spec.resolved import ResolvedMachine, ResolvedTestbed
from crosswind.testbed import Hello

GOOD = RemoteFacts(
    system="Linux",
    kernel="6.1.0-18-amd64",
    processor="x86_64",
    cores=8,
    memory_bytes=32 << 30,
    clock="tsc",
    congestion=("reno", "cubic"),
    peers={"m1": PeerPath(1500, "whole", 250_000)},
)
M0 = ResolvedMachine(name="m0")
TESTBED = ResolvedTestbed(machines=[M0, ResolvedMachine(name="m1")], delay_ns=200_000, clock_error_ns=100_000)
HELLO = Hello(
    protocol=1, version="0.1.0", rootless=False, kernel="6.1.0", application_uid=1, application_gid=1
)


def test_the_script_runs_in_any_shell_and_its_facts_are_read() -> None:
    script = script_for({"self": "127.0.0.1", "six": "::1"})
    done = subprocess.run(["sh", "-s"], input=script, capture_output=True, text=True, check=True)
    facts = facts_from("Welcome to the cluster!\n" + done.stdout, ["self", "six"])
    assert facts.system == "Linux"
    assert facts.cores
    assert facts.memory_bytes
    assert "cubic" in facts.congestion
    assert list(facts.peers) == ["self", "six"]
    assert facts.interfaces_bps is not None
    assert "lo" in facts.interfaces_bps


def test_files_that_a_machine_has_are_told_from_others(tmp_path: Path) -> None:
    private, single = tmp_path / "with space", tmp_path / "program"
    private.mkdir()
    (private / "installed.json").write_text("{}\n")
    single.touch()
    places = [str(private), str(single), "/nowhere"]
    done = subprocess.run(
        ["sh", "-s"], input=script_for({}, places), capture_output=True, text=True, check=True
    )
    record = hashlib.sha256(b"{}\n").hexdigest()
    assert facts_from(done.stdout, [], places).places == dict(
        zip(places, (record, "there", "absent"), strict=True)
    )


def test_a_program_that_a_machine_lacks_is_named_and_a_private_folder_is_no_lack(tmp_path: Path) -> None:
    program, private = (
        NeededFile(Path("/nowhere/psql"), OwnProgram("psql")),
        NeededFile(tmp_path, OwnProgram("")),
    )
    needs = Needs(1, 0, None, [program, private])
    facts = replace(GOOD, places={"/nowhere/psql": "absent", str(tmp_path): "absent"})
    (finding,) = findings_of(facts, M0, TESTBED, needs)
    assert (finding.verdict, finding.found) == ("missing", "it lacks /nowhere/psql, of psql")


def test_what_a_machine_does_not_tell_is_unknown() -> None:
    printed = (
        "crosswind-fact system Linux\ncrosswind-fact cores \ncrosswind-fact peer 0 unknown unknown unknown\n"
    )
    assert facts_from(printed, ["m1"]) == RemoteFacts(
        system="Linux", peers={"m1": PeerPath(None, "unknown", None)}
    )
    printed = "crosswind-fact peer 0 9000 whole 0.412\n"
    assert facts_from(printed, ["m1"]).peers == {"m1": PeerPath(9000, "whole", 412_000)}


def test_rates_through_interfaces_are_between_two_counts() -> None:
    printed = "".join(
        f"crosswind-fact traffic {at} {name} {received} {sent}\n"
        for at, name, received, sent in [
            ("100.20", "eth0", 5_000, 1_000),
            ("100.20", "gone", 1, 1),
            ("100.70", "eth0", 6_000, 251_000),
            # Made anew since.
            ("100.20", "tap0", 9_000, 0),
            ("100.70", "tap0", 100, 100),
        ]
    )
    assert facts_from(printed, []).interfaces_bps == {
        "eth0": InterfaceRates(received=16_000, sent=4_000_000),
        "tap0": InterfaceRates(received=0, sent=1_600),
    }


def test_a_machine_as_it_should_be_has_no_findings() -> None:
    assert findings_of(GOOD, M0, TESTBED, Needs(7, 16 << 30, "cubic")) == []


@pytest.mark.parametrize(
    ("peer", "verdict", "text"),
    [
        (PeerPath(1500, "whole", 250_000), None, ""),
        (PeerPath(None, "none", None), "missing", "no frame came there and back"),
        (
            PeerPath(9000, "short", 250_000),
            "missing",
            "frames with 9000 bytes do not come from there, short ones do",
        ),
        (PeerPath(1500, "whole", 1_000_000), "warning", "a round trip took 1 ms, so 500 us each way"),
    ],
)
def test_ways_over_raw_ethernet_are_judged(peer: PeerPath, verdict: str | None, text: str) -> None:
    found = list(ethernet_findings({"m1": peer}, TESTBED))
    assert [finding.verdict for finding in found] == ([] if verdict is None else [verdict])
    assert all(text in finding.found for finding in found)


@pytest.mark.parametrize(
    ("facts", "machine", "needs", "verdict", "text"),
    [
        ({"kernel": "5.4.0"}, M0, None, "missing", "Linux 5.4.0"),
        ({"clock": "hpet"}, M0, None, "warning", "its clock source is hpet"),
        ({}, ResolvedMachine(name="m0", cores=16), None, "warning", "the testbed says 16, and it has 8"),
        ({"peers": {"m1": PeerPath(1500, "none", None)}}, M0, None, "warning", "no echo came back"),
        (
            {"peers": {"m1": PeerPath(9000, "short", None)}},
            M0,
            None,
            "warning",
            "packets of 9000 bytes do not come back, short ones do",
        ),
        ({"peers": {"m1": PeerPath(1000, "whole", 1)}}, M0, None, "missing", "an MTU of 1000 bytes"),
        (
            {"peers": {"m1": PeerPath(1500, "whole", 1_000_000)}},
            M0,
            None,
            "warning",
            "a round trip took 1 ms, so 500 us each way, and the testbed says 200 us",
        ),
        (
            {},
            M0,
            Needs(8, 0, None),
            "warning",
            "its nodes take 8, and 7 of its 8 are left beside the emulator",
        ),
        ({}, M0, Needs(1, 64 << 30, None), "missing", "its nodes may take 64 GiB, and it has 32 GiB"),
        ({}, M0, Needs(1, 0, "bbr"), "missing", "it has reno, cubic, and the experiment needs bbr"),
    ],
)
def test_what_a_machine_lacks_has_a_verdict_and_a_remedy(
    facts: dict[str, object], machine: ResolvedMachine, needs: Needs | None, verdict: str, text: str
) -> None:
    (finding,) = findings_of(RemoteFacts(**{**vars(GOOD), **facts}), machine, TESTBED, needs)  # type: ignore[arg-type]
    assert (finding.verdict, finding.found[: len(text)]) == (verdict, text)
    assert finding.remedy


def test_an_experiment_needs_of_each_machine_what_is_placed_there() -> None:
    text = """
name: placed
topology:
  zones: {delay: 20ms}
  nodes: {server: {zone: east, memory: 1GiB, cpus: 2}, client: west}
  tcp: {congestion_control: bbr}
conditions: [none]
application: {rpc: {duration: 1s, warm_up: 100ms}}
trials: {repeat: 2}
testbed: {ssh: {hosts: [m0, m1], place: {east: m1, west: m0}}}
"""
    assert needs_of(resolve(parse_experiment(text.encode(), "x.yaml"))) == {
        "m1": Needs(2.0, 1 << 30, "bbr"),
        "m0": Needs(1.0, 0, "bbr"),
    }


def test_each_machine_has_a_row_and_what_it_lacks_is_below() -> None:
    lost = Finding("ssh", "missing", "no route leads there", "make `ssh m1 true` work")  # type: ignore[arg-type]
    found = [
        LookedAt(M0, 312.4, HELLO, GOOD, ()),
        LookedAt(ResolvedMachine(name="m1"), findings=(lost,)),
    ]
    console = Console(file=io.StringIO(), width=160, highlight=False)
    print_machines(found, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    lines = text.splitlines()
    assert lines[1].split() == [
        *("ok", "m0", "312", "ms", "x86_64", "8", "32", "GiB", "6.1.0-18-amd64", "0.1.0", "root", "tsc"),
        *("1500", "250", "us"),
    ]
    assert lines[2].split() == ["missing", "m1", *"-" * 10]
    assert "m1, ssh: no route leads there\n  do: make `ssh m1 true` work\n" in text
    assert lines[-1] == "1 of 2 machines are ready; not ready: m1."

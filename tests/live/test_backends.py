"""Experiments on Open vSwitch and on the kernel's traffic control: carried, checked, and gone afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import traffic_control_in_guest

from crosswind.backends.tc.devices import Devices
from crosswind.backends.tc.mapping import control_of
from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed.backend_programs import missing_programs
from crosswind.testbed.kernel_modules import lacking_modules

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {rate: 50Mbit/s, delay: 0us, buffer: 64KiB}
  nodes: {server: h0, client: h1}
backend: BACKEND
conditions:
  - tried: CONDITION
application: {rpc: {duration: 500ms, warm_up: 100ms}}
trials: {repeat: 2, rest: 0s, seed: 7}
"""
POLICED = "{PLACE: [{police: {rate: 20Mbit/s, burst: 50kB}}, {mark: {dscp: AF41}}]}"


def written(live: Live, backend: str, condition: str = "{}") -> str:
    text = EXPERIMENT.replace("BACKEND", backend).replace("CONDITION", condition)
    (live.folder / "live.yaml").write_text(text)
    return "live.yaml"


@pytest.fixture
def open_vswitch() -> None:
    if lacking := missing_programs("ovs"):
        pytest.skip(f"SKIPPED: {'; '.join(lacking)}")


@pytest.fixture
def traffic_control() -> None:
    if lacking := missing_programs("tc"):
        pytest.skip(f"SKIPPED: {'; '.join(lacking)}")


def backend_of(live: Live) -> dict[str, Any]:
    return json.loads((live.run_folder / "provenance.json").read_text())["before"]["backend"]


def verdicts(live: Live) -> list[tuple[str, str]]:
    trials = live.run_folder / "trials.parquet"
    return duckdb.sql(f"SELECT status, fidelity FROM '{trials}'").fetchall()


def test_open_vswitch_meters_and_marks_and_the_report_says_who_decided(
    open_vswitch: None, live: Live
) -> None:
    said = live.measured(written(live, "ovs", POLICED.replace("PLACE", "switch.ingress")))
    assert verdicts(live) == [("done", "unverified")] * 2, said
    found = backend_of(live)
    assert found["version"].startswith("Open vSwitch")
    by = {each["element"]: each["by"] for each in found["decided"]["tried"]}
    assert by == {
        "police": "Open vSwitch meter",
        "mark": "Open vSwitch flow",
        "rate": "Open vSwitch QoS (HTB)",
    }
    checks = {(each["unit"], each["what"].split(" at ")[0]) for each in found["checks"]["tried"]}
    assert checks == {("bit/s", "police"), ("packets", "mark")}
    status, report = live.run("report", str(live.run_folder), "--json")
    assert status == 0
    assert "other-backend" in report
    page = (live.run_folder / "report.html").read_text()
    assert "Open vSwitch meter" in page


def test_ingress_policing_that_fails_in_the_log_alone_is_found_by_traffic(
    open_vswitch: None, live: Live
) -> None:
    if not lacking_modules(["act_police"]):
        pytest.skip("SKIPPED: this kernel polices what enters a port")
    condition = POLICED.replace("PLACE", "host.egress")
    status, said = live.run("run", written(live, "{ovs: {police: ingress-policing}}", condition))
    assert status == 4, said
    assert "police at host.egress of server: declared 20.0 Mbit/s of IP, came through" in said
    assert "adding cls_basic policing action failed" in said
    assert live.stored() == set()


def test_what_open_vswitch_cannot_carry_is_refused_before_anything_starts(live: Live) -> None:
    status, said = live.run("run", written(live, "ovs", "{link: [{delay: 1ms}]}"))
    assert status == 2
    assert "backend ovs: tried: delay at link: Open vSwitch has no delay" in said
    assert not live.results.exists()


@pytest.mark.parametrize("victim", ["runner", "agent"])
def test_killing_leaves_no_open_vswitch_behind(open_vswitch: None, live: Live, victim: str) -> None:
    running = live.start("run", written(live, "ovs"))
    deadline_s = time.monotonic() + 60
    while not any(program.endswith("ovs-vswitchd") for program in live.processes().values()):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    if victim == "agent":
        agent = live.agent_pid()
        assert agent is not None
        subprocess.run(["kill", "-9", str(agent)], check=True)
        running.terminate()
    else:
        running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    live.await_no_process(5.0)
    status, said = live.run("cleanup")
    assert status == 0, said


def test_the_kernel_carries_a_rate_and_is_read_back(traffic_control: None, live: Live) -> None:
    if lacking := lacking_modules(["sch_tbf", "sch_htb", "act_mirred", "cls_u32", "sch_fifo"]):
        pytest.skip(f"SKIPPED: this kernel lacks {', '.join(lacking)}")
    said = live.measured(written(live, "tc"))
    assert verdicts(live) == [("done", "unverified")] * 2, said
    (first, *_) = backend_of(live)["checks"]["tried"]
    assert first["measured"] == pytest.approx(50e6 * 1500 / 1538, rel=0.05)


def test_a_module_that_the_kernel_lacks_is_named(traffic_control: None, live: Live) -> None:
    if not lacking_modules(["sch_netem"]):
        pytest.skip("SKIPPED: this kernel has netem")
    status, said = live.run("run", written(live, "tc", "{link: [{delay: 1ms}, {lose: 1%}]}"))
    assert status == 3
    assert "this kernel lacks sch_netem" in said
    assert "sch_netem: needed under tried" in said


def test_tc_reads_every_command_also_for_what_this_kernel_lacks(traffic_control: None) -> None:
    resolved = resolve(parse_experiment(traffic_control_in_guest.EXPERIMENT.encode(), "guest.yaml"))
    for condition in resolved.conditions:
        spec = fabric_of(resolved, condition.name)
        devices = Devices(spec)
        made = [
            f"ip link add {device} type veth peer name x{device}; tc qdisc add dev {device} clsact"
            for device in devices.all
        ]
        script = "\n".join([*made, "tc -batch - -force"])
        commands = "\n".join(control_of(spec, spec.condition, devices).commands()) + "\n"
        enter = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
        done = subprocess.run(
            [*enter, "/bin/sh", "-c", script], input=commands, capture_output=True, text=True, check=False
        )
        # What the kernel refuses begins with `Error:`; what the program cannot read does not.
        own = [
            line
            for line in done.stderr.splitlines()
            if line
            and not line.startswith(("Error:", "We have an error talking", "Command failed", "RTNETLINK"))
        ]
        assert own == [], (condition.name, own)

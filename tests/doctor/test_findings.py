"""Every judgement, from what kernels and machines say of themselves."""

import pytest

from crosswind.app.availability import Availability
from crosswind.app.base import Application, Missing
from crosswind.doctor import hardware, kernel, privileges, programs
from crosswind.doctor.finding import Finding, FindingVerdict, missing, ok


def test_every_verdict_but_ok_says_what_to_do() -> None:
    findings = [
        hardware.cores(1),
        hardware.memory(1 << 20),
        hardware.clock_source("hpet"),
        hardware.clock_source(None),
        hardware.steal("cpu 50 0 0 0 0 0 0 50 0 0\n"),
        hardware.load(2.0, 2),
        kernel.version("darwin", "24.0"),
        kernel.version("linux", "5.4.0-generic"),
        kernel.congestion_controls(["reno"], "reno"),
        privileges.as_root("CapEff:\t00000000a80425fb\n"),
        privileges.as_user({"user.max_user_namespaces": "0"}.get),
        programs.versions({"crosswind-agent": "1", "crosswind-load": "2"}),
    ]
    assert all(finding.verdict != FindingVerdict.OK and finding.remedy for finding in findings)


def test_steal_is_a_share_of_all_time_and_guests_are_counted_once() -> None:
    # user 400 (of which guest 300), idle 580, steal 20: 2 % of 1000.
    assert hardware.steal("cpu 400 0 0 580 0 0 0 20 300 0\ncpu0 1\n").found.startswith("2.00%")


def test_one_percent_of_steal_is_still_fine() -> None:
    assert hardware.steal("cpu 0 0 0 99 0 0 0 1 0 0\n").verdict == FindingVerdict.OK


@pytest.mark.parametrize(("average", "verdict"), [(1.0, FindingVerdict.OK), (1.1, FindingVerdict.WARNING)])
def test_half_of_the_cores_may_be_busy(average: float, verdict: FindingVerdict) -> None:
    assert hardware.load(average, 2).verdict == verdict


@pytest.mark.parametrize(
    ("release", "verdict"),
    [
        ("5.8.18", FindingVerdict.MISSING),
        ("5.9.0", FindingVerdict.OK),
        ("5.10.0-30-amd64", FindingVerdict.OK),
        ("6.18-rc1", FindingVerdict.OK),
    ],
)
def test_the_kernel_has_close_range(release: str, verdict: FindingVerdict) -> None:
    assert kernel.version("linux", release).verdict == verdict


def test_a_congestion_control_that_is_not_loaded_can_be() -> None:
    assert "modprobe tcp_cubic" in kernel.congestion_controls(["reno", "bbr"], "bbr").remedy


def test_qdiscs_are_read_from_the_configuration_of_the_kernel() -> None:
    config = "CONFIG_NET_SCH_TBF=y\nCONFIG_NET_SCH_FQ_CODEL=m\n# CONFIG_NET_SCH_NETEM is not set\n"
    assert kernel.qdiscs_in_config(config) == ["fq_codel", "tbf"]


def test_what_is_for_information_only_never_warns() -> None:
    findings = [kernel.qdiscs(None), kernel.qdiscs([]), *map(kernel.bridge_filter, (None, "0", "1"))]
    assert {finding.verdict for finding in findings} == {FindingVerdict.OK}


def test_root_of_a_container_is_told_which_capabilities_it_lacks() -> None:
    # The default set of docker: CAP_NET_RAW is in it, CAP_NET_ADMIN and CAP_SYS_ADMIN are not.
    found = privileges.as_root("Name:\tpython\nCapEff:\t00000000a80425fb\n").found
    assert "CAP_NET_ADMIN, CAP_SYS_ADMIN" in found
    assert "CAP_NET_RAW" not in found


def test_full_root_is_fine() -> None:
    assert privileges.as_root("CapEff:\t000001ffffffffff\n").verdict == FindingVerdict.OK


def test_a_switch_that_this_kernel_lacks_forbids_nothing() -> None:
    assert privileges.as_user(lambda _: None).verdict == FindingVerdict.OK


def test_the_remedy_names_the_switch_that_forbids() -> None:
    finding = privileges.as_user({"kernel.unprivileged_userns_clone": "0"}.get)
    assert finding.remedy.startswith("allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1")


def test_apparmor_is_left_to_the_attempt() -> None:
    restricted = {"kernel.apparmor_restrict_unprivileged_userns": "1"}
    assert privileges.as_user(restricted.get).verdict == FindingVerdict.OK


def test_applications_that_nobody_asked_for_are_one_line_and_no_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = [Missing("no Java", "install it")]
    found = {"rpc": [], "spark": lacking, "ycsb/redis": [], "ycsb/mongodb": lacking}
    monkeypatch.setattr(programs, "names", lambda: ["all"])
    monkeypatch.setattr(programs, "find", lambda _: Application)
    parts = [Availability(name, missing) for name, missing in found.items()]
    monkeypatch.setattr(programs, "availability", lambda _: parts)
    said = "ready: rpc, ycsb/redis; not installed: 2, see `crosswind apps`"
    assert programs.applications() == [ok("applications", said)]


@pytest.mark.parametrize("python_part", ["0.1.0", "unpackaged"])
def test_a_source_tree_has_no_version_to_disagree_with(python_part: str) -> None:
    found = {"crosswind-agent": "0.1.0", "crosswind-load": "0.1.0", "crosswind": python_part}
    assert programs.versions(found) == ok("versions", "agree")


def test_a_missing_program_comes_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSWIND_AGENT", "/nowhere/crosswind-agent")
    agent: Finding = next(finding for finding in programs.binaries() if finding.name == "crosswind-agent")
    assert agent == missing(
        "crosswind-agent",
        "CROSSWIND_AGENT=/nowhere/crosswind-agent: not an executable file",
        "unset it or build crosswind-agent",
    )

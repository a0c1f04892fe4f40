"""Check everything: whether this machine can run Crosswind, how exact it is, and what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, computed_field

from crosswind.doctor.calibration import Calibration, calibration_file, keep_better
from crosswind.doctor.finding import Finding, FindingVerdict, missing, ok, warning
from crosswind.doctor.hardware import LOAD_PER_CORE_MAX, look_at_hardware
from crosswind.doctor.kernel import look_at_kernel
from crosswind.doctor.machine import this_machine
from crosswind.doctor.measure import calibrate, two_nodes
from crosswind.doctor.privileges import look_at_privileges
from crosswind.doctor.programs import look_at_programs
from crosswind.testbed import Agent, AgentRefused, RunningFabric, TestbedError, WorkFolder
from crosswind.testbed.replies import Reply
from crosswind.text.quantities import moment_text


class Diagnosis(BaseModel):
    """The findings, and the calibration.

    Attributes:
        calibration: as measured now; None where no fabric came up or a probe failed, which is a finding.
        kept: the calibration that experiments are checked against, which is an earlier one if that is better;
            None without a calibration.
        kept_in: the file of `kept`.
    """

    model_config = ConfigDict(frozen=True)

    findings: list[Finding]
    calibration: Calibration | None = None
    kept: Calibration | None = None
    kept_in: Path | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ready(self) -> bool:
        """Whether this machine can run Crosswind."""
        return all(finding.verdict != FindingVerdict.MISSING for finding in self.findings)

    def as_json(self) -> dict[str, JsonValue]:
        """Return the diagnosis as plain values, for `--json`."""
        return self.model_dump(mode="json", by_alias=True)


def diagnose(say: Callable[[str], None]) -> Diagnosis:
    """Check everything and, where nothing is missing, calibrate; store the better calibration.

    Args:
        say: is called with a few words for each step, to show progress.
    """
    say("checking this machine")
    findings = [
        *look_at_kernel(),
        *look_at_hardware(this_machine()),
        *look_at_privileges(),
        *look_at_programs(),
    ]
    if any(finding.verdict == FindingVerdict.MISSING for finding in findings):
        return Diagnosis(findings=findings)
    tried, calibration = _try_fabric(say)
    findings += tried
    if calibration is None:
        return Diagnosis(findings=findings)
    kept = keep_better(calibration)
    findings.append(exactness(calibration, kept))
    return Diagnosis(findings=findings, calibration=calibration, kept=kept, kept_in=calibration_file())


def _try_fabric(say: Callable[[str], None]) -> tuple[list[Finding], Calibration | None]:
    with ExitStack() as stack:
        say("bringing two nodes up")
        began = time.monotonic()
        try:
            work = stack.enter_context(WorkFolder())
            agent = stack.enter_context(Agent())
            fabric = stack.enter_context(RunningFabric(agent, two_nodes(), work.path / "logs"))
        except TestbedError as error:
            return [_no_nodes(error)], None
        disks = _disks(agent)
        how = "without root" if agent.hello.rootless else "as root"
        nodes = ok("nodes", f"two came up after {time.monotonic() - began:.2f} s, {how}")
        say("calibrating, about five seconds")
        try:
            calibration = calibrate(agent, fabric, work.fresh("calibration", *fabric.application_account))
        except TestbedError as error:
            return [
                nodes,
                disks,
                missing(
                    "calibration", str(error), "run `crosswind doctor` again; report it if it fails again"
                ),
            ], None
        return [nodes, disks], calibration


def _no_nodes(error: TestbedError) -> Finding:
    return missing(
        "nodes",
        str(error),
        "follow the message above; in a container, allow it namespaces (docker run --privileged)",
    )


def _disks(agent: Agent) -> Finding:
    """Report whether disks of nodes can become full and slow; few experiments need it."""
    able: list[str] = []
    for rate, what in ((False, "full"), (True, "slow")):
        try:
            agent.request("disks", Reply, {"rate": rate})
        except AgentRefused as refused:
            return ok("disk faults", f"{' and '.join(able) or 'none'}; {refused}")
        able.append(what)
    return ok("disk faults", " and ".join(able))


def exactness(calibration: Calibration, kept: Calibration) -> Finding:
    """Judge whether a calibration is valid; one that is worse than the stored one is ignored."""
    name = "calibration"
    if calibration.early:
        return warning(name, f"{calibration.early} packets left early, which must never happen", "report it")
    if kept != calibration:
        return ok(name, f"not as good as the stored one of {moment_text(kept.measured_at)}, which stays")
    if calibration.load_average > LOAD_PER_CORE_MAX * calibration.machine.cores:
        return warning(
            name,
            f"measured under a load average of {calibration.load_average:.1f}; the machine can do better",
            "run `crosswind doctor` again when it is quiet",
        )
    if calibration.honours.delay_ns_min is None or calibration.honours.packets_per_s_max is None:
        return warning(
            name,
            "some of the tested delays or rates were not honoured; see below",
            "use a quieter machine, or a larger one",
        )
    return ok(name, f"no packet early; the emulator waits by `{calibration.wait_mode}`")

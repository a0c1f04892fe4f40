"""Ask the whole question: can this machine run Crosswind, what will it honour, what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crosswind.doctor.calibration import Calibration, calibration_file, keep_better
from crosswind.doctor.finding import Finding, Verdict, missing, ok, warning
from crosswind.doctor.hardware import LOAD_PER_CORE_MAX, look_at_hardware
from crosswind.doctor.kernel import look_at_kernel
from crosswind.doctor.machine import this_machine
from crosswind.doctor.measure import calibrate, two_nodes
from crosswind.doctor.privileges import look_at_privileges
from crosswind.doctor.programs import look_at_programs
from crosswind.testbed import Agent, RunningFabric, TestbedError, WorkFolder
from crosswind.text.quantities import moment_text


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        calibration: as it was measured now; None where no fabric came up or a probe failed, and a finding
            says why.
        kept: the one that experiments are checked against, an earlier one where that is better; None without
            a calibration.
        kept_in: its file; None without one.
    """

    findings: list[Finding]
    calibration: Calibration | None
    kept: Calibration | None
    kept_in: Path | None

    @property
    def ready(self) -> bool:
        """Whether this machine can run Crosswind."""
        return all(finding.verdict != Verdict.MISSING for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain values, for `--json`."""
        calibration = self.calibration
        return {
            "ready": self.ready,
            "findings": [vars(finding) for finding in self.findings],
            "calibration": calibration.model_dump(mode="json", by_alias=True) if calibration else None,
            "kept": self.kept.model_dump(mode="json", by_alias=True) if self.kept else None,
            "kept_in": str(self.kept_in) if self.kept_in else None,
        }


def diagnose(say: Callable[[str], None]) -> Diagnosis:
    """Look at everything; where nothing is missing, bring a fabric up and calibrate; keep the better one.

    Args:
        say: is told what is being done, in a few words each time.
    """
    say("looking at this machine")
    findings = [
        *look_at_kernel(),
        *look_at_hardware(this_machine()),
        *look_at_privileges(),
        *look_at_programs(),
    ]
    if any(finding.verdict == Verdict.MISSING for finding in findings):
        return Diagnosis(findings, None, None, None)
    tried, calibration = _try_fabric(say)
    findings += tried
    if calibration is None:
        return Diagnosis(findings, None, None, None)
    kept = keep_better(calibration)
    findings.append(exactness(calibration, kept))
    return Diagnosis(findings, calibration, kept, calibration_file())


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
        how = "without root" if agent.hello.rootless else "as root"
        nodes = ok("nodes", f"two are up after {time.monotonic() - began:.2f} s, {how}")
        say("calibrating, about five seconds")
        try:
            calibration = calibrate(agent, fabric, work.fresh("calibration", *fabric.application_account))
        except TestbedError as error:
            return [
                nodes,
                missing("calibration", str(error), "run `crosswind doctor` again; report it if it stays"),
            ], None
        return [nodes], calibration


def _no_nodes(error: TestbedError) -> Finding:
    return missing(
        "nodes",
        str(error),
        "follow the message above; in a container, allow it namespaces (docker run --privileged)",
    )


def exactness(calibration: Calibration, kept: Calibration) -> Finding:
    """Judge whether a calibration can be believed; one that is worse than the kept one does no harm."""
    name = "calibration"
    if calibration.early:
        return warning(name, f"{calibration.early} packets left early, which must never happen", "report it")
    if kept != calibration:
        return ok(name, f"not as good as that of {moment_text(kept.measured_at)}, which is kept")
    if calibration.load_average > LOAD_PER_CORE_MAX * calibration.machine.cores:
        return warning(
            name,
            f"made while the machine was busy (load {calibration.load_average:.1f}): it is better than this",
            "run `crosswind doctor` again when it is quiet",
        )
    if calibration.honours.delay_ns_min is None or calibration.honours.packets_per_s_max is None:
        return warning(
            name,
            "some of what was tried was not honoured; see below",
            "use a quieter machine, or a larger one",
        )
    return ok(name, f"no packet early; the emulator waits by `{calibration.wait_mode}`")

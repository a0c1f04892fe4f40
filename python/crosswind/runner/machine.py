"""The provenance of a run: this machine and the tools that will run on it."""

from pathlib import Path

from crosswind.app import Application
from crosswind.app.requirements import OwnProgram
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.doctor import auto_domains_here
from crosswind.errors import CrosswindError, Exit
from crosswind.machine import machine_fingerprint, provenance
from crosswind.plan.placement import placement_of
from crosswind.results import MachineFacts
from crosswind.runner.preflight import Checked
from crosswind.spec import Resolved, domains_of
from crosswind.testbed.backend_programs import backend_versions
from crosswind.testbed.binaries import AGENT


class MachineChanged(CrosswindError):
    """A run cannot be continued here: trials before and after the change would not be comparable."""

    exit = Exit.NOT_COMPARABLE


def machine_now(
    resolved: Resolved, application: Application, checked: Checked, experiment_folder: Path
) -> MachineFacts:
    """Return the facts of this machine now, with the tools of an experiment."""
    tools = {
        **OwnProgram(AGENT).versions(),
        **application.versions(application.variant),
        **application.own_versions(),
    }
    if resolved.backend is not None:
        tools |= backend_versions(resolved.backend.name)
    if any(condition.is_real for condition in resolved.conditions):
        tools |= IPERF3.versions()
    found = provenance(experiment_folder, resolved.trials.seed, tools)
    placement = placement_of(resolved)
    return found.with_changes(
        rootless=checked.rootless,
        domains=domains_of(resolved, auto_domains_here(resolved))
        if placement is None
        else list(placement.parts.values()),
        machines=list(checked.machines),
    )


def check_same_machine(before: MachineFacts, now: MachineFacts) -> None:
    """Check that a run may be continued.

    Raises: MachineChanged: kernel, CPU, cores, clock source or a tool's version differ; names each.
        ValueError: a side does not identify its machine.
    """
    was, found = machine_fingerprint(before), machine_fingerprint(now)
    if was is None or found is None:
        raise ValueError("kernel, CPU, cores, clock source or tools are missing")
    changes = [
        f"{name} was {was.get(name, 'absent')}, is {found.get(name, 'absent')}"
        for name in sorted({*was, *found})
        if was.get(name) != found.get(name)
    ]
    if changes:
        raise MachineChanged(
            "the machine is no longer the one that this run started on: "
            + "; ".join(changes)
            + "; start a new run: trials of two machines are not repetitions of one experiment"
        )

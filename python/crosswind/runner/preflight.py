"""Checks before a run starts: finds what would make it fail."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crosswind.app import Application, Missing
from crosswind.app.find import application_of
from crosswind.errors import CrosswindError
from crosswind.results.provenance import MachineOfTestbed
from crosswind.runner.backend import check_backend
from crosswind.runner.disks import check_disks
from crosswind.runner.interference import check_iperf3
from crosswind.runner.machines import check_machines
from crosswind.runner.notes import machine_notes
from crosswind.runner.room import lack_of_room
from crosswind.spec import Resolved
from crosswind.testbed import Agent, NotHere


def missing_for(application: Application) -> list[Missing]:
    """Return what an application needs and this machine lacks."""
    return [*type(application).missing(application.variant), *application.own_missing()]


@dataclass(frozen=True)
class Checked:
    """A testbed that can run an experiment.

    Attributes:
        rootless: whether nodes are made without root, on any machine.
        machines: where they are not on this machine.
        programs: private folders that a machine lacks.
        notes: what a user should know before the first trial.
    """

    rootless: bool
    machines: Sequence[MachineOfTestbed] = ()
    notes: Sequence[str] = ()
    programs: Sequence[Path] = ()


def preflight(resolved: Resolved) -> Checked:
    """Check that an experiment can run; start nothing but one agent on each machine, and end it.

    Raises:
        NotCarried: the experiment's backend lacks something that it asks for.
        NotHere: a program is missing, or a machine is too small; the message has the remedy.
        AgentRefused: namespaces are not allowed here; the message has the remedy.
        CrosswindError: the topology lacks a node that the application needs.
    """
    check_backend(resolved)
    application = application_of(resolved)
    kind = type(application)
    lacking = kind.roles_missing(resolved.topology.nodes)
    if lacking:
        raise CrosswindError(
            f"topology: {kind.name} needs the node{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}; "
            "add under `nodes`, such as `" + ", ".join(f"{name}: h0" for name in lacking) + "`"
        )
    if missing := missing_for(application):
        raise NotHere("\n".join(f"{item.what}; {item.remedy}" for item in missing))
    nodes_are_here = resolved.testbed is None
    if too_little := lack_of_room(application, resolved.topology.nodes, nodes_are_here=nodes_are_here):
        raise NotHere("\n".join(too_little))
    check_iperf3(
        [entry for condition in resolved.conditions for entry in condition.interference if entry.is_real]
    )
    if resolved.testbed is not None:
        checked = check_machines(resolved)
        rootless = any(machine.rootless for machine in checked.machines)
        return Checked(rootless, checked.machines, checked.notes, checked.programs)
    notes = machine_notes(resolved)  # Before the agent of this check is one of those that run.
    with Agent() as agent:
        check_disks(resolved, agent)
        return Checked(agent.hello.rootless, notes=notes)

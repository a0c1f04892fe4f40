"""Checks before a run starts: finds what would make it fail."""

from crosswind.app import Application, Missing, find
from crosswind.errors import CrosswindError
from crosswind.runner.interference import check_iperf3
from crosswind.runner.room import lack_of_room
from crosswind.spec import Resolved
from crosswind.spec.restored import restored
from crosswind.testbed import Agent, Hello, NotHere


def application_of(resolved: Resolved) -> Application:
    """Return the application of a resolved experiment with its parameters."""
    kind = find(resolved.application.name)
    return kind(restored(kind.Parameters, resolved.application.parameters))


def missing_for(application: Application) -> list[Missing]:
    """Return what an application needs and this machine lacks."""
    return [*type(application).missing(application.variant), *application.own_missing()]


def preflight(resolved: Resolved) -> Hello:
    """Check that this machine can run an experiment; start nothing but one agent, and return its greeting.

    Raises:
        NotHere: a program is missing, or the machine is too small; the message has the remedy.
        AgentRefused: namespaces are not allowed here; the message has the remedy.
        CrosswindError: the topology lacks a node that the application needs.
    """
    if resolved.testbed is not None:
        names = ", ".join(machine.name for machine in resolved.testbed.machines[:5])
        raise NotHere(
            f"testbed: ssh: this version runs trials on this machine only, and not on {names}; write "
            "testbed: local. `crosswind plan` shows what would be where"
        )
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
    if too_little := lack_of_room(application, resolved.topology.nodes):
        raise NotHere("\n".join(too_little))
    check_iperf3(
        [entry for condition in resolved.conditions for entry in condition.interference if entry.is_real]
    )
    with Agent() as agent:
        return agent.hello

"""Where the trials of an experiment run: on this machine, or on those of its testbed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crosswind.plan.placement import placement_of
from crosswind.spec import Resolved
from crosswind.testbed import (
    OpenVSwitchHere,
    RunningTestbed,
    SeveralMachines,
    ThisMachine,
    TrafficControlHere,
)
from crosswind.testbed.at_once import at_once
from crosswind.testbed.providers import provided_machines
from crosswind.testbed.ssh.place import place_of


@contextmanager
def on_machines(resolved: Resolved) -> Iterator[Resolved]:
    """Return the experiment on machines that exist: those of a provider exist while the block runs.

    Raises: NotHere, TestbedError: as `provided_machines`.
    """
    if resolved.testbed is None:
        yield resolved
        return
    with provided_machines(resolved.testbed) as testbed:
        yield resolved.model_copy(update={"testbed": testbed})


def testbed_of(resolved: Resolved, programs: Sequence[Path]) -> RunningTestbed:
    """Return where the trials of an experiment run; nothing is started there yet.

    Args:
        programs: private folders that are copied to other machines.
    Raises: NotHere: ssh knows no address of a machine; the message names it.
    """
    if (backend := resolved.backend) is not None:
        return TrafficControlHere() if backend.name == "tc" else OpenVSwitchHere(backend.police or "meter")
    placement = placement_of(resolved)
    if resolved.testbed is None or placement is None:
        return ThisMachine()
    machines = {machine.name: machine for machine in resolved.testbed.machines}
    testbed = resolved.testbed
    places = at_once(lambda name: place_of(machines[name], testbed), placement.parts)
    return SeveralMachines(places, list(placement.parts.values()), programs)

"""Rules of a testbed that need more than one of its parts, or the network."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.spec.network import Network
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding
from crosswind.spec.testbed.carried import NATIVE
from crosswind.spec.testbed.model import SSH, Machine, Ssh, Testbed
from crosswind.spec.testbed.placed import PlacedMachines
from crosswind.spec.testbed.provided import Provided, ProviderParameters
from crosswind.spec.text_lines import LineError
from crosswind.spec.topology.placing import some_of
from crosswind.text.nearest import did_you_mean

_UNUSED_INTERFACE = (
    "has no effect on UDP, which takes the interface that routes say; write `network: native` beside it in "
    "`testbed`, or remove it"
)


def testbed_findings(testbed: Testbed | Provided, network: Network | None) -> Iterator[Finding]:
    """Yield what is wrong with machines and what is placed on them, with the path inside `testbed`.

    Args:
        network: None where it has errors; then the names of hosts are not checked.
    """
    carried = testbed if isinstance(testbed, Testbed) else testbed.carried
    if carried.interface is not None and carried.network != NATIVE:
        yield ("interface",), _UNUSED_INTERFACE
    key = SSH if isinstance(testbed, Testbed) else testbed.provider
    machines = testbed.ssh if isinstance(testbed, Testbed) else testbed.parameters
    for path, message in [
        *_machine_findings(machines, network),
        *_carried_findings(machines, carried.network == NATIVE),
    ]:
        yield (key, *path), message


def _carried_findings(machines: Ssh | ProviderParameters, is_native: bool) -> Iterator[Finding]:
    """Yield what a machine says of the network that does not carry packets."""
    if not isinstance(machines, Ssh) or not isinstance(machines.hosts, list):
        return
    for number, machine in enumerate(machines.hosts):
        if not isinstance(machine, Machine):
            continue
        if is_native and machine.port is not None:
            yield (
                ("hosts", number, "port"),
                "has no effect on Ethernet without UDP; remove it, or `network: native`",
            )
        elif not is_native and machine.interface is not None:
            yield ("hosts", number, "interface"), _UNUSED_INTERFACE


def _machine_findings(machines: Ssh | ProviderParameters, network: Network | None) -> Iterator[Finding]:
    if isinstance(machines, ProviderParameters):
        findings = list(machines.findings())
        yield from findings
        if findings:
            return
    try:
        names = [machine.name for machine in machines.machines()]
    except LineError as error:
        yield ("hosts",), str(error)
        return
    if isinstance(machines, Ssh) and isinstance(machines.hosts, list):
        for index, name in enumerate(names):
            if name in names[:index]:
                yield ("hosts", index), f"{shown(name)} is given twice; name each machine once"
    for part, machine in machines.place.items():
        if machine not in names:
            remedy = did_you_mean(machine, names) or f"machines are {some_of(names)}"
            yield ("place", part), f"is on {shown(machine)}, which is not a machine; {remedy}"
    if network is not None and machines.place:
        yield from _place_findings(machines, network)


def _place_findings(machines: PlacedMachines, network: Network) -> Iterator[Finding]:
    known = [*network.switches, *network.hosts]
    for part in machines.place:
        if part in known:
            continue
        if part in network.nodes:
            yield ("place", part), f"is a node; place its host {network.nodes[part]}"
        else:
            remedy = did_you_mean(part, known) or f"choose one of {some_of(known)}"
            yield ("place", part), f"is neither a switch nor a host of the topology; {remedy}"
    placed = placed_by_hand(machines.place, network)
    if lacking := [name for name in network.switches if name not in placed]:
        yield (
            ("place",),
            f"lacks {some_of(lacking)}; place each switch, or all of its hosts on one machine, or remove "
            "`place`",
        )


def placed_by_hand(place: dict[str, str], network: Network) -> dict[str, str]:
    """Return the machine of every host and switch that `place` decides.

    A switch that it does not name is where all its hosts are; a host that it does not name is where its
    switch is.
    """
    found = dict(place)
    for switch in network.switches:
        machines = {found[host] for host in network.hosts_on(switch) if host in found}
        if switch not in found and len(machines) == 1:
            found[switch] = machines.pop()
    for host in network.hosts:
        if host not in found and (switch := network.switch_of(host)) in found:
            found[host] = found[switch]
    return found

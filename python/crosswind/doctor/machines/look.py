"""Look at machines over ssh, all at once: what each is, its way to the others, and whether an agent works."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field

from crosswind.doctor.finding import Finding, FindingVerdict, missing
from crosswind.doctor.machines.check import Needs, findings_of
from crosswind.doctor.machines.facts import PEERS_S, RemoteFacts, facts_from, script_for
from crosswind.spec.resolved import ResolvedMachine, ResolvedTestbed
from crosswind.testbed import Agent, Hello, TestbedError
from crosswind.testbed.ssh import SshTransport

_AT_ONCE = 32
_SCRIPT_S = 30 + 2 * PEERS_S


@dataclass(frozen=True)
class LookedAt:
    """A machine and what was found.

    Attributes:
        reachable_ms: how long it took to run nothing there; None: it was not reached.
        hello: of its agent; None: no agent works there.
        address: where packets of the other machines arrive.
    """

    machine: ResolvedMachine
    reachable_ms: float | None = None
    hello: Hello | None = None
    facts: RemoteFacts = field(default_factory=RemoteFacts)
    findings: tuple[Finding, ...] = ()
    address: str | None = None

    @property
    def ready(self) -> bool:
        """Whether it can carry its part."""
        return all(finding.verdict != FindingVerdict.MISSING for finding in self.findings)

    def as_dict(self) -> dict[str, object]:
        """Return it as plain values, for `--json`."""
        rates = self.facts.interfaces_bps
        interfaces = None if rates is None else {name: each.model_dump() for name, each in rates.items()}
        return {
            "machine": self.machine.name,
            "ready": self.ready,
            "reachable_ms": self.reachable_ms,
            "agent": None if self.hello is None else self.hello.model_dump(),
            "facts": {**asdict(self.facts), "interfaces_bps": interfaces},
            "findings": [asdict(finding) for finding in self.findings],
        }


def look_at_machines(
    testbed: ResolvedTestbed, needs: Mapping[str, Needs], *, ways: bool = True
) -> list[LookedAt]:
    """Return what was found on each machine.

    Args:
        needs: of an experiment, by machine; empty without one.
        ways: also measure the way from each machine to the others over IP, which takes seconds.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        addresses = dict(
            zip(
                (machine.name for machine in testbed.machines),
                pool.map(_address, testbed.machines),
                strict=True,
            )
        )
        return list(
            pool.map(
                lambda machine: _look(machine, testbed, addresses, needs.get(machine.name), ways),
                testbed.machines,
            )
        )


def _address(machine: ResolvedMachine) -> str | Finding:
    """Return where its packets arrive, or what is wrong with that."""
    if machine.address is not None:
        return machine.address
    try:
        return SshTransport.of(machine).address()
    except TestbedError as error:
        return missing("address", _after_host(error, machine), "write its `address` in the testbed")


def _look(
    machine: ResolvedMachine,
    testbed: ResolvedTestbed,
    addresses: Mapping[str, str | Finding],
    needs: Needs | None,
    ways: bool,
) -> LookedAt:
    transport = SshTransport.of(machine)
    own = addresses[machine.name]
    began = time.monotonic()
    try:
        transport.run(":\n", _SCRIPT_S)
    except TestbedError as error:
        found = missing("ssh", _after_host(error, machine), f"make `ssh {machine.name} true` work")
        return LookedAt(machine, findings=(found,))
    reachable_ms = (time.monotonic() - began) * 1e3
    peers = {
        name: address
        for name, address in addresses.items()
        if ways and name != machine.name and isinstance(address, str)
    }
    findings = [own] if isinstance(own, Finding) else []
    facts, hello = RemoteFacts(), None
    try:
        places = [str(file.path) for file in needs.files] if needs is not None else []
        printed = transport.run(script_for(peers, places), _SCRIPT_S)
        facts = facts_from(printed, list(peers), places)
        findings += findings_of(facts, machine, testbed, needs)
        with Agent(transport) as agent:
            hello = agent.hello
    except TestbedError as error:
        findings.append(missing("agent", _after_host(error, machine), "follow the message"))
    address = own if isinstance(own, str) else None
    return LookedAt(machine, reachable_ms, hello, facts, tuple(findings), address)


def _after_host(error: TestbedError, machine: ResolvedMachine) -> str:
    """Return a message without the name of the machine, which stands in front of it already."""
    return str(error).removeprefix(f"host {machine.name}: ").removeprefix(f"agent on {machine.name}: ")

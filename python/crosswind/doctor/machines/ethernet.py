"""Let machines meet over raw Ethernet: whether each may use it, and whether frames come from all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from crosswind.doctor.finding import Finding, missing
from crosswind.doctor.machines.check import slow_way
from crosswind.doctor.machines.facts import PeerPath
from crosswind.doctor.machines.look import LookedAt
from crosswind.spec.resolved import ResolvedTestbed
from crosswind.testbed import Agent, TestbedError
from crosswind.testbed.at_once import at_once
from crosswind.testbed.errors import AgentRefused
from crosswind.testbed.join import MachineAt, bind, introduce, meet
from crosswind.testbed.replies import Bound, MetPeer
from crosswind.testbed.ssh.place import place_of

_NAME = "network: native"


def met_over_ethernet(testbed: ResolvedTestbed, found: Sequence[LookedAt]) -> list[LookedAt]:
    """Return machines with the ways between them over raw Ethernet, and what they lack for it.

    Those that are not ready are left out. It takes two seconds.
    """
    able = [number for number, each in enumerate(found) if each.ready and each.address is not None]
    result = list(found)
    if len(found) < 2 or not able:
        return result
    places = [place_of(found[number].machine, testbed) for number in able]
    with ExitStack() as stack:
        agents = at_once(lambda place: Agent(place.transport), places, Agent.close)
        for agent in agents:
            stack.enter_context(agent)
        bound = at_once(lambda at: _bound(places[at], agents[at]), range(len(able)))
        for number, socket in zip(able, bound, strict=True):
            if isinstance(socket, Finding):
                result[number] = _with(result[number], [socket])
        joined = [at for at, one in enumerate(bound) if isinstance(one, Bound)]
        for at, peers in _met(places, agents, bound, joined).items():
            number = able[at]
            if isinstance(peers, Finding):
                result[number] = _with(result[number], [peers])
            else:
                facts = replace(result[number].facts, peers=peers)
                result[number] = replace(
                    _with(result[number], list(ethernet_findings(peers, testbed))), facts=facts
                )
    return result


def ethernet_findings(peers: dict[str, PeerPath], testbed: ResolvedTestbed) -> Iterator[Finding]:
    """Yield what is wrong with the ways from a machine to others over raw Ethernet."""
    for name, peer in peers.items():
        if peer.answered == "none":
            yield missing(
                f"way to {name}",
                "no frame came there and back",
                "write `interface` with those of one layer-2 network, and let its switches carry EtherType "
                "0x88B5; port security of a cloud may drop it",
            )
        elif peer.answered == "short":
            yield missing(
                f"way to {name}",
                f"frames with {peer.mtu_bytes} bytes do not come from there, short ones do",
                "set the MTU of the interfaces to what the switches between them carry",
            )
        yield from slow_way(name, peer, testbed)


def _bound(place: MachineAt, agent: Agent) -> Bound | Finding:
    try:
        return bind(place, agent)
    except AgentRefused as error:
        return _lack(error, place.name)


def _met(
    places: Sequence[MachineAt],
    agents: Sequence[Agent],
    bound: Sequence[Bound | Finding],
    joined: Sequence[int],
) -> dict[int, dict[str, PeerPath] | Finding]:
    """Return the ways from each machine that has a socket, or why there are none."""
    if len(joined) < 2:
        return {}
    sockets = [one for one in bound if isinstance(one, Bound)]
    names = [places[at].name for at in joined]
    some = [agents[at] for at in joined]
    try:
        introduce([places[at] for at in joined], some, sockets)
        meetings = meet(some)
    except TestbedError as error:
        return {at: _lack(error, places[at].name) for at in joined}
    ways: dict[int, dict[str, PeerPath] | Finding] = {}
    for own, (at, meeting) in enumerate(zip(joined, meetings, strict=True)):
        paths = {peer.domain: _path(peer) for peer in meeting.peers}
        nothing = PeerPath(None, "none", None)
        ways[at] = {name: paths.get(other, nothing) for other, name in enumerate(names) if other != own}
    return ways


def _path(peer: MetPeer) -> PeerPath:
    whole = peer.longest_datagram >= peer.largest_size
    answered = "none" if peer.round_trip_ns is None else "whole" if whole else "short"
    return PeerPath(peer.largest_size, answered, peer.round_trip_ns)


def _lack(error: TestbedError, machine: str) -> Finding:
    refused = f"agent on {machine} refused 'bind': bind: "
    what, _, remedy = str(error).removeprefix(refused).rpartition("; ")
    return missing(_NAME, what, remedy)


def _with(found: LookedAt, findings: Sequence[Finding]) -> LookedAt:
    return replace(found, findings=(*found.findings, *findings))

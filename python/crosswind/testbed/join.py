"""Agents of several machines get to know each other: where each receives datagrams, and who the others are.

Datagrams go to no address that a machine makes up: over UDP it is the one that was named, and over Ethernet
that of one interface, which no other machine has.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from crosswind.testbed.agent import Agent
from crosswind.testbed.at_once import at_once
from crosswind.testbed.bounded import plain
from crosswind.testbed.errors import AgentDied, NotHere
from crosswind.testbed.replies import Bound, Meeting, Reply
from crosswind.testbed.transport import Transport

_HARDWARE_ADDRESS = re.compile(r"[0-9a-f][02468ace](:[0-9a-f]{2}){5}")
_NOBODY = "00:00:00:00:00:00"
# Others begin to meet as much later as their agents take for a request.
MEET_NS = 1_500_000_000
_REINSTALL = "reinstall so that the agent and this crosswind come from the same version"


@dataclass(frozen=True)
class Native:
    """Datagrams are frames of an Ethernet interface; None: the one with the machine's address."""

    interface: str | None = None


@dataclass(frozen=True)
class MachineAt:
    """A machine that carries a part of a network.

    Attributes:
        name: in messages and results.
        transport: how its agent is started.
        address: of its own, where datagrams of the others arrive.
        port: for these; None: one that is free.
        native: they are frames of Ethernet; None: UDP.
    """

    name: str
    transport: Transport
    address: str
    port: int | None = None
    native: Native | None = None


def join(places: Sequence[MachineAt], agents: Sequence[Agent]) -> list[Bound]:
    """Let the agents of a run know each other; return where each receives datagrams.

    Raises: NotHere: interfaces are not of one layer-2 network, as their addresses or MTUs show.
    """
    bound = at_once(lambda at: bind(places[at], agents[at]), range(len(places)))
    introduce(places, agents, bound)
    return bound


def introduce(places: Sequence[MachineAt], agents: Sequence[Agent], bound: Sequence[Bound]) -> None:
    """Let agents whose sockets are open know each other, as in `join`."""
    _check_ethernet(places, bound)
    run, key = secrets.randbits(63), secrets.token_hex(32)

    def join_one(domain: int) -> Reply:
        peers = [
            {"domain": other, "address": at.address} for other, at in enumerate(bound) if other != domain
        ]
        fields = {"domain": domain, "run": run, "key": key, "peers": peers}
        return agents[domain].request("join", Reply, fields)

    at_once(join_one, range(len(agents)))


def meet(agents: Sequence[Agent]) -> list[Meeting]:
    """Let agents that have joined exchange datagrams for a while; return what each got from the others."""
    return at_once(lambda agent: agent.request("meet", Meeting, {"for_ns": MEET_NS}), agents)


def bind(place: MachineAt, agent: Agent) -> Bound:
    """Open a machine's socket; the others send there, so it must be at the address that was named.

    Raises:
        AgentRefused: the machine has no such address or interface, or no right to use it.
        AgentDied: the agent's socket is somewhere else.
    """
    fields: dict[str, object] = {"address": place.address}
    if place.native is not None:
        fields["network"] = "native"
        if place.native.interface is not None:
            fields["interface"] = place.native.interface
    elif place.port is not None:
        fields["port"] = place.port
    bound = agent.request("bind", Bound, fields)
    is_right = _is_of_one(bound) if place.native is not None else _is_at(bound, place.address)
    if not is_right:
        where = "an Ethernet interface" if place.native is not None else place.address
        raise AgentDied(
            f"{agent.title}: its socket is at {plain(bound.address)} and not at {where}; {_REINSTALL}"
        )
    return bound


def _is_at(bound: Bound, named: str) -> bool:
    host, _, port = bound.address.rpartition(":")
    return host.strip("[]") == str(ipaddress.ip_address(named)) and port.isdecimal()


def _is_of_one(bound: Bound) -> bool:
    """Return whether a hardware address is that of one interface; a group has an odd first byte."""
    return _HARDWARE_ADDRESS.fullmatch(bound.address) is not None and bound.address != _NOBODY


def _check_ethernet(places: Sequence[MachineAt], bound: Sequence[Bound]) -> None:
    first: dict[str, str] = {}
    for place, at in zip(places, bound, strict=True):
        if place.native is None:
            continue
        if at.address in first:
            raise NotHere(
                f"machines {first[at.address]} and {place.name}: both have the Ethernet address "
                f"{at.address}; name each machine once, and give each interface an address of its own"
            )
        first[at.address] = place.name
        if at.mtu_bytes != bound[0].mtu_bytes:
            raise NotHere(
                f"machines {places[0].name} and {place.name}: their interfaces have MTUs of "
                f"{bound[0].mtu_bytes} and {at.mtu_bytes} bytes; give all machines of one layer-2 network "
                "the same"
            )

"""The suite: which families are asked, in which order, and how a run of it becomes a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosswind.certify.certificate import Certificate
from crosswind.certify.claim import Claim, not_measured
from crosswind.certify.live import changes as live_changes
from crosswind.certify.live import delay as live_delay
from crosswind.certify.live import queueing as live_queueing
from crosswind.certify.live import rates, replayed
from crosswind.certify.live import schedulers as live_schedulers
from crosswind.certify.quiet import Tries
from crosswind.certify.virtual import (
    buckets,
    changes,
    credits,
    delays,
    early_drops,
    interference,
    links,
    losses,
    order,
    queueing,
    schedulers,
)
from crosswind.machine.provenance import provenance
from crosswind.testbed import Agent, RunningFabric, TestbedError, WorkFolder, find_binary
from crosswind.testbed.binaries import AGENT, LOAD, SIMULATE, binary_version
from crosswind.testbed.plain import plain_fabric

# Seeds are fixed in each family, so that virtual claims give the same figures everywhere.
SEED = 0


@dataclass(frozen=True)
class Family:
    """Claims that are measured together; `doing` says in a few words what is being done."""

    name: str
    doing: str
    claims: Callable[[], Iterator[Claim]]


def virtual_families() -> list[Family]:
    """Return what is asked of the engine alone."""
    return [
        Family(module.FAMILY, f"{module.FAMILY}, in virtual time", module.claims)
        for module in (
            links,
            changes,
            buckets,
            credits,
            schedulers,
            queueing,
            early_drops,
            interference,
            delays,
            losses,
            order,
        )
    ]


def live_families(wait_mode: str, tries: Tries) -> list[Family]:
    """Return what is asked of this machine; `wait_mode` is how its emulator waits."""
    return [
        Family(
            live_delay.FAMILY, "delays beside a bare veth pair", lambda: live_delay.claims(wait_mode, tries)
        ),
        Family(rates.RATES, "rates and bursts", lambda: rates.claims(tries)),
        Family(live_changes.FAMILY, "changes of capacity", lambda: live_changes.claims(tries)),
        Family(schedulers.FAMILY, "schedulers and their shares", lambda: live_schedulers.claims(tries)),
        Family(queueing.FAMILY, "waiting behind Poisson arrivals", lambda: live_queueing.claims(tries)),
        Family(replayed.FAMILY, "every element and source, live and replayed", replayed.claims),
    ]


def certify(say: Callable[[str], None]) -> Certificate:
    """Run the whole suite, in one to two minutes.

    Args:
        say: is told what is being done, in a few words each time.
    """
    began = time.monotonic()
    tools = {name: binary_version(find_binary(name)) for name in (AGENT, LOAD, SIMULATE)}
    before = provenance(Path.cwd(), SEED, tools).as_json()
    claims = list(_ask(virtual_families(), "virtual", say))
    say("bringing two nodes up")
    tries = Tries()
    try:
        wait_mode: str | None = _wait_mode()
    except TestbedError as error:
        wait_mode = None
        claims.append(not_measured("live", "a fabric of two nodes", "live", "nodes", "of two", str(error)))
    if wait_mode is not None:
        claims += _ask(live_families(wait_mode, tries), "live", say)
    return Certificate(claims, before, time.monotonic() - began, wait_mode, tries.all)


def _ask(families: Sequence[Family], clock: str, say: Callable[[str], None]) -> Iterator[Claim]:
    for number, family in enumerate(families, 1):
        say(f"{clock} {number}/{len(families)}: {family.doing}")
        try:
            yield from family.claims()
        except TestbedError as error:
            # One family that could not be measured does not take the others with it.
            yield not_measured(family.name, family.doing, clock, "", "known answers", str(error))


def _wait_mode() -> str:
    with (
        WorkFolder() as work,
        Agent() as agent,
        RunningFabric(agent, plain_fabric(), work.path / "logs") as fabric,
    ):
        return fabric.wait_mode

"""The suites: families of claims in their order, and the run that makes a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosswind.certify.certificate import Certificate, SuiteName
from crosswind.certify.claim import Claim, not_measured
from crosswind.certify.conformance import linux_forwarding, rfc2544, rfc7928, rfc8867, rfc9971
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

# Each family has fixed seeds, so virtual claims have the same figures on every machine.
SEED = 0


@dataclass(frozen=True)
class Family:
    """Claims that are measured together; `doing` describes the work in a few words, for progress."""

    name: str
    doing: str
    claims: Callable[[], Iterator[Claim]]


def virtual_families() -> list[Family]:
    """Return the families that are measured in virtual time, on the engine alone."""
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
    """Return the families that are measured on this machine; `wait_mode` is how its emulator waits."""
    return [
        Family(
            live_delay.FAMILY,
            "delays, compared with a bare veth pair",
            lambda: live_delay.claims(wait_mode, tries),
        ),
        Family(rates.RATES, "rates and bursts", lambda: rates.claims(tries)),
        Family(live_changes.FAMILY, "changes of capacity", lambda: live_changes.claims(tries)),
        Family(schedulers.FAMILY, "schedulers and their shares", lambda: live_schedulers.claims(tries)),
        Family(queueing.FAMILY, "waiting behind Poisson arrivals", lambda: live_queueing.claims(tries)),
        Family(replayed.FAMILY, "every element and source, live and replayed", replayed.claims),
    ]


def conformance_families() -> list[Family]:
    """Return the families of criteria that others wrote that are measured in virtual time."""
    return [
        Family(module.FAMILY, f"{module.FAMILY}, in virtual time", module.claims)
        for module in (linux_forwarding, rfc8867, rfc7928)
    ]


def conformance_live_families(_: str, tries: Tries) -> list[Family]:
    """Return the families of criteria that others wrote that are measured on this machine."""
    return [
        Family(rfc2544.FAMILY, rfc2544.FAMILY, lambda: rfc2544.claims(tries)),
        Family(rfc9971.FAMILY, rfc9971.FAMILY, lambda: rfc9971.claims(tries)),
    ]


def certify(suite: SuiteName, say: Callable[[str], None]) -> Certificate:
    """Run a whole suite, in two to four minutes.

    Args:
        say: is called with a few words for each step, to show progress.
    """
    virtual, live = {
        "emulation": (virtual_families(), live_families),
        "conformance": (conformance_families(), conformance_live_families),
    }[suite]
    began = time.monotonic()
    tools = {name: binary_version(find_binary(name)) for name in (AGENT, LOAD, SIMULATE)}
    before = provenance(Path.cwd(), SEED, tools).as_json()
    claims = list(_measure(virtual, "virtual", say))
    tries = Tries()
    wait_mode: str | None = None
    say("bringing two nodes up")
    try:
        wait_mode = _wait_mode()
    except TestbedError as error:
        claims.append(
            not_measured(
                "live", "a fabric of two nodes", "live", "nodes", "two nodes must come up", str(error)
            )
        )
    else:
        claims += _measure(live(wait_mode, tries), "live", say)
    return Certificate.of(claims, before, time.monotonic() - began, wait_mode, tries.all, suite)


def _measure(families: Sequence[Family], clock: str, say: Callable[[str], None]) -> Iterator[Claim]:
    for number, family in enumerate(families, 1):
        say(f"{clock} {number}/{len(families)}: {family.doing}")
        try:
            yield from family.claims()
        except TestbedError as error:
            # The other families are measured all the same.
            yield not_measured(family.name, family.doing, clock, "", "known answers", str(error))


def _wait_mode() -> str:
    with (
        WorkFolder() as work,
        Agent() as agent,
        RunningFabric(agent, plain_fabric(), work.path / "logs") as fabric,
    ):
        return fabric.wait_mode

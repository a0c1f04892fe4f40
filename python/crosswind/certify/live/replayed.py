"""Claims: a replay in virtual time makes the same decisions as the live emulator, for every element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.elements import ELEMENTS, INTERFERED_BPS, INTERFERENCE, OFFERED_BPS, OFFERED_S
from crosswind.probe.flood import flood_fabric
from crosswind.results.measurement import Conservation
from crosswind.simulation import replay
from crosswind.simulation.replayed import Agreement
from crosswind.simulation.virtual import SimulatorRefusal
from crosswind.spec import FabricSpec
from crosswind.testbed import TestbedError, WorkFolder
from crosswind.testbed.plain import plain_fabric

FAMILY = "live against virtual"
CONSERVATION = "conservation"
# 400 packets are offered, with at least one decision each. With too few decisions agreement means nothing.
DECISIONS_MIN = 300


def claims() -> Iterator[Claim]:
    """Yield claims on decisions that differ, for each element and source; then on conservation."""
    accounts = {}
    for name, fabric in fabrics().items():
        with WorkFolder() as work:
            recording = work.path / "live.cwr"
            _, measurement = flood_fabric(fabric, OFFERED_BPS, OFFERED_S, recording)
            compared = _compare(recording)
        accounts[name] = measurement.conservation
        yield agreement(name, compared)
    for name, account in accounts.items():
        yield at_most(
            CONSERVATION,
            f"{name}: packets unaccounted for",
            "live",
            _unaccounted(account),
            0,
            "packets",
            "every packet departed, was dropped with a reason, or is still inside",
        )


def agreement(name: str, compared: Agreement) -> Claim:
    """Return the claim that a replay decides as the live run did; undecided after too few decisions."""
    decisions, different = compared.decisions, compared.different
    too_few = f"only {decisions} decisions were recorded; at least {DECISIONS_MIN} are needed"
    return at_most(
        FAMILY,
        f"{name}: decisions that differ",
        "live",
        different,
        0,
        "decisions",
        "the same engine under two clocks, at the instants that the live run recorded",
        # A difference counts, however few decisions there are.
        disturbed=too_few if decisions < DECISIONS_MIN and not different else "",
        remark=compared.first_difference or "",
        details={"decisions": decisions},
    )


def fabrics() -> Mapping[str, FabricSpec]:
    """Return a fabric for each element and for each kind of interference, by name."""
    buffer_bytes, seed = 30_000, 7
    by_name = {
        name: plain_fabric(
            rate_bps=line.uplink_bps,
            buffer_bytes=buffer_bytes,
            places={line.place: line.elements},
            seed=seed,
        )
        for name, line in ELEMENTS.items()
    }
    plain = plain_fabric(rate_bps=INTERFERED_BPS, buffer_bytes=buffer_bytes, seed=seed)
    for name, source in INTERFERENCE.items():
        by_name[name] = plain.beside(source)
    return by_name


def _compare(recording: Path) -> Agreement:
    try:
        compared = replay(recording, condition=None, packets=None).comparison
    except SimulatorRefusal as error:
        raise TestbedError(f"the recording cannot be replayed: {error}") from None
    assert compared is not None, "a replay under the recorded condition is compared"
    return compared


def _unaccounted(account: Conservation) -> int:
    """Return how many packets are missing or extra, real and ghost packets together."""
    came, doubled, out, dropped, inside = (
        part.real + part.ghost
        for part in (account.entered, account.duplicated, account.out, account.dropped, account.inside)
    )
    return abs(came + doubled - out - dropped - inside)

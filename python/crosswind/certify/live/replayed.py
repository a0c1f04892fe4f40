"""What the emulator decided live is what the virtual clock decides, for every element and source."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.elements import ELEMENTS, INTERFERED_BPS, INTERFERENCE, OFFERED_BPS, OFFERED_S
from crosswind.probe.flood import flood_fabric
from crosswind.results.measurement import Conservation
from crosswind.spec import FabricSpec, ResolvedInterference
from crosswind.testbed import TestbedError, WorkFolder, find_binary
from crosswind.testbed.binaries import SIMULATE
from crosswind.testbed.plain import plain_fabric

FAMILY = "live against virtual"
CONSERVATION = "conservation"
# 400 packets are offered, each at least one decision. A recording of hardly any would agree for want of them.
DECISIONS_MIN = 300
_REPLAY_S = 60.0


def claims() -> Iterator[Claim]:
    """Yield the decisions that differ, for each element and source; then the packets unaccounted for."""
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
            f"{name}: unaccounted for",
            "live",
            _unaccounted(account),
            0,
            "packets",
            "what went in came out, was dropped for a reason, or is inside",
        )


def agreement(name: str, compared: Mapping[str, Any]) -> Claim:
    """Return the claim about a live run and its replay, which says nothing where too little was decided.

    Args:
        compared: `decisions`, how many of them are `different`, and the `first_difference` or null.
    """
    decisions, different = compared["decisions"], compared["different"]
    too_few = f"only {decisions} decisions were recorded; {DECISIONS_MIN} are asked for"
    return at_most(
        FAMILY,
        f"{name}: decided otherwise",
        "live",
        different,
        0,
        "decisions",
        "one engine under two clocks, from the instants that the live one recorded",
        # A difference among few is a difference all the same.
        disturbed=too_few if decisions < DECISIONS_MIN and not different else "",
        remark=compared["first_difference"] or "",
        details={"decisions": decisions},
    )


def fabrics() -> Mapping[str, FabricSpec]:
    """Return a fabric for each element and for each kind of interference, by name."""
    buffer_bytes, seed = 30_000, 7
    by_name = {
        name: plain_fabric(rate_bps=rate_bps, buffer_bytes=buffer_bytes, places={place: elements}, seed=seed)
        for name, (place, elements, rate_bps) in ELEMENTS.items()
    }
    beside = plain_fabric(rate_bps=INTERFERED_BPS, buffer_bytes=buffer_bytes, seed=seed)
    for name, source in INTERFERENCE.items():
        by_name[name] = beside.beside(ResolvedInterference.model_validate(source))
    return by_name


def _compare(recording: Path) -> Mapping[str, Any]:
    done = subprocess.run(
        [str(find_binary(SIMULATE)), "replay", str(recording)],
        capture_output=True,
        text=True,
        timeout=_REPLAY_S,
        check=False,
    )
    if done.returncode != 0:
        raise TestbedError(f"the recording cannot be replayed: {done.stderr.strip()}")
    comparison: Mapping[str, Any] = json.loads(done.stdout)["comparison"]
    return comparison


def _unaccounted(account: Conservation) -> int:
    """Return how far the account is from even, real and ghost packets together."""
    came, doubled, out, dropped, inside = (
        part.real + part.ghost
        for part in (account.entered, account.duplicated, account.out, account.dropped, account.inside)
    )
    return abs(came + doubled - out - dropped - inside)

"""All pairs of a testbed as one document, written and read (docs/reference/contracts.md, section 9)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError

from crosswind.analysis.network.document import FingerprintDocument, NotAFingerprint
from crosswind.analysis.network.ip_bits import TCP_HEADERS_BYTES
from crosswind.analysis.network.part import FingerprintPart, problem_of
from crosswind.analysis.network.transfers import SentPart
from crosswind.fingerprint.between.direction import Direction
from crosswind.spec.read_file import read_file

SCHEMA = 1
# In the folder of a measurement.
FILE = "between.json"


class BetweenMachine(FingerprintPart):
    """A machine of the testbed.

    Attributes:
        address: at which the others reach it.
        host, tenant: what the inventory says of where it is and whose; None where it does not.
    """

    name: str
    address: str | None = None
    host: str | None = None
    tenant: str | None = None


class PairFigures(FingerprintPart):
    """From one machine to another; None where it was not measured.

    Attributes:
        ended: why the measurement ended early; None where it is complete.
        note: what to know of its clocks.
        file: the pair's fingerprint in the same folder.
        delay_ns, delay_p99_ns: one-way, median and 99th percentile.
        bound_ns: neither of them is wrong by more.
        jitter_ns: half of what lies between the 16th and the 84th percentile of the delays.
        round_trip_ns: median.
        loss: share of packets, in [0, 1].
        goodput_bps: payload of TCP.
        wire_bps: the same with all headers, preambles and gaps of Ethernet.
    """

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    ended: str | None = None
    note: str | None = None
    file: str | None = None
    delay_ns: float | None = None
    delay_p99_ns: float | None = None
    bound_ns: float | None = None
    jitter_ns: float | None = None
    round_trip_ns: float | None = None
    loss: float | None = None
    goodput_bps: float | None = None
    wire_bps: float | None = None


class BetweenDocument(FingerprintPart):
    """All ordered pairs of a testbed's machines.

    Attributes:
        rounds: how many there were; no machine was in two measurements at once.
        left_out: machines without a complete row and column, which the matrices lack.
        provenance: of the machine that measured.
    """

    schema_version: int = Field(alias="schema")
    machines: list[BetweenMachine]
    rounds: int
    pairs: list[PairFigures]
    left_out: list[str] = Field(default_factory=list)
    sent: SentPart | None = None
    provenance: dict[str, JsonValue] = Field(default_factory=dict)

    def pair(self, source: str, target: str) -> PairFigures | None:
        """Return what was found from one machine to another; None where nothing was tried."""
        return next((it for it in self.pairs if (it.source, it.target) == (source, target)), None)


def figures_of(found: Direction, document: FingerprintDocument, file: str | None) -> PairFigures:
    """Return the figures of one direction.

    Args:
        document: its fingerprint.
        file: of the fingerprint, where it is stored.
    """
    delay, idle = document.delay, document.round_trip.idle
    goodput_bps = max((number.goodput_bps.median for number in document.capacity), default=None)
    return PairFigures(
        source=found.source,
        target=found.target,
        ended=found.ended,
        note=found.delays.note if found.delays else None,
        file=file,
        delay_ns=delay.one_way_ns.get("p50") if delay else None,
        delay_p99_ns=delay.one_way_ns.get("p99") if delay else None,
        bound_ns=delay.bound_ns if delay else None,
        jitter_ns=found.jitter_ns,
        round_trip_ns=idle.ns.get("p50") if idle else None,
        loss=delay.lost / delay.packets if delay else None,
        goodput_bps=goodput_bps,
        wire_bps=None if goodput_bps is None else goodput_bps * wire_share(found.mss_bytes),
    )


# Header, checksum, preamble and gap of Ethernet (`crates/engine/src/packet.rs`).
_ETHERNET_BYTES = 14 + 4 + 8 + 12


def wire_share(mss_bytes: int) -> float:
    """Return the bytes on the wire per byte of payload, in full segments."""
    return (mss_bytes + TCP_HEADERS_BYTES + _ETHERNET_BYTES) / mss_bytes


def complete_names(names: Sequence[str], pairs: Sequence[PairFigures]) -> list[str]:
    """Return machines of which every ordered pair has all figures: as many as are easily found.

    The machine that lacks most is left out until none lacks anything.
    """
    whole = {
        (it.source, it.target)
        for it in pairs
        if None not in (it.delay_ns, it.jitter_ns, it.loss) and it.ended is None
    }
    left = list(names)
    while True:
        lacking = {
            name: sum(
                ((name, other) not in whole) + ((other, name) not in whole) for other in left if other != name
            )
            for name in left
        }
        worst = max(left, key=lambda name: lacking[name], default=None)
        if worst is None or not lacking[worst]:
            return left if len(left) > 1 else []
        left.remove(worst)


def read_between(folder: Path) -> BetweenDocument:
    """Return the document of a folder.

    Raises: NotAFingerprint: there is none, or it is damaged, or of a later schema.
    """
    path = folder / FILE
    try:
        content = read_file(path)
        schema = json.loads(content).get("schema")
    except OSError as error:
        raise NotAFingerprint(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, AttributeError, RecursionError) as error:
        raise NotAFingerprint(f"{path}: is no whole JSON object ({error}); is the file cut off?") from None
    if schema != SCHEMA:
        raise NotAFingerprint(f"{path}: has schema {schema}, and this version reads {SCHEMA}")
    try:
        return BetweenDocument.model_validate_json(content)
    except ValidationError as error:
        raise NotAFingerprint(f"{path}: {problem_of(error)}; was the file edited?") from None

"""What was found from one machine to another, and the document that stores it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from crosswind.analysis.network.document import SCHEMA, FingerprintDocument
from crosswind.analysis.network.ip_bits import TCP_SEGMENT_BYTES
from crosswind.analysis.network.transfers import DelayPart, RoundTripPart, RoundTripsPart, SentPart
from crosswind.fingerprint.between.delays import PairDelays
from crosswind.fingerprint.fingerprint import quantiles_of
from crosswind.fingerprint.measure.bulk import Bulk
from crosswind.fingerprint.measure.capacity import by_number
from crosswind.stats import quantile

# Half of what lies between them is one standard deviation of a normal distribution.
_ONE_BELOW, _ONE_ABOVE = 0.158_655, 0.841_345


@dataclass
class Direction:
    """What was found from one machine to another, as far as it was measured.

    Attributes:
        transfers: each with its number of connections.
        mss_bytes: payload of their full segments.
        ended: why it ended early; None where it is complete.
    """

    source: str
    target: str
    delays: PairDelays | None = None
    transfers: list[tuple[int, Bulk]] = field(default_factory=list)
    mss_bytes: int = TCP_SEGMENT_BYTES
    ended: str | None = None

    @property
    def jitter_ns(self) -> float | None:
        """Half of what lies between the 16th and the 84th percentile of the delays.

        For normal delays it is their standard deviation, which a few very late packets would change.
        """
        if self.delays is None or not self.delays.delay_ns:
            return None
        low, high = (quantile(self.delays.delay_ns, share) for share in (_ONE_BELOW, _ONE_ABOVE))
        return (high - low) / 2

    def document(self, provenance: dict[str, JsonValue]) -> FingerprintDocument:
        """Return it as a fingerprint, for every verb that reads one.

        Args:
            provenance: of the machine that measured.
        """
        found = FingerprintDocument(
            schema_version=SCHEMA,
            ended=self.ended,
            between=(self.source, self.target),
            capacity=[number.part() for number in by_number(self.transfers)],
            sent=SentPart(sent_bytes=sum(bulk.moved_bytes for _, bulk in self.transfers)),
            provenance=provenance,
        )
        parts: dict[str, object] = {}
        if (delays := self.delays) is not None:
            parts["delay"] = DelayPart(
                packets=delays.sent,
                lost=delays.lost,
                one_way_ns=quantiles_of(delays.delay_ns),
                each_ns=list(delays.delay_ns),
                bound_ns=delays.bound_ns,
            )
            parts["round_trip"] = RoundTripPart(
                idle=RoundTripsPart(
                    messages=delays.sent,
                    failed=delays.sent - len(delays.round_trip_ns),
                    ns=quantiles_of(delays.round_trip_ns),
                    each_ns=list(delays.round_trip_ns),
                )
            )
        if self.transfers:
            parts["bulk"] = max((bulk for _, bulk in self.transfers), key=lambda it: it.goodput_bps).part()
        return found.model_copy(update=parts)

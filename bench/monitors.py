"""The cost of monitors on every packet: one TCP stream with and without them, in turns."""

from collections.abc import Iterator, Sequence

from bench.figures import Figure, figure
from bench.throughput import BUFFER_BYTES, TEN_GIGABIT, goodput, stream
from crosswind.probe.pairs import over_fabric
from crosswind.spec.resolved import SentElement
from crosswind.testbed.plain import plain_fabric

ENGINE = (
    *("utilisation", "packet-rate", "packet-size", "ipg", "burst"),
    *("queue-depth", "queue-delay", "drops"),
)
HEADERS = ("flow-size", "tcp-window", "rtt", "retransmissions", "reordering")


def monitors(rounds: int) -> Iterator[Figure]:
    """Yield the goodput through links of 10 Gbit/s with a monitor at each, as a ratio to none."""
    for title, what in (("what the engine sees", ENGINE), ("that and headers", (*ENGINE, *HEADERS))):
        ratios = []
        for number in range(rounds):
            rates = {}
            # In turns, so that other work on the machine affects both.
            for watched in (True, False) if number % 2 else (False, True):
                places = {"link": [_monitor(what)]} if watched else None
                spec = plain_fabric(
                    rate_bps=TEN_GIGABIT,
                    buffer_bytes=BUFFER_BYTES,
                    socket_buffer_bytes=BUFFER_BYTES,
                    places=places,
                )
                rates[watched], _ = over_fabric(stream(), goodput, spec)
            ratios.append(rates[True] / rates[False])
        yield figure(f"TCP goodput with monitors of {title}, against none", "ratio", ratios, "at least 0.95")


def _monitor(what: Sequence[str]) -> SentElement:
    return {
        "monitor": {
            "what": list(what),
            "window_ns": 1_000_000,
            "burst_gap_ns": 100,
            "match": {},
            "start": {"after_ns": 0},
        }
    }

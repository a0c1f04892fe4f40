"""Read the output of `nuttcp -fparse`. Pure.

The output has one line of `key=value` pairs for the whole transfer. In nuttcp, mega means 2^20 for bytes but
10^6 for bits. Errors are printed on standard error, and some do not change the client's exit status; a
transfer without its line has no result. `retrans` is ignored: nuttcp 6.1.2 always prints 0
(captured/tcp-policed.txt: 0 instead of 386).
"""

import re
from dataclasses import dataclass

from crosswind.app.client_server import OutputError

MEBI = 1 << 20
_INTERVAL = ("megabytes", "real_sec", "rate_Mbps")
_PAIR = re.compile(r"(\w+)=([-+0-9.eE]+)")


@dataclass(frozen=True)
class Transfer:
    """One transfer, from its first byte to the arrival of its last; None if nuttcp does not report a value.

    Attributes:
        seconds: its length, s.
        received_bytes: payload that reached the receiver, B.
        sender_cpu: CPU time per time, in whole hundredths; 1 is one core.
        receiver_cpu: likewise.
        rtt_ms: of the handshake, in steps of 10 us; only TCP with the client as sender.
        lost_share: of the packets, in [0, 1]; UDP.
    """

    seconds: float
    received_bytes: float
    sender_cpu: float
    receiver_cpu: float
    rtt_ms: float | None
    lost_share: float | None

    @property
    def received_bps(self) -> float:
        """Payload over the length of this transfer, bit/s."""
        return self.received_bytes * 8 / self.seconds


def parse_intervals(printed: str) -> list[tuple[float, float]]:
    """Read the intervals that a client with `-i` printed: length in s, and bytes that arrived.

    Lengths are computed from rates, which have more digits, except in intervals without data.
    """
    lines = [dict(_PAIR.findall(line)) for line in printed.splitlines()]
    rows = [[float(line[key]) for key in _INTERVAL] for line in lines if "real_sec" in line]
    return [
        (size * MEBI * 8 / (rate * 1e6) if size and rate else took_s, size * MEBI)
        for size, took_s, rate in rows
    ]


def parse_transfer(printed: str) -> Transfer:
    """Read the output of a client.

    Raises: OutputError: it has no result.
    """
    # Only whole lines: a number that was cut off looks like another number.
    lines = [dict(_PAIR.findall(line)) for line in printed.splitlines(keepends=True) if line.endswith("\n")]
    total = next((line for line in lines if "real_seconds" in line), None)
    if total is None:
        raise OutputError("nuttcp: printed no result")
    try:
        return _transfer(total)
    except KeyError as error:
        raise OutputError(f"nuttcp: its result has no {error}; its version must be 6 to 8") from error


def _transfer(total: dict[str, str]) -> Transfer:
    megabytes, rate_mbps = float(total["megabytes"]), float(total["rate_Mbps"])
    # The rate has more digits than the length.
    precise = megabytes > 0 and rate_mbps > 0
    seconds = megabytes * MEBI * 8 / (rate_mbps * 1e6) if precise else float(total["real_seconds"])
    packets = float(total["pkt"]) if "pkt" in total else None
    return Transfer(
        seconds=seconds,
        received_bytes=megabytes * MEBI,
        sender_cpu=float(total["tx_cpu"]) / 100,
        receiver_cpu=float(total["rx_cpu"]) / 100,
        rtt_ms=float(total["rtt_ms"]) if "rtt_ms" in total else None,
        lost_share=None if packets is None else (float(total["drop"]) / packets if packets else 0.0),
    )

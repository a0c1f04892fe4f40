"""What `nuttcp -fparse -i1` prints, as numbers. Pure.

A line each second, an empty line, and a line for the whole transfer; all are `key=value` pairs. nuttcp's mega
is 2^20 bytes, but 10^6 bits. Errors are printed on standard error, by the client among them some that do not
change its exit status: a transfer without its last line has no result. `retrans` is not read: nuttcp 6.1.2
prints 0 whatever happens (captured/tcp-policed.txt: none of 386).
"""

import re
from dataclasses import dataclass

from crosswind.app.client_server import OutputError

MEBI = 1 << 20
_PAIR = re.compile(r"(\w+)=([-+0-9.eE]+)")


@dataclass(frozen=True)
class Transfer:
    """One transfer, its warm-up taken off; None where nuttcp does not say.

    Attributes:
        seconds: that were measured, s.
        received_bytes: payload that reached the receiver, B.
        received_bps: likewise, bit/s.
        sender_cpu: processor time in multiples of one processor, in whole hundredths, warm-up included.
        receiver_cpu: likewise.
        rtt_ms: of the handshake, in steps of 10 us; TCP with the client as sender.
        lost_share: of the packets, in [0, 1]; UDP.
    """

    seconds: float
    received_bytes: float
    received_bps: float
    sender_cpu: float
    receiver_cpu: float
    rtt_ms: float | None
    lost_share: float | None


def parse_transfer(printed: str, warm_up_s: int) -> Transfer:
    """Read what a client printed.

    Args:
        warm_up_s: how many of the first seconds do not count, s.
    Raises: OutputError: there is no result, or it ended within the warm-up.
    """
    lines = [dict(_PAIR.findall(line)) for line in printed.splitlines()]
    total = next((line for line in lines if "real_seconds" in line), None)
    intervals = [line for line in lines if "real_sec" in line]
    if total is None:
        raise OutputError(f"nuttcp: printed {len(intervals)} seconds of the transfer and no result")
    if len(intervals) < warm_up_s:
        raise OutputError(
            f"nuttcp: printed {len(intervals)} seconds of the transfer, and the warm-up alone has {warm_up_s}"
        )
    try:
        return _transfer(total, intervals[:warm_up_s])
    except KeyError as error:
        raise OutputError(
            f"nuttcp: its result has no {error}; is its version another than 6 to 8?"
        ) from error


def _transfer(total: dict[str, str], warm_up: list[dict[str, str]]) -> Transfer:
    def left(key: str) -> float:
        return float(total[key]) - sum(float(line[key]) for line in warm_up)

    seconds = _seconds(total) - sum(_seconds(line) for line in warm_up)
    received_bytes = left("megabytes") * MEBI
    if seconds <= 0:
        raise OutputError("nuttcp: the transfer ended within its warm-up")
    packets = left("pkt") if "pkt" in total else None
    return Transfer(
        seconds=seconds,
        received_bytes=received_bytes,
        received_bps=received_bytes * 8 / seconds,
        sender_cpu=float(total["tx_cpu"]) / 100,
        receiver_cpu=float(total["rx_cpu"]) / 100,
        rtt_ms=float(total["rtt_ms"]) if "rtt_ms" in total else None,
        lost_share=None if packets is None else (left("drop") / packets if packets > 0 else 0.0),
    )


def _seconds(line: dict[str, str]) -> float:
    """Return the length of a line's time, s: from its rate, which has more digits than the length itself."""
    rate_mbps = float(line["rate_Mbps"])
    if rate_mbps == 0 or float(line["megabytes"]) == 0:
        return float(line.get("real_seconds") or line["real_sec"])
    return float(line["megabytes"]) * MEBI * 8 / (rate_mbps * 1e6)

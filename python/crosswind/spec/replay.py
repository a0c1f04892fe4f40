"""Turn the packets of a capture into interference that replays their gaps and sizes."""

from __future__ import annotations

from fractions import Fraction

from crosswind.spec.capture_file import CaptureError, read_capture
from crosswind.spec.interference import ReplayedCapture
from crosswind.spec.read_file import read_file
from crosswind.spec.resolved import ReplayedPackets

# They are sent with the condition, and stored with every result: about 2 MB.
PACKETS_MAX = 100_000


def replay_finding(replay: ReplayedCapture) -> str | None:
    """Return why a capture cannot be replayed; None where it can."""
    try:
        replayed(replay, mtu_bytes=1500, scale=1)
    except CaptureError as error:
        return str(error)
    return None


def replayed(replay: ReplayedCapture, mtu_bytes: int, scale: float) -> ReplayedPackets:
    """Return what the agent replays (contracts.md, section 1).

    A sender's network card splits packets above the MTU: each becomes packets of the MTU and a rest, at the
    same time. `scale` multiplies rates, so it divides gaps.

    Raises: CaptureError: the file cannot be read or replayed; the message names it.
    """
    try:
        captured = read_capture(read_file(replay.file))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CaptureError(f"{replay.file}: cannot be read: {reason}; name a pcap or pcapng file") from None
    except CaptureError as error:
        raise CaptureError(f"{replay.file}: {error}") from None
    first_ns, last_ns = captured[0].at_ns, captured[-1].at_ns
    if replay.repeat and first_ns == last_ns:
        raise CaptureError(
            f"{replay.file}: all its packets have the same time, so it cannot repeat; write repeat: false"
        )
    # Keeps the rate over many rounds equal to that of one.
    mean_ns = (last_ns - first_ns) // max(1, len(captured) - 1) if replay.repeat else 0
    packets: list[list[int]] = []
    before_ns = first_ns - mean_ns
    for packet in captured:
        gap_ns = round((packet.at_ns - before_ns) / Fraction(repr(scale)))
        before_ns = packet.at_ns
        whole, rest = divmod(packet.ip_bytes, mtu_bytes)
        sizes = [mtu_bytes] * whole + ([rest] if rest else [])
        packets += [[gap_ns if index == 0 else 0, size] for index, size in enumerate(sizes)]
    if len(packets) > PACKETS_MAX:
        raise CaptureError(
            f"{replay.file}: {len(packets)} packets; at most {PACKETS_MAX} can be replayed: "
            "cut it (editcap -r)"
        )
    return ReplayedPackets(packets=packets, repeat=replay.repeat)

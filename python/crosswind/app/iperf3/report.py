"""What `iperf3 --json` prints, as numbers. Pure.

iperf3 may exit with 0 and a report with an `error`. After its peer was lost, the rest of such a report has
lengths such as the machine's uptime. So the error is checked first.
"""

import json
from dataclasses import dataclass
from typing import Any

from crosswind.app.client_server import OutputError

# A JSON object, as iperf3 prints it.
Raw = dict[str, Any]


@dataclass(frozen=True)
class Iperf3Stream:
    """One stream; None if iperf3 does not report a value.

    Attributes:
        received_bps: payload that reached the receiver, bit/s.
        retransmits: segments, TCP.
        rtt_us: mean, least and greatest of the sender's samples; only TCP with the client as sender.
        lost_share: of the packets, in [0, 1]; UDP.
        jitter_ms: of the packets' spacing (RFC 3550); UDP.
    """

    received_bps: float
    retransmits: int | None
    rtt_us: tuple[float, float, float] | None
    lost_share: float | None
    jitter_ms: float | None


@dataclass(frozen=True)
class Iperf3Report:
    """A whole run.

    Attributes:
        seconds: length of the measurement, s.
        received_bytes: payload that reached the receiver, of all streams together, B.
        received_bps: likewise, bit/s.
        client_cpu: CPU time per time; 1 is one core.
        server_cpu: likewise.
    """

    version: str
    seconds: float
    received_bytes: int
    received_bps: float
    streams: tuple[Iperf3Stream, ...]
    client_cpu: float
    server_cpu: float


def parse_report(printed: str) -> Iperf3Report:
    """Read a report of a client.

    Raises: OutputError: it is cut off, has an error, or lacks a value that every result has.
    """
    raw = _object(printed)
    if (said := raw.get("error")) is not None:
        raise OutputError(f"iperf3: {said}")
    try:
        return _report(raw)
    except (KeyError, TypeError, IndexError, ZeroDivisionError) as error:
        raise OutputError(
            f"iperf3: its report has no {error} where one was expected; is this iperf3 older than 3.7?"
        ) from error


def error_of(printed: str) -> str | None:
    """Return the error in a report; None if it has none, or is no report."""
    try:
        said = _object(printed).get("error")
    except OutputError:
        return None
    return None if said is None else f"iperf3: {said}"


def _object(printed: str) -> Raw:
    if not printed.strip():
        raise OutputError("iperf3: printed no report")
    try:
        raw = json.loads(printed)
    except json.JSONDecodeError as error:
        raise OutputError(
            f"iperf3: its report of {len(printed)} characters is cut off or damaged ({error})"
        ) from error
    if not isinstance(raw, dict):
        raise OutputError("iperf3: its report is not a JSON object")
    return raw


def _report(raw: Raw) -> Iperf3Report:
    end, asked = raw["end"], raw["start"]["test_start"]
    received, cpu = end["sum_received"], end["cpu_utilization_percent"]
    streams = tuple(_udp(one["udp"]) if "udp" in one else _tcp(one) for one in end["streams"])
    if len(streams) != asked["num_streams"]:
        raise OutputError(f"iperf3: reports {len(streams)} of {asked['num_streams']} streams")
    return Iperf3Report(
        version=raw["start"]["version"],
        seconds=received["seconds"],
        received_bytes=received["bytes"],
        received_bps=received["bits_per_second"],
        streams=streams,
        client_cpu=cpu["host_total"] / 100,
        server_cpu=cpu["remote_total"] / 100,
    )


def _tcp(stream: Raw) -> Iperf3Stream:
    sender = stream["sender"]
    # If the server sends, the client does not get its samples and prints 0.
    rtt = tuple(float(sender.get(f"{which}_rtt", 0)) for which in ("mean", "min", "max"))
    return Iperf3Stream(
        received_bps=stream["receiver"]["bits_per_second"],
        retransmits=sender.get("retransmits"),
        rtt_us=(rtt[0], rtt[1], rtt[2]) if rtt[0] > 0 else None,
        lost_share=None,
        jitter_ms=None,
    )


def _udp(stream: Raw) -> Iperf3Stream:
    # `bytes` of a stream were sent, in the reports of both sides; only losses are counted by the receiver.
    lost_share = stream["lost_packets"] / stream["packets"] if stream["packets"] else 0.0
    return Iperf3Stream(
        received_bps=stream["bits_per_second"] * (1 - lost_share),
        retransmits=None,
        rtt_us=None,
        lost_share=lost_share,
        jitter_ms=stream["jitter_ms"],
    )

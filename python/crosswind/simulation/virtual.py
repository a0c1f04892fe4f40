"""Run `crosswind-simulate` with a recording, a plan of traffic or a capture, and return its JSON answer."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from crosswind.errors import CrosswindError
from crosswind.simulation.captured import Captured
from crosswind.simulation.replayed import Replayed, VirtualRun
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.quantities import QuantityError, read_rate, shown
from crosswind.testbed.binaries import SIMULATE, find_binary
from crosswind.testbed.folders import WorkFolder

_OFFER = re.compile(r"(?P<sender>[a-z0-9-]+)->(?P<receiver>[a-z0-9-]+)=(?P<rate>.+)")


class SimulatorRefusal(CrosswindError):
    """The simulator refused the recording, the plan or the capture; the text gives the reason."""


@dataclass(frozen=True)
class Offer:
    """Traffic from one node to another, as `--offer` has it; the rate is in IP bits per second."""

    sender: str
    receiver: str
    rate_bps: int


class PlannedTraffic(BaseModel):
    """An offer as the program reads it; the rate is in IP bits per second."""

    model_config = ConfigDict(frozen=True, validate_by_name=True)

    sender: str = Field(serialization_alias="from")
    receiver: str = Field(serialization_alias="to")
    rate_bps: int
    packet_ip_bytes: int
    arrivals: str


def read_offer(text: str) -> Offer:
    """Return the offer that `a->b=100Mbit/s` stands for.

    Raises: QuantityError: it is not written like that, or its rate has no unit.
    """
    match = _OFFER.fullmatch(text)
    if match is None:
        raise QuantityError(
            f"{shown(text)} is not traffic; write sender->receiver=rate, such as a->b=10Mbit/s"
        )
    rate_bps = read_rate(match["rate"])
    if rate_bps is None:
        raise QuantityError(
            f"{shown(text)}: traffic cannot have an unlimited rate; write a number, such as 10Gbit/s"
        )
    return Offer(match["sender"], match["receiver"], rate_bps)


def replay(recording: Path, condition: FabricCondition | None, packets: Path | None) -> Replayed:
    """Replay a recording and return the result.

    Args:
        condition: another condition as the agent takes it; None replays the recorded one.
        packets: file for a row per packet.
    Raises: SimulatorRefusal: the recording is damaged, cut off or incomplete.
    """
    with WorkFolder() as work:
        arguments = ["replay", str(recording), *_packets(packets)]
        if condition is not None:
            file = work.path / "condition.json"
            file.write_text(json.dumps(condition.as_json()))
            arguments += ["--condition", str(file)]
        return Replayed.model_validate_json(_answer(arguments))


def flows_of_capture(path: Path, rto_ns: int) -> Captured:
    """Return the TCP flows of a pcap or pcapng file.

    A file that is cut off or damaged is read as far as possible, and `ended` gives the reason.

    Args:
        rto_ns: a retransmission is a timeout when it follows a silence of this length plus the flow's
            shortest round trip.
    Raises: SimulatorRefusal: the file is no capture.
    """
    return Captured.model_validate_json(_answer(["capture", str(path), str(rto_ns)]))


def offer(
    fabric: FabricSpec,
    offers: Sequence[Offer],
    *,
    packet_bytes: int,
    arrivals: str,
    duration_ns: int,
    packets: Path | None,
) -> VirtualRun:
    """Offer traffic to a fabric in virtual time and return the result.

    Args:
        fabric: contracts.md, section 1.
        packet_bytes: IP bytes of every packet.
        arrivals: `constant` or `poisson`.
        packets: file for a row per packet.
    Raises: SimulatorRefusal: an offer does not fit the fabric.
    """
    planned = [
        PlannedTraffic(
            sender=each.sender,
            receiver=each.receiver,
            rate_bps=each.rate_bps,
            packet_ip_bytes=packet_bytes,
            arrivals=arrivals,
        )
        for each in offers
    ]
    plan = {
        "fabric": fabric.as_json(),
        "duration_ns": duration_ns,
        "offers": [each.model_dump(by_alias=True) for each in planned],
    }
    return VirtualRun.model_validate_json(_answer(["offer", *_packets(packets)], json.dumps(plan)))


def _packets(path: Path | None) -> list[str]:
    return [] if path is None else ["--packets", str(path)]


def _answer(arguments: Sequence[str], plan: str | None = None) -> str:
    done = subprocess.run(
        [str(find_binary(SIMULATE)), *arguments], input=plan, capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        raise SimulatorRefusal(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"{SIMULATE}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout

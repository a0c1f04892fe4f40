"""Ask `crosswind-simulate`: a recording, a plan or a capture in, what came of it out."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crosswind.errors import CrosswindError
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.quantities import QuantityError, read_rate, shown
from crosswind.testbed.binaries import SIMULATE, find_binary
from crosswind.testbed.folders import WorkFolder

_OFFER = re.compile(r"(?P<sender>[a-z0-9-]+)->(?P<receiver>[a-z0-9-]+)=(?P<rate>.+)")


class Refused(CrosswindError):
    """The simulator found the recording, the plan or the capture wrong; its text says what."""


@dataclass(frozen=True)
class Offer:
    """Traffic from one node to another; the fields are those of contracts.md, section 7."""

    sender: str
    receiver: str
    rate_bps: int


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
            f"{shown(text)}: nobody can offer an unlimited rate; write a number, such as 10Gbit/s"
        )
    return Offer(match["sender"], match["receiver"], rate_bps)


def replay(recording: Path, condition: FabricCondition | None, packets: Path | None) -> dict[str, Any]:
    """Replay a recording and return what came of it.

    Args:
        condition: another condition as the agent takes it, or None for what really happened.
        packets: file for a row per packet.
    Raises: Refused: the recording is damaged, cut off or incomplete.
    """
    with WorkFolder() as work:
        arguments = ["replay", str(recording), *_packets(packets)]
        if condition is not None:
            file = work.path / "condition.json"
            file.write_text(json.dumps(condition.as_json()))
            arguments += ["--condition", str(file)]
        return _ask(arguments, None)


def flows_of_capture(path: Path, rto_ns: int) -> dict[str, Any]:
    """Return what a pcap or pcapng says of TCP (docs/reference/contracts.md, section 7).

    Args:
        rto_ns: the silence from which on, with a flow's shortest round trip, a retransmission is a timeout.
    Raises: Refused: it is no capture. One that is cut off or damaged is read as far as it goes, and says so.
    """
    return _ask(["capture", str(path), str(rto_ns)], None)


def offer(
    fabric: FabricSpec,
    offers: Sequence[Offer],
    *,
    packet_bytes: int,
    arrivals: str,
    duration_ns: int,
    packets: Path | None,
) -> dict[str, Any]:
    """Offer traffic to a fabric in virtual time and return the summary.

    Args:
        fabric: contracts.md, section 1.
        packet_bytes: IP bytes of every packet.
        arrivals: `constant` or `poisson`.
        packets: file for a row per packet.
    Raises: Refused: an offer does not fit the fabric.
    """
    plan = {
        "fabric": fabric.as_json(),
        "duration_ns": duration_ns,
        "offers": [
            _plan_of(entry) | {"packet_ip_bytes": packet_bytes, "arrivals": arrivals} for entry in offers
        ],
    }
    return _ask(["offer", *_packets(packets)], json.dumps(plan))


def _plan_of(entry: Offer) -> dict[str, Any]:
    fields = asdict(entry)
    return {"from": fields.pop("sender"), "to": fields.pop("receiver"), **fields}


def _packets(path: Path | None) -> list[str]:
    return [] if path is None else ["--packets", str(path)]


def _ask(arguments: Sequence[str], plan: str | None) -> dict[str, Any]:
    done = subprocess.run(
        [str(find_binary(SIMULATE)), *arguments], input=plan, capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        raise Refused(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"{SIMULATE}: exit status {done.returncode}: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer

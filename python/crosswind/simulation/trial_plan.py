"""A trial in virtual time, as `crosswind-simulate trials` reads it (contracts.md, section 7)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from crosswind.spec import FabricSpec

# CLOCK_MONOTONIC_COARSE, which Python has no name for: its resolution is the kernel's tick.
_COARSE = 6
# From the arrival of data to the reaction of a thread that waits for them, at least and on average, measured
# on two virtual CPUs (docs/explanation/tcp.md).
REACTION_NS = (60_000, 75_000)


class SimulatedPart(BaseModel):
    """A part of the plan; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True)


class SimulatedCalls(SimulatedPart):
    """Requests and responses; without a rate in a closed loop."""

    client: str
    server: str
    request_bytes: int
    response_bytes: int
    connections: int
    rate_per_s: float | None
    arrivals: Literal["even", "poisson"]


class SimulatedStream(SimulatedPart):
    """Data without end from one node to another."""

    sender: str = Field(serialization_alias="from")
    receiver: str = Field(serialization_alias="to")
    connections: int
    write_bytes: int


class SimulatedCallsOnly(SimulatedPart):
    """An application of calls."""

    calls: SimulatedCalls


class SimulatedStreamsOnly(SimulatedPart):
    """An application of streams."""

    streams: list[SimulatedStream]


SimulatedApplication = SimulatedCallsOnly | SimulatedStreamsOnly


class SimulatedMachine(SimulatedPart):
    """Properties of the machine that TCP depends on."""

    tick_ns: int
    reaction_ns: tuple[int, int]
    receive_buffer_bytes: tuple[int, int]
    send_buffer_bytes: tuple[int, int]


def this_machine() -> SimulatedMachine:
    """Return what a live run on this machine would have."""
    return SimulatedMachine(
        tick_ns=round(time.clock_getres(_COARSE) * 1e9),
        reaction_ns=REACTION_NS,
        receive_buffer_bytes=_buffer("tcp_rmem"),
        send_buffer_bytes=_buffer("tcp_wmem"),
    )


def _buffer(name: str) -> tuple[int, int]:
    _, initial, most = Path("/proc/sys/net/ipv4", name).read_text().split()
    return int(initial), int(most)


class TrialPlan(SimulatedPart):
    """A network, an application, and how long it is measured."""

    fabric: FabricSpec
    application: SimulatedApplication
    seed: int
    warm_up_ns: int
    duration_ns: int
    machine: SimulatedMachine

    def as_line(self) -> str:
        """Return the plan as one line of JSON."""
        rest = self.model_dump(mode="json", by_alias=True, exclude={"fabric"})
        return json.dumps({"fabric": self.fabric.as_json(), **rest})

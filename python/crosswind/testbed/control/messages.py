"""What `crosswind set`, `fault` and `exec` say to a running `crosswind up`, and what it answers.

A client sends one JSON line and gets one back. Nothing here needs the models of experiments, so that a
command which only asks starts in a fifth of a second.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, RootModel

from crosswind.testbed.folders import runtime_folder

# The longest is a condition with 100,000 packets of a capture, about 2 MB.
LINE_BYTES_MAX = 16 << 20


class Request(BaseModel):
    """What a client asks `crosswind up` to do.

    Attributes:
        do: `nodes`, `network`, `set` or `fault`.
        own: for `set`, the name of one of the conditions of `network`.
        node: for `nodes`, the one in which a program is about to start.
        fault: what a hand does: `partition`, `isolate`, `cut`, `heal`, `pause`, `resume`, `kill` or
            `restart`.
        value: of a fault, as a step of a file has it.
        answer: what senders of a cut learn: `silence` or `reset`.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    do: str
    node: str | None = None
    own: str | None = None
    fault: str | None = None
    value: JsonValue = None
    # As `spec.resolved.Answer`, whose package takes half a second to import.
    answer: Literal["silence", "reset"] = "silence"


class NodePids(RootModel[dict[str, int]]):
    """The answer to `nodes`: the process id of each node's init, by the node's name."""


class NetworkUp(BaseModel):
    """The answer to `network`: topology and scale as written, and names that `set` knows."""

    network: dict[str, JsonValue]
    conditions: tuple[str, ...]


class ConditionChanged(BaseModel):
    """The answer to `set`: the condition, and the instant from which it is active, on CLOCK_MONOTONIC."""

    condition: str
    effective_ns: int


class FaultDone(BaseModel):
    """The answer to `fault`: what was done, in words, and the instant from which it holds."""

    words: str
    effective_ns: int


class Reply(BaseModel):
    """A line of the server."""

    ok: JsonValue = None
    error: str | None = None


def sockets() -> list[Path]:
    """Return the sockets of all `crosswind up` of this user, also those that have ended."""
    return sorted(runtime_folder().glob("up-*.sock"))

"""The topology: hosts around one switch, the nodes on them, and what is the same for all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, field_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.buffer import BufferOrUnlimited, Room
from crosswind.spec.names import name_rule
from crosswind.spec.node_limits import CPUS_MAX, CPUS_MIN, NodeLimits, check_memory
from crosswind.spec.quantities import (
    Duration,
    PositiveDuration,
    QuantityError,
    Rate,
    Size,
    shown,
)

# Below it a connection cannot grow at all; above it no window can be announced (RFC 7323, section 2.3).
SOCKET_BUFFER_BYTES_MIN = 64 * 1024
SOCKET_BUFFER_BYTES_MAX = 1 << 30
HOSTS_MAX = 1000  # Far above what one machine emulates; a bound only so that a typing error is not built.


# Without a hyphen, so that `h0-h1` can only mean a pair.
HostName = Annotated[
    str,
    AfterValidator(
        name_rule("a host", r"[a-z][a-z0-9]{0,14}", "a letter, then up to 14 letters and digits, lower case")
    ),
]
NodeName = Annotated[
    str,
    AfterValidator(
        name_rule(
            "a node",
            r"(?!noise-)[a-z]([a-z0-9-]{0,30}[a-z0-9])?",
            "letters, digits and hyphens, not starting with noise-",
        )
    ),
]


def _hosts(value: Any) -> Any:
    """Let `hosts: 4` stand for h0 to h3."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= HOSTS_MAX:
            raise QuantityError(f'"{value}" is outside 1 to {HOSTS_MAX} hosts')
        return [f"h{number}" for number in range(value)]
    if not isinstance(value, list):
        raise QuantityError(
            f"{shown(value)} is neither a number of hosts nor a list of their names; write 4 or [h0, h1]"
        )
    return value


class PlacedNode(SpecModel):
    """A node, and what its processes may use together; as much as the machine has where nothing is said."""

    host: str = Field(description="One of the hosts.")
    memory_bytes: Size | None = Field(
        None, alias="memory", description="Memory of the node, page cache included; at least 4MiB."
    )
    cpus: Annotated[float, Field(ge=CPUS_MIN, le=CPUS_MAX)] | None = Field(
        None, description="Processor time per time: 0.5 is half a processor."
    )

    @field_validator("memory_bytes")
    @classmethod
    def _holds_a_process(cls, memory_bytes: int | None) -> int | None:
        return None if memory_bytes is None else check_memory(memory_bytes)

    @property
    def limits(self) -> NodeLimits:
        """What its processes may use together."""
        return NodeLimits(self.memory_bytes, self.cpus)


def _placed(value: Any) -> Any:
    """Let `db0: h0` stand for `db0: {host: h0}`."""
    if isinstance(value, str):
        return {"host": value}
    if not isinstance(value, dict):
        raise QuantityError(
            f"{shown(value)} is neither a host nor a host with limits; write h0 or {{host: h0, memory: 2GiB}}"
        )
    return value


class Uplink(SpecModel):
    """The full-duplex link from a host to the switch; the same for every host."""

    rate_bps: Rate = Field(alias="rate", description="Wire bits per second, each way.")
    delay_ns: Duration = Field(0, alias="delay", description="Propagation, each way; none when absent.")
    buffer: BufferOrUnlimited = Field(
        Room(size_bytes=512 * 1024),
        description="What may wait in front of each direction, in wire bytes; 512KiB when absent.",
    )


class Tcp(SpecModel):
    """What every node's routes declare, because kernels differ in their defaults."""

    congestion_control: str = Field(
        "cubic", pattern="^[a-z0-9_]{1,15}$", description="A name the kernel knows."
    )
    rto_min_ns: PositiveDuration = Field(
        200_000_000, alias="rto_min", description="The smallest retransmission timeout; 200ms when absent."
    )
    ecn: bool = Field(
        False,
        description="Connections ask for explicit congestion notification; marks need it. false when absent.",
    )
    socket_buffer_bytes: Size | None = Field(
        None,
        alias="socket_buffer",
        description="The most that a connection's socket holds each way, 64KiB to 1GiB, about twice what "
        "it has on the way; the machine's own when absent.",
    )

    @field_validator("socket_buffer_bytes")
    @classmethod
    def _can_be_set(cls, size: int | None) -> int | None:
        if size is not None and not SOCKET_BUFFER_BYTES_MIN <= size <= SOCKET_BUFFER_BYTES_MAX:
            raise QuantityError(
                f"{size} bytes are not between 64KiB and 1GiB; write 64MiB for 10Gbit/s over 20ms"
            )
        return size


class Topology(SpecModel):
    """Hosts, nodes, links."""

    hosts: Annotated[
        list[HostName],
        BeforeValidator(_hosts),
        Field(min_length=1, max_length=HOSTS_MAX),
        WithJsonSchema(
            {
                "description": "A number (h0, h1, ...) or names.",
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": HOSTS_MAX},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1},
                ],
            }
        ),
    ]
    uplink: Uplink
    nodes: dict[
        NodeName, Annotated[PlacedNode, BeforeValidator(_placed, json_schema_input_type=str | PlacedNode)]
    ] = Field(
        min_length=1,
        description="Where each part of the application runs: `node: host`, or a host with limits.",
    )
    mtu_bytes: Size = Field(1500, alias="mtu", description="IP bytes, 576B to 9000B; 1500B when absent.")
    wait: Literal["spin", "sleep"] = Field(
        "spin",
        description="How the emulator waits: `spin` keeps a processor for itself where there are two, "
        "`sleep` leaves all to the application and is exact for delays above 50us.",
    )
    tcp: Tcp = Field(default_factory=lambda: Tcp.model_validate({}))

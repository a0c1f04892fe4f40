"""What every topology has, whatever its form: limits of nodes, the MTU, TCP, and uplinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, field_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.buffer import Bdp, BufferOrUnlimited, Room
from crosswind.spec.document import Path
from crosswind.spec.draft import value_at
from crosswind.spec.network import Domains, Link
from crosswind.spec.node_limits import CPUS_MAX, CPUS_MIN, NodeLimits, check_memory
from crosswind.spec.quantities import Duration, PositiveDuration, QuantityError, Rate, Size
from crosswind.spec.topology.domains import WrittenDomains

# Below it a connection cannot grow at all; above it no window can be announced (RFC 7323, section 2.3).
SOCKET_BUFFER_BYTES_MIN = 64 * 1024
SOCKET_BUFFER_BYTES_MAX = 1 << 30
HOSTS_MAX = 1000  # Far above what one machine emulates; a bound only so that a typing error is not built.

USUAL_BUFFER = Room(size_bytes=512 * 1024)
USUAL_BUFFER_TEXT = "512KiB"


@dataclass(frozen=True)
class WrittenBuffer:
    """A buffer of a file.

    Attributes:
        path: inside the topology.
        text: as it is written, or what stands for it when absent.
        rates_bps: of the links that it stands in front of, as written; None is unlimited.
    """

    path: Path
    text: JsonValue
    buffer: Room | Bdp
    rates_bps: Sequence[int | None]


def written_buffer(
    path: Path, topology: JsonValue, buffer: Room | Bdp, rates_bps: Sequence[int | None]
) -> WrittenBuffer:
    """Return a buffer with the text that `topology`, as plain values, has for it."""
    return WrittenBuffer(path, value_at(topology, *path) or USUAL_BUFFER_TEXT, buffer, rates_bps)


class LimitedNode(SpecModel):
    """What the processes of a node may use together; as much as the machine has where nothing is said."""

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


class Uplink(SpecModel):
    """The full-duplex link from a host to its switch."""

    rate_bps: Rate = Field(alias="rate", description="Wire bits per second, each way.")
    delay_ns: Duration = Field(0, alias="delay", description="Propagation, each way; none when absent.")
    buffer: BufferOrUnlimited = Field(
        USUAL_BUFFER,
        description="What may wait in front of each direction, in wire bytes; 512KiB when absent.",
    )

    def links(self, host: str, switch: str) -> tuple[Link, Link]:
        """Return its two directions: from the host, and to it."""
        one, other = (
            Link(source, target, self.rate_bps, self.delay_ns, self.buffer)
            for source, target in ((host, switch), (switch, host))
        )
        return one, other


def unlimited_uplink() -> Uplink:
    """Return the uplink of a file that has none: only what is between switches limits."""
    return Uplink.model_validate({"rate": "unlimited"})


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


class Hosts(SpecModel):
    """What is the same for all hosts and nodes."""

    switch_noun: ClassVar[str] = "switch"  # What errors call one.

    mtu_bytes: Size = Field(1500, alias="mtu", description="IP bytes, 576B to 9000B; 1500B when absent.")
    wait: Literal["spin", "sleep"] = Field(
        "spin",
        description="How the emulator waits: `spin` keeps a processor for itself where there are two, "
        "`sleep` leaves all to the application and is exact for delays above 50us.",
    )
    domains: WrittenDomains = Field(
        "auto",
        description="Parts of the network, each carried by a thread of the emulator: how many, or a list of "
        "switches and hosts for each. `auto` when absent: as many as the CPUs of the machine allow.",
    )
    tcp: Tcp = Field(default_factory=lambda: Tcp.model_validate({}))

    @property
    def divided(self) -> Domains:
        """Its domains, as a network has them."""
        written = self.domains
        return tuple(map(tuple, written)) if isinstance(written, list) else written

    @property
    def left_out(self) -> tuple[str, ...]:
        """The switches on which no host stands and that are therefore no part of the network."""
        return ()

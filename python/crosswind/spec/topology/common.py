"""Parts of all topologies: limits of nodes, the MTU, TCP, and uplinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, field_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.buffer import Bdp, BufferOrUnlimited, BufferSize
from crosswind.spec.document import Path
from crosswind.spec.draft import value_at
from crosswind.spec.network import Domains, Link
from crosswind.spec.node_limits import CPUS_MAX, CPUS_MIN, NodeLimits, check_memory
from crosswind.spec.quantities import Duration, PositiveDuration, QuantityError, Rate, Size
from crosswind.spec.topology.domains import WrittenDomains

# Below it a connection cannot grow; above it TCP cannot announce the window (RFC 7323, section 2.3).
SOCKET_BUFFER_BYTES_MIN = 64 * 1024
SOCKET_BUFFER_BYTES_MAX = 1 << 30
HOSTS_MAX = 1000  # More than one machine can emulate; the bound refuses typing errors.

USUAL_BUFFER = BufferSize(size_bytes=512 * 1024)
USUAL_BUFFER_TEXT = "512KiB"


@dataclass(frozen=True)
class WrittenBuffer:
    """A buffer of a file.

    Attributes:
        path: inside the topology.
        text: as written, or the default where it is absent.
        rates_bps: of the links behind it, as written; None: unlimited.
    """

    path: Path
    text: JsonValue
    buffer: BufferSize | Bdp
    rates_bps: Sequence[int | None]


def written_buffer(
    path: Path, topology: JsonValue, buffer: BufferSize | Bdp, rates_bps: Sequence[int | None]
) -> WrittenBuffer:
    """Return a buffer with its text in `topology`, which is plain values."""
    return WrittenBuffer(path, value_at(topology, *path) or USUAL_BUFFER_TEXT, buffer, rates_bps)


class LimitedNode(SpecModel):
    """Limits of all processes of a node together; none when absent."""

    memory_bytes: Size | None = Field(
        None, alias="memory", description="Memory of the node, page cache included; at least 4MiB."
    )
    cpus: Annotated[float, Field(ge=CPUS_MIN, le=CPUS_MAX)] | None = Field(
        None, description="CPU time per time: 0.5 is half a CPU."
    )

    @field_validator("memory_bytes")
    @classmethod
    def _holds_a_process(cls, memory_bytes: int | None) -> int | None:
        return None if memory_bytes is None else check_memory(memory_bytes)

    @property
    def limits(self) -> NodeLimits:
        """The limits of all its processes together."""
        return NodeLimits(self.memory_bytes, self.cpus)


class Uplink(SpecModel):
    """The full-duplex link from a host to its switch."""

    rate_bps: Rate = Field(alias="rate", description="Wire bits per second, each way.")
    delay_ns: Duration = Field(0, alias="delay", description="Propagation, each way; none when absent.")
    buffer: BufferOrUnlimited = Field(
        USUAL_BUFFER,
        description="Buffer in front of each direction, in wire bytes; 512KiB when absent.",
    )

    def links(self, host: str, switch: str) -> tuple[Link, Link]:
        """Return its two directions: from the host, and to it."""
        one, other = (
            Link(source, target, self.rate_bps, self.delay_ns, self.buffer)
            for source, target in ((host, switch), (switch, host))
        )
        return one, other


def unlimited_uplink() -> Uplink:
    """Return the uplink where a file has none: it has no limit and no delay."""
    return Uplink.model_validate({"rate": "unlimited"})


class Tcp(SpecModel):
    """TCP settings of every node; kernels differ in their defaults."""

    congestion_control: str = Field(
        "cubic", pattern="^[a-z0-9_]{1,15}$", description="A name the kernel knows."
    )
    rto_min_ns: PositiveDuration = Field(
        200_000_000, alias="rto_min", description="The smallest retransmission timeout; 200ms when absent."
    )
    ecn: bool = Field(
        False,
        description="Connections use explicit congestion notification, which marks need. false when absent.",
    )
    socket_buffer_bytes: Size | None = Field(
        None,
        alias="socket_buffer",
        description="Largest buffer of a connection's socket each way, 64KiB to 1GiB, about twice the "
        "data in flight; the machine's own when absent.",
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
    """Settings of all hosts and nodes."""

    switch_noun: ClassVar[str] = "switch"  # Its name in errors.

    mtu_bytes: Size = Field(1500, alias="mtu", description="IP bytes, 576B to 9000B; 1500B when absent.")
    wait: Literal["spin", "sleep"] | None = Field(
        None,
        description="How the emulator waits: `spin` uses a CPU of its own where there are two, `sleep` "
        "leaves all CPUs to the application and is exact for delays above 50us. When absent, `spin`; with "
        "`time: {dilation: N}` on fewer than 8 CPUs, `sleep`.",
    )
    domains: WrittenDomains = Field(
        "auto",
        description="Parts of the network, each carried by a thread of the emulator: how many, or a list of "
        "switches and hosts for each. `auto` when absent: as many as the CPUs of the machine allow.",
    )
    tcp: Tcp = Field(default_factory=lambda: Tcp.model_validate({}))

    @property
    def divided(self) -> Domains:
        """Its domains, in the form of a network."""
        written = self.domains
        return tuple(map(tuple, written)) if isinstance(written, list) else written

    @property
    def left_out(self) -> tuple[str, ...]:
        """The switches without hosts, which are not part of the network."""
        return ()

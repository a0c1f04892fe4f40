"""How well the emulator did its work: its window, its lateness, its packets, and its share of the machine."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from crosswind.results.part import StoredPart


class Window(StoredPart):
    """Start and end of a measurement, on CLOCK_MONOTONIC."""

    started_ns: int
    ended_ns: int
    realtime_minus_monotonic_ns: int = 0

    @model_validator(mode="after")
    def _has_a_length(self) -> Self:
        if self.ended_ns <= self.started_ns:
            raise ValueError("ends before it starts")
        return self

    @property
    def length_ns(self) -> int:
        """Its length, above 0."""
        return self.ended_ns - self.started_ns


class Span(StoredPart):
    """A time in which something was not as it should have been."""

    at_ns: int
    length_ns: int


class Ledger(StoredPart):
    """When packets left the emulator, compared with when they were due.

    Attributes:
        packets: wire packets that left.
        early: left before they were due.
        missed: left more than `bound_ns` after it.
        late: when packets were missed: from when the first was due until the last left.
        error_ns: how late packets were, by statistic: `p50`, `p90`, `p99`, `p999`, `max`; None without
        packets.
        ingress_clamped: packets whose arrival was set to a later instant, because the engine was past it.
    """

    packets: int
    early: int
    missed: int
    bound_ns: int
    error_ns: dict[str, int | None] = Field(default_factory=dict)
    late: list[Span] = Field(default_factory=list)
    ingress_clamped: int = 0
    ingress_clamp_ns_max: int = 0

    @property
    def missed_share(self) -> float:
        """Share of the packets that missed their deadline; 0 without any.

        Ghosts that came late from another machine are missed and never leave, so there may be more of them
        than packets that left.
        """
        return self.missed / max(self.packets, self.missed) if self.missed else 0.0


class ByClass(StoredPart):
    """Packets of the application, and those that the engine made."""

    real: int = 0
    ghost: int = 0


class Conservation(StoredPart):
    """Wire packets since the fabric came up; `holds` where each that came in is accounted for."""

    entered: ByClass = Field(ByClass(), alias="in")
    duplicated: ByClass = ByClass()
    out: ByClass = ByClass()
    dropped: ByClass = ByClass()
    inside: ByClass = ByClass()
    holds: bool


class EmulatorHost(StoredPart):
    """What the machine did to the emulator; None where the kernel, or an older version, does not report it.

    Attributes:
        canary_gap_ns_max: longest time between two looks at the clock while the emulator spins.
        stalls: of 5 ms or longer, in which the emulator should have been awake and was not.
        steal_ns: CPU time taken by the hypervisor, of all CPUs together.
        run_queue_delay_ns: time in which the emulator could have run and waited for a CPU.
        emulator_cpu_ns: CPU time that it used.
        ring_overruns: packets that the capture ring had no room for.
        watch_ns: time that it spent on events, such as for the console; None where nobody watches.
    """

    canary_gap_ns_max: int | None = None
    stalls: list[Span] | None = None
    steal_ns: int | None = None
    run_queue_delay_ns: int | None = None
    emulator_cpu_ns: int | None = None
    ring_overruns: int = 0
    send_retries: int = 0
    watch_ns: int | None = None

    @property
    def longest_stall_ns(self) -> int | None:
        """The longest stall of the emulator, by its canary or its list of stalls; None if unknown."""
        gaps = [self.canary_gap_ns_max, *(stall.length_ns for stall in self.stalls or [])]
        return max((gap for gap in gaps if gap is not None), default=None)

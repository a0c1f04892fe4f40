"""What this machine was measured to honour: its format (JSON, schema 2), and which one is kept, and where.

A busy hour makes a calibration worse and nothing makes it better than the machine, so the best of a week is
kept.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, computed_field

from crosswind.doctor.machine import Machine
from crosswind.errors import CrosswindError
from crosswind.results.durable import write_text
from crosswind.testbed.folders import cache_folder

# A delay is honoured when 99 % of packets are within this share of it.
ERROR_SHARE_MAX = 0.1
# Kernels, firmware and neighbours of a virtual machine change: older ones are replaced by any other.
AGE_MAX = timedelta(days=7)


class CalibrationUnreadableError(CrosswindError):
    """The stored calibration is damaged or of another version of Crosswind."""


class _Part(BaseModel):
    # `honours` is computed, so it is in the file but not among the fields: what is not known is passed over.
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class DelayCheck(_Part):
    """One-way delay of single packets over a link of declared delay.

    `error` is how far a packet's delay was from the declared delay plus the floor's median, in either
    direction; `ledger` is how late the emulator was by its own account.
    """

    declared_ns: int
    packets: int
    error_ns_p50: int
    error_ns_p99: int
    ledger_ns_p50: int
    ledger_ns_p99: int
    ledger_ns_max: int
    early: int  # Packets that left before they were due; anything but 0 is a fault of the emulator.


class RateCheck(_Part):
    """Packets offered at a steady rate, and how many of them the emulator did not pass on.

    `offered_per_s` is what the sender achieved; below the `asked_per_s` it was the sender that was too slow.
    """

    asked_per_s: int
    offered_per_s: int
    packets: int
    lost: int


class Honours(_Part):
    """What an experiment may ask for here; None where not even the least that was tried was honoured."""

    delay_ns_min: int | None
    packets_per_s_max: int | None
    goodput_bps_max: int


class Calibration(_Part):
    """One calibration of one machine."""

    # Of schema 1 some hold the sender's lateness where the packets' delays should be.
    schema_version: Literal[2] = Field(2, alias="schema")
    measured_at: datetime  # With a time zone.
    machine: Machine
    version: str  # Of the agent.
    rootless: bool
    wait_mode: str  # `spin` or `sleep`.
    load_average: float  # Before the calibration began: what else was running.
    floor_ns_p50: int  # One-way delay where no delay is declared.
    floor_ns_p99: int
    delays: tuple[DelayCheck, ...]  # In ascending order of `declared_ns`.
    rates: tuple[RateCheck, ...]  # In ascending order; ends with the first that lost packets.
    goodput_bps: int  # TCP payload through a link without a rate, all connections together.
    canary_gap_ns_max: int  # The longest time that the spinning emulator stood still; 0 if it never spun.
    steal_share: float  # In [0, 1], of one core, during the measurement.

    @computed_field  # type: ignore[prop-decorator]
    @property
    def honours(self) -> Honours:
        """What an experiment may ask for here."""
        return Honours(
            delay_ns_min=_smallest_delay_ns(self.delays),
            packets_per_s_max=max((rate.asked_per_s for rate in self.rates if _passed(rate)), default=None),
            goodput_bps_max=self.goodput_bps,
        )

    def holds(self, other: Calibration) -> bool:
        """Return whether it is still true when `other` is measured: one machine, one version, and not old."""
        return (
            not self.machine.differences(other.machine)
            and (self.version, self.rootless) == (other.version, other.rootless)
            and timedelta(0) <= other.measured_at - self.measured_at <= AGE_MAX
        )

    def better_than(self, other: Calibration) -> bool:
        """Return whether it honours shorter delays; where they are the same, higher rates of packets."""
        return self._merit() > other._merit()

    def _merit(self) -> tuple[float, ...]:
        found = self.honours
        delay_ns = float("inf") if found.delay_ns_min is None else found.delay_ns_min
        return -self.early, -delay_ns, found.packets_per_s_max or 0, found.goodput_bps_max

    @property
    def early(self) -> int:
        """Packets that left before they were due; must be 0."""
        return sum(check.early for check in self.delays)


def _smallest_delay_ns(checks: tuple[DelayCheck, ...]) -> int | None:
    # The error was not seen to grow with the delay, so what held at one delay holds above it as well; nothing
    # is claimed for delays shorter than the shortest that was tried.
    return min(
        (max(check.declared_ns, round(check.error_ns_p99 / ERROR_SHARE_MAX)) for check in checks),
        default=None,
    )


def _passed(rate: RateCheck) -> bool:
    # Starting the sender is part of its time, a few hundredths of it.
    return rate.lost == 0 and rate.offered_per_s >= 0.9 * rate.asked_per_s


def calibration_file() -> Path:
    """Return where the calibration of this account on this machine is kept."""
    return cache_folder() / "calibration.json"


def keep_better(measured: Calibration) -> Calibration:
    """Store a calibration, unless the stored one is better and still holds; return the one that is kept."""
    try:
        stored = stored_calibration()
    except CalibrationUnreadableError:
        stored = None
    if stored is not None and stored.holds(measured) and stored.better_than(measured):
        return stored
    store_calibration(measured)
    return measured


def store_calibration(calibration: Calibration) -> Path:
    """Keep a calibration in the place of the one before; return its file."""
    file = calibration_file()
    write_text(file, calibration.model_dump_json(by_alias=True, indent=2) + "\n")
    return file


def stored_calibration() -> Calibration | None:
    """Return the calibration that is kept, or None where there is none.

    Raises: CalibrationUnreadableError: there is one of another format; a new calibration replaces it.
    """
    file = calibration_file()
    try:
        return Calibration.model_validate_json(file.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise CalibrationUnreadableError(
            f"{file}: not a calibration of this version ({type(error).__name__}); "
            "run `crosswind doctor` to replace it"
        ) from error

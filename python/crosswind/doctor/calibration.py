"""The calibration: the delays and rates that this machine honours, by measurement (JSON, schema 2).

A busy hour makes a calibration worse, and nothing makes it better than the machine. So the best of the last
seven days is stored.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, computed_field

from crosswind.doctor.machine import CalibratedMachine
from crosswind.errors import CrosswindError
from crosswind.results.durable import write_text
from crosswind.testbed.folders import cache_folder

# A delay is honoured when 99 % of packets are within this share of it.
ERROR_SHARE_MAX = 0.1
# Kernel, firmware and neighbours of a virtual machine change: a new calibration replaces an older one.
AGE_MAX = timedelta(days=7)


class CalibrationUnreadableError(CrosswindError):
    """The stored calibration is damaged or of another version of Crosswind."""


class _Part(BaseModel):
    # `honours` is computed: it is in the file and no field. So unknown keys are ignored.
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class DelayCheck(_Part):
    """One-way delay of single packets over a link of declared delay.

    `error` is the absolute difference between a packet's delay and the declared delay plus the floor's
    median; `ledger` is the lateness that the emulator itself recorded.
    """

    declared_ns: int
    packets: int
    error_ns_p50: int
    error_ns_p99: int
    ledger_ns_p50: int
    ledger_ns_p99: int
    ledger_ns_max: int
    early: int  # Packets that left before they were due; more than 0 is a bug of the emulator.


class RateCheck(_Part):
    """Packets offered at a steady rate, and how many of them the emulator did not pass on.

    `offered_per_s` is the rate of the sender. If it is below `asked_per_s`, the sender was too slow.
    """

    asked_per_s: int
    offered_per_s: int
    packets: int
    lost: int


class Honours(_Part):
    """The limits for experiments on this machine; None where no tested value was honoured."""

    delay_ns_min: int | None
    packets_per_s_max: int | None
    goodput_bps_max: int


class Calibration(_Part):
    """One calibration of one machine, by one version of Crosswind."""

    # Some files of schema 1 have the sender's lateness in place of the packets' delays.
    schema_version: Literal[2] = Field(2, alias="schema")
    measured_at: datetime  # With a time zone.
    machine: CalibratedMachine
    version: str  # Of the agent.
    rootless: bool
    wait_mode: str  # `spin` or `sleep`.
    load_average: float  # Before the calibration began.
    floor_ns_p50: int  # One-way delay without a declared delay.
    floor_ns_p99: int
    delays: tuple[DelayCheck, ...]  # In ascending order of `declared_ns`.
    rates: tuple[RateCheck, ...]  # In ascending order; ends with the first that lost packets.
    goodput_bps: int  # TCP payload through a link without a rate, all connections together.
    canary_gap_ns_max: int  # The longest stall of the spinning emulator; 0 if it never spun.
    steal_share: float  # In [0, 1], of one core, during the measurement.

    @computed_field  # type: ignore[prop-decorator]
    @property
    def honours(self) -> Honours:
        """The limits for experiments on this machine."""
        return Honours(
            delay_ns_min=_smallest_delay_ns(self.delays),
            packets_per_s_max=max((rate.asked_per_s for rate in self.rates if _passed(rate)), default=None),
            goodput_bps_max=self.goodput_bps,
        )

    def holds(self, other: Calibration) -> bool:
        """Return whether it is valid when `other` is measured: same machine and version, and not too old."""
        return (
            not self.machine.differences(other.machine)
            and (self.version, self.rootless) == (other.version, other.rootless)
            and timedelta(0) <= other.measured_at - self.measured_at <= AGE_MAX
        )

    def better_than(self, other: Calibration) -> bool:
        """Return whether it honours shorter delays or, if those are equal, higher packet rates."""
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
    # Measured errors do not grow with the delay, so a delay longer than an honoured one is honoured too.
    # Nothing is claimed for delays shorter than the shortest that was tested.
    return min(
        (max(check.declared_ns, round(check.error_ns_p99 / ERROR_SHARE_MAX)) for check in checks),
        default=None,
    )


def _passed(rate: RateCheck) -> bool:
    # The time includes the start of the sender, which is a few hundredths of it.
    return rate.lost == 0 and rate.offered_per_s >= 0.9 * rate.asked_per_s


def calibration_file() -> Path:
    """Return the file of this account's calibration on this machine."""
    return cache_folder() / "calibration.json"


def keep_better(measured: Calibration) -> Calibration:
    """Store a calibration, unless the stored one is better and still valid; return the stored one."""
    try:
        stored = stored_calibration()
    except CalibrationUnreadableError:
        stored = None
    if stored is not None and stored.holds(measured) and stored.better_than(measured):
        return stored
    store_calibration(measured)
    return measured


def store_calibration(calibration: Calibration) -> Path:
    """Store a calibration in place of the previous one; return its file."""
    file = calibration_file()
    write_text(file, calibration.model_dump_json(by_alias=True, indent=2) + "\n")
    return file


def stored_calibration() -> Calibration | None:
    """Return the stored calibration, or None where there is none.

    Raises: CalibrationUnreadableError: it has another format; a new calibration replaces it.
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

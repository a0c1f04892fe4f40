"""The table of a report about the machines that carried the network together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crosswind.analysis.machines import RunMachine
from crosswind.text.quantities import memory_text
from crosswind.text.units import count

_UNKNOWN = "-"


@dataclass(frozen=True)
class MachineLine:
    """A machine as a row of texts; `over` is what carried packets between all of them."""

    name: str
    address: str
    over: str
    cpu: str
    memory: str
    kernel: str
    agent: str
    skew: str
    began: str
    late: str
    lost: str
    reordered: str
    duplicate: str
    forged: str


def machine_lines(machines: Sequence[RunMachine]) -> list[MachineLine]:
    """Return a row for each machine; none where the network was on one machine."""
    return [_line(machine, is_first=not number) for number, machine in enumerate(machines)]


def within(value_ns: int, bound_ns: int) -> str:
    """Return a one-way time with the bound of the clocks, such as `12.0 us ± 6.0 us`."""
    return f"{_tenths(value_ns):.1f} us ± {_tenths(bound_ns):.1f} us"


def _tenths(thousandths: int) -> float:
    """Return a number of thousandths, rounded to a tenth; never -0.0."""
    return round(thousandths / 1000, 1) + 0.0


def _line(machine: RunMachine, *, is_first: bool) -> MachineLine:
    facts = machine.facts
    cores = None if facts is None else facts.cores
    model = None if facts is None else facts.cpu or facts.processor
    memory = None if facts is None else facts.memory_bytes
    return MachineLine(
        name=machine.name,
        address=(facts and facts.address) or _UNKNOWN,
        over="raw Ethernet" if machine.network == "native" else "UDP",
        cpu=", ".join(filter(None, (None if cores is None else f"{cores} cores", model))) or _UNKNOWN,
        memory=_UNKNOWN if memory is None else memory_text(memory),
        kernel=(facts and facts.kernel) or _UNKNOWN,
        agent=(facts and facts.agent) or _UNKNOWN,
        # All clocks are compared with the first one.
        skew="the clock" if is_first else f"{_tenths(machine.skew_ppb):+.1f} ppm",
        began="the start" if is_first else within(*machine.began_ns),
        late=_UNKNOWN if machine.late_ns is None else within(*machine.late_ns),
        lost=count(machine.lost),
        reordered=count(machine.reordered),
        duplicate=count(machine.duplicate),
        forged=count(machine.forged),
    )

"""Warnings about the setting of a run: session, machine, TCP, and the clients that measured."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

from crosswind.analysis.cautions.catalogue import Caution, CautionKind, caution, sentences
from crosswind.analysis.generator import Generator
from crosswind.analysis.machines import RunMachine, machines_over
from crosswind.analysis.summary import Summary
from crosswind.machine import machine_fingerprint
from crosswind.stats import Interval, RefusedInterval
from crosswind.text.units import count, percent, short_names

SESSION_PAUSE = timedelta(hours=1)  # a run that continues after a longer pause is another session
BUSY_SHARE = 0.8  # above it, the queue in front of the generator grows to several times its service time
LATE_SHARE = 0.5  # the generator causes half of the tail
COMMON_SHARE = 0.9  # the rest may change a sum by a tenth, which is as much as sessions differ


def setting_cautions(summary: Summary) -> list[Caution]:
    """Return the warnings that apply."""
    return [
        *_machines(summary), *_datagrams(summary), *_generators(summary), *_windows(summary),
        *_notes(summary), *_tcp(summary), *_session(summary),
    ]  # fmt: skip


def _machines(summary: Summary) -> list[Caution]:
    first, last = summary.provenance.before, summary.provenance.after
    before, after = (None if side is None else machine_fingerprint(side) for side in (first, last))
    if last is None or before is None or after is None:
        return []
    # A machine that did not answer after the last trial is not known to be another one.
    silent = tuple(f" of {machine.name}" for machine in last.machines if machine.kernel is None)
    changed = [
        f"{name} was {before.get(name, 'absent')} and is {after.get(name, 'absent')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name) and not name.endswith(silent)
    ]
    if not changed:
        return []
    return [caution(CautionKind.MIXED_MACHINES, "Mixed machines", f"{'; '.join(changed)}.")]


def _datagrams(summary: Summary) -> list[Caution]:
    """Warn of datagrams between machines that were lost, or that no machine of the run had made."""
    machines = machines_over([trial.machines for trial in summary.trials], summary.provenance)

    def named(of: Callable[[RunMachine], int]) -> str:
        return ", ".join(f"{count(of(machine))} to {machine.name}" for machine in machines if of(machine))

    found = []
    if lost := named(lambda machine: machine.lost):
        found.append(caution(CautionKind.DATAGRAMS_LOST, "Datagrams between machines were lost", f"{lost}."))
    if forged := named(lambda machine: machine.forged):
        found.append(
            caution(CautionKind.DATAGRAMS_FORGED, "Datagrams that no machine has made", f"{forged}.")
        )
    return found


def _generators(summary: Summary) -> list[Caution]:
    """Warn of trials whose generator used all of its CPU time, or was itself late."""
    busy = _by_condition(summary, lambda generator: (generator.busy_share or 0) >= BUSY_SHARE)
    late = _by_condition(summary, lambda generator: (generator.late_share or 0) >= LATE_SHARE)
    found = []
    if busy:
        found.append(f"It used more than {percent(BUSY_SHARE)} of the CPU time available to it: {busy}.")
    if late:
        found.append(f"Its own lateness is more than half of P99: {late}.")
    if not found:
        return []
    return [caution(CautionKind.GENERATOR_SATURATED, "The load generator was at its limit", " ".join(found))]


def _windows(summary: Summary) -> list[Caution]:
    def staggered(generator: Generator) -> bool:
        return generator.common_share is not None and generator.common_share < COMMON_SHARE

    apart = _by_condition(summary, staggered)
    if not apart:
        return []
    where = f"All clients sent together in less than {percent(COMMON_SHARE)} of the time: {apart}."
    return [caution(CautionKind.STAGGERED_WINDOWS, "Averages of staggered windows", where)]


def _notes(summary: Summary) -> list[Caution]:
    before = summary.provenance.before
    remarks = [] if before is None else before.remarks
    return [Caution(CautionKind.MACHINE_REMARK, "Of this machine", sentences(remarks))] if remarks else []


def _tcp(summary: Summary) -> list[Caution]:
    """Warn where the machine's default TCP differs from that of the nodes, or changed."""
    if summary.provenance.before is not None and summary.provenance.before.machines:
        return []  # The nodes are on others.
    declared = summary.resolved.tcp
    default, after = (_sysctls(summary, when) for when in ("before", "after"))
    pairs = {
        "congestion control": (declared.congestion_control, default.get("tcp_congestion_control")),
        "smallest retransmission timeout in us": (
            declared.rto_min_us,
            default.get("tcp_rto_min_us"),
        ),
    }
    found = [
        f"{name}: {here} in the nodes, {there} by default"
        for name, (here, there) in pairs.items()
        if here is not None and there is not None and str(here) != str(there)
    ]
    found += [
        f"{name} was {default[name]} before the run and {after[name]} after it"
        for name in default
        if name.startswith("tcp_") and name in after and default[name] != after[name]
    ]
    if not found:
        return []
    return [caution(CautionKind.TCP_DEFAULTS_DIFFER, "TCP defaults differ", sentences(found))]


def _session(summary: Summary) -> list[Caution]:
    """Warn that an interval is of one session."""
    estimates = [condition.estimates[summary.primary.key] for condition in summary.conditions]
    if not any(isinstance(estimate, Interval | RefusedInterval) for estimate in estimates):
        return []
    starts = sorted(trial.row.started for trial in summary.trials if trial.row.started is not None)
    if any(later - earlier > SESSION_PAUSE for earlier, later in pairwise(starts)):
        return []
    return [caution(CautionKind.ONE_SESSION, "One session only")]


def _sysctls(summary: Summary, when: str) -> dict[str, str | int | None]:
    """Return the machine's sysctls, those of IPv4 without their prefix."""
    side = summary.provenance.before if when == "before" else summary.provenance.after
    found = {} if side is None else side.sysctls
    return {name.removeprefix("net.ipv4."): value for name, value in found.items()}


def _by_condition(summary: Summary, holds: Callable[[Generator], bool]) -> str:
    """Return the conditions and their numbers of affected trials, such as `none (3 of 6)`."""
    short = short_names(condition.name for condition in summary.conditions)
    counts = {
        c.name: sum(t.generator is not None and holds(t.generator) for t in c.counted)
        for c in summary.conditions
    }
    return ", ".join(
        f"{short[condition.name]} ({counts[condition.name]} of {len(condition.counted)})"
        for condition in summary.conditions
        if counts[condition.name]
    )

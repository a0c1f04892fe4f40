"""Print a diagnosis: findings with remedies, the figures of the calibration, and the answer."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from crosswind.doctor.calibration import AGE_MAX, Calibration
from crosswind.doctor.diagnosis import Diagnosis
from crosswind.doctor.finding import STYLES, Finding, FindingVerdict
from crosswind.text.quantities import count_text, moment_text, rate_text, time_text

_VERDICT_WIDTH = max(map(len, FindingVerdict))
_FIGURE_WIDTH = len("delays within 10 %")  # The longest name among the figures.


def print_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    """Print a diagnosis; the answer comes last, where a terminal shows it."""
    width = max(len(finding.name) for finding in diagnosis.findings)
    for finding in diagnosis.findings:
        _print_finding(finding, width, console)
    if diagnosis.calibration is not None:
        console.print()
        console.print("Calibration of this machine, measured now", style="bold")
        for what, figure in figures(diagnosis.calibration):
            console.print(f"  {what:{_FIGURE_WIDTH}}  {figure}", markup=False)
    if (kept := diagnosis.kept) is not None and kept != diagnosis.calibration:
        console.print(kept_text(kept, diagnosis.kept_in), markup=False)
    console.print()
    console.print(answer(diagnosis), style="bold" if diagnosis.ready else "bold red", markup=False)


def figures(calibration: Calibration) -> list[tuple[str, str]]:
    """Return the measured figures as pairs of a name and a sentence."""
    honours = calibration.honours
    floor = f"{time_text(calibration.floor_ns_p50)}, 99 % below {time_text(calibration.floor_ns_p99)}"
    rows = [("floor", f"{floor}: one way, without a declared delay")]
    for check in calibration.delays:
        rows.append(
            (
                f"delay of {time_text(check.declared_ns)}",
                f"error {time_text(check.error_ns_p50)} at the median, "
                f"99 % below {time_text(check.error_ns_p99)}; "
                f"the emulator was late by {time_text(check.ledger_ns_p50)}, "
                f"99 % below {time_text(check.ledger_ns_p99)}, at most {time_text(check.ledger_ns_max)}",
            )
        )
    least = honours.delay_ns_min
    rows.append(
        (
            "delays within 10 %",
            "none of the tested ones" if least is None else f"from {time_text(least)}, for 99 % of packets",
        )
    )
    rows.append(("packet rate", _rate(calibration)))
    rows.append(("TCP goodput", f"{rate_text(honours.goodput_bps_max)} through a link without a limit"))
    rows.append(
        (
            "disturbance",
            f"longest stall {time_text(calibration.canary_gap_ns_max)}, steal {calibration.steal_share:.1%}",
        )
    )
    return rows


def kept_text(kept: Calibration, file: Path | None) -> str:
    """Return a sentence about the stored calibration: its figures, and how long it is valid."""
    found = kept.honours
    delays = "no delays" if found.delay_ns_min is None else f"delays from {time_text(found.delay_ns_min)}"
    packets = "" if found.packets_per_s_max is None else f", {count_text(found.packets_per_s_max)} packets/s"
    return (
        f"Stored is the better one of {moment_text(kept.measured_at)}: {delays}{packets}, "
        f"{rate_text(found.goodput_bps_max)}. `crosswind plan` uses it until "
        f"{moment_text(kept.measured_at + AGE_MAX)}; delete {file} if this machine has changed since then."
    )


def answer(diagnosis: Diagnosis) -> str:
    """Return the result in one sentence."""
    missing = sum(finding.verdict == FindingVerdict.MISSING for finding in diagnosis.findings)
    warnings = sum(finding.verdict == FindingVerdict.WARNING for finding in diagnosis.findings)
    if missing:
        things = "one thing is missing" if missing == 1 else f"{missing} things are missing"
        return f"This machine cannot run Crosswind yet: {things}, see `do` above."
    if warnings:
        return f"This machine can run Crosswind; {warnings} warning{'' if warnings == 1 else 's'} above."
    return "This machine can run Crosswind."


def _print_finding(finding: Finding, width: int, console: Console) -> None:
    line = Text("  ")
    line.append(f"{finding.verdict.value:{_VERDICT_WIDTH}}", style=STYLES[finding.verdict])
    line.append(f"  {finding.name:{width}}  {finding.found}")
    console.print(line)
    if finding.remedy:
        console.print(Text(f"  {'':{_VERDICT_WIDTH}}  {'':{width}}  do: {finding.remedy}"))


def _rate(calibration: Calibration) -> str:
    passed = calibration.honours.packets_per_s_max
    shown = (
        "none of the tested ones"
        if passed is None
        else f"{count_text(passed)} packets/s of 64 bytes without loss"
    )
    last = calibration.rates[-1]
    if last.lost:
        shown += f"; at {count_text(last.asked_per_s)} packets/s {last.lost / last.packets:.1%} were lost"
    elif last.asked_per_s != passed:
        target = count_text(last.asked_per_s)
        shown += f"; the sender managed {count_text(last.offered_per_s)} of {target} packets/s"
    return shown

"""Print a certificate: every claim by clock and family, and the answer last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from crosswind.certify.certificate import Certificate
from crosswind.certify.claim import Claim, Decision
from crosswind.text.quantities import count_text, time_text

_STYLES = {Decision.HELD: "green", Decision.UNDECIDED: "yellow", Decision.FAILED: "bold red"}
_CLOCKS = {
    "virtual": "In virtual time: the engine alone",
    "live": "On this machine, now",
    "perceived": "The same experiment at two dilations: the largest change that the trials leave possible",
}


def print_certificate(certificate: Certificate, console: Console) -> None:
    """Print a certificate; the answer comes last, where a terminal shows it."""
    for clock, claims in groupby(certificate.claims, key=lambda claim: claim.clock):
        console.print(_table(_CLOCKS[clock], list(claims), sources=certificate.suite == "conformance"))
        console.print()
    # One disturbance can leave many claims undecided; it is printed once.
    for reason, names in _by_reason(certificate.claims).items():
        subject = names[0] if len(names) == 1 else f"{len(names)} claims"
        console.print(f"{subject}: {reason}", markup=False)
    if repeated := sum(one.repeated for one in certificate.tries):
        tried = f"{repeated} of {len(certificate.tries)} live measurements did not count and were repeated"
        console.print(f"{tried}: other programs or the hypervisor used the CPU.", markup=False)
    if (invariance := certificate.invariance) is not None and invariance.left_out:
        console.print(f"No null run: {invariance.left_out}.", markup=False)
    console.print(answer(certificate), style=_STYLES[certificate.decision], markup=False)


def answer(certificate: Certificate) -> str:
    """Return the result in one sentence."""
    total = len(certificate.claims)
    failed, undecided = certificate.failed, certificate.undecided
    took = f"in {certificate.took_s:.0f} s"
    if failed:
        also = f", {undecided} undecided" if undecided else ""
        return f"NOT certified: {failed} of {total} claims failed{also} ({took})."
    if undecided:
        with_more = "" if certificate.invariance is None else ", or with more trials (`repeat`)"
        return (
            f"Undecided: {undecided} of {total} claims could not be measured well enough; the others held "
            f"({took}). Run it again on a quiet machine{with_more}."
        )
    return f"Certified: all {total} claims held ({took})."


def _by_reason(claims: Sequence[Claim]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for claim in claims:
        if claim.remark:
            names.setdefault(claim.remark, []).append(claim.name)
    return names


def figure_text(value: float | None, unit: str) -> str:
    """Return a figure with its unit, such as `4.2 us` or `0 packets`."""
    if value is None:
        return "unknown"
    if unit == "ns":
        return time_text(value)
    if unit in ("packets", "nodes", "decisions", "programs"):
        return f"{count_text(value)} {unit}"
    return f"{value:.3g} {unit}"


def _table(title: str, claims: list[Claim], *, sources: bool) -> Table:
    """Return a table of claims; the sources of criteria that others wrote are a column of it."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for heading in ("", "claim"):
        table.add_column(heading)
    for heading in ("measured", "at most"):
        table.add_column(heading, justify="right")
    if sources:
        table.add_column("source")
    family = ""
    for claim in claims:
        if claim.family != family:
            family = claim.family
            table.add_row("", f"[bold]{family}[/bold]")
        table.add_row(
            f"[{_STYLES[claim.decision]}]{claim.decision.value}[/]",
            f"  {claim.name}",
            figure_text(claim.measured, claim.unit),
            figure_text(claim.bound, claim.unit),
            *([claim.because] if sources else []),
        )
    return table

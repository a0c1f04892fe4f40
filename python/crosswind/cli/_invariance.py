"""`crosswind certify --dilation`: an experiment at a dilation and at twice that, in the blocks of one run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.spec import Resolved

# As `crosswind run` does where nothing else is given.
RESULTS = Path("results")


def certify_dilation(file: str, out: Path | None, *, as_json: bool) -> Exit:
    """Run the experiment, print and store the certificate, and return its exit status.

    Raises: CrosswindError: it cannot be slowed down so, or this machine cannot run it; nothing was run.
    """
    from crosswind.certify.certificate import store_certificate
    from crosswind.certify.invariance import certificate_of
    from crosswind.certify.text import print_certificate
    from crosswind.doctor.slower import hindrance_to_real_time
    from crosswind.plan import outline
    from crosswind.plan.text import between
    from crosswind.report import write_report, write_report_so_far
    from crosswind.report.terminal import shown
    from crosswind.runner import run
    from crosswind.spec.dilation import under_each
    from crosswind.spec.named_experiment import named_experiment
    from crosswind.stream import Event, Stream

    require_writable(RESULTS, "run it in a folder that you may write")
    named = named_experiment(file)
    factor = _factor(named.resolved, file)
    left_out = hindrance_to_real_time(named.resolved)
    dilations = tuple(dict.fromkeys([*([] if left_out else [None, 1]), factor, 2 * factor]))
    resolved = under_each(named.resolved, dilations)
    planned = outline(resolved)
    takes = between(planned.expected.least_s, planned.expected.most_s)
    click.echo(f"{len(planned.trials)} trials, {takes}", err=True)
    began_s = time.monotonic()
    stream = Stream[Event]()
    with shown(stream):
        outcome = run(resolved, named.text, named.folder, RESULTS, stream, report=write_report_so_far)
    for remark in outcome.remarks:
        console(stderr=True).print(remark, markup=False)
    if not (outcome.folder / "trials.parquet").is_file():
        return outcome.exit
    report = write_report(outcome.folder)
    certificate = certificate_of(outcome.folder, dilations, left_out, time.monotonic() - began_s)
    stored = store_certificate(certificate, out or outcome.folder / "certificate.json")
    if as_json:
        print_json(certificate.as_json())
    else:
        print_certificate(certificate, console())
        click.echo(f"certificate: {stored}\nreport: {report}")
    return certificate.exit


def _factor(resolved: Resolved, file: str) -> int:
    """Return the dilation to certify: the file's own, or else what `crosswind plan` proposes.

    Raises: CrosswindError: there is none, or twice as much is too much.
    """
    from crosswind.doctor import slower_here
    from crosswind.spec.resolved import FACTOR_MAX

    if resolved.design is not None:
        raise CrosswindError(
            f"{file}: `design: adaptive` chooses conditions by their results, so that they differ between "
            "dilations; certify the experiment without it"
        )
    if len(resolved.dilations) > 1:
        raise CrosswindError(
            f"{file}: its conditions have dilations of their own, and its report compares k with 2k; "
            "run it, or write `time: {dilation: k}` with a number"
        )
    (factor,) = resolved.dilations
    if factor is None:
        proposed = slower_here(resolved)
        if proposed is None:
            raise CrosswindError(
                f"{file}: has no `time: {{dilation: k}}`, and `crosswind plan` proposes none; add the one to "
                "certify"
            )
        factor = proposed.factor
    if 2 * factor > FACTOR_MAX:
        raise CrosswindError(
            f"{file}: twice a dilation of {factor} is above {FACTOR_MAX}; certify {FACTOR_MAX // 2} at most"
        )
    return factor

"""Check the emulation on this machine against known answers, and print a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.certify.certificate import SuiteName


@click.command()
@click.option(
    "--suite",
    type=click.Choice(("emulation", "conformance")),
    help="Known answers (the default), or criteria that others wrote: Linux' tests and RFCs.",
)
@click.option(
    "--dilation",
    "slowed_file",
    metavar="FILE",
    help="Instead, run this experiment at its dilation and at twice that, and compare.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the certificate to this file instead of the cache folder, or the folder of the run.",
)
def command(suite: SuiteName | None, slowed_file: str | None, as_json: bool, out: Path | None) -> Exit:
    """Check the emulation on this machine against known answers, and print a certificate.

    It takes two to four minutes. First it checks the engine alone, in virtual time, against exact answers:
    links, token buckets, schedulers, queueing theory, delays, order and conservation. Then it sends real
    packets on this machine and compares them with a bare veth pair in the same run (this needs root). Each
    claim shows the measured value, its bound, the source of the bound, and a verdict: held, failed, or
    undecided if the machine was too busy. Only the certificate's own file is written. Exit status 4: a
    claim failed. 6: none failed, some are undecided.

    `--suite conformance` checks other claims instead, in about two minutes: criteria of other people's tests
    and of RFCs, each with its section. A criterion that does not apply is not in the table; the
    documentation lists it.

    With --dilation it runs an experiment instead: a file, or a name of the catalogue. Every condition runs at
    the file's `time: {dilation: k}`, or at what `crosswind plan` proposes, and at twice that, at least six
    times each, in random order within blocks. A figure of the application holds where the trials exclude that
    it changes by more than 5 %; it failed where they show such a change. Where this machine carries the
    experiment in real time, a dilation of 1 is compared with real time, too. Programs and calls that were not
    slowed down are named. The run is stored below results, as by `crosswind run`.
    """
    if out is not None:
        require_writable(out, "name another file with --out")
    if slowed_file is not None:
        if suite is not None:
            raise CrosswindError("--suite: runs no experiment; leave out --suite, or --dilation")
        from crosswind.cli._invariance import certify_dilation

        return certify_dilation(slowed_file, out, as_json=as_json)
    from rich.console import Console

    from crosswind.certify.certificate import store_certificate
    from crosswind.certify.suite import certify
    from crosswind.certify.text import print_certificate

    # Progress goes to stderr, and only on a terminal.
    with Console(stderr=True).status("") as status:
        certificate = certify(suite or "emulation", status.update)
    file = store_certificate(certificate, out)
    if as_json:
        print_json(certificate.as_json())
    else:
        print_certificate(certificate, console())
        click.echo(f"certificate: {file}")
    return certificate.exit

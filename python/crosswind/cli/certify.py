"""Check the emulation on this machine against known answers, and print a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import console, print_json
from crosswind.errors import Exit

if TYPE_CHECKING:
    from crosswind.certify.certificate import SuiteName


@click.command()
@click.option(
    "--suite",
    type=click.Choice(("emulation", "conformance")),
    default="emulation",
    help="Known answers (the default), or criteria that others wrote: Linux' tests and RFCs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the certificate to this file instead of the cache folder.",
)
def command(suite: SuiteName, as_json: bool, out: Path | None) -> Exit:
    """Check the emulation on this machine against known answers, and print a certificate.

    It takes two to four minutes. First it checks the engine alone, in virtual time, against exact answers:
    links, token buckets, schedulers, queueing theory, delays, order and conservation. Then it sends real
    packets on this machine and compares them with a bare veth pair in the same run (this needs root). Each
    claim shows the measured value, its bound, the source of the bound, and a verdict: held, failed, or
    undecided if the machine was too busy. Only the certificate's own file is written. Exit status 4: a
    claim failed. 6: none failed, some are undecided.

    `--suite conformance` checks other claims instead: criteria of other people's tests and of RFCs, each with
    its section. A criterion that does not apply is not in the table; the documentation lists it.
    """
    if out is not None:
        require_writable(out, "name another file with --out")
    from rich.console import Console

    from crosswind.certify.certificate import store_certificate
    from crosswind.certify.suite import certify
    from crosswind.certify.text import print_certificate

    # Progress goes to stderr, and only on a terminal.
    with Console(stderr=True).status("") as status:
        certificate = certify(suite, status.update)
    file = store_certificate(certificate, out)
    if as_json:
        print_json(certificate.as_json())
    else:
        print_certificate(certificate, console())
        click.echo(f"certificate: {file}")
    return certificate.exit

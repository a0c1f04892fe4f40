"""Ask the emulation on this machine what is known already, and print a certificate."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import console, print_json
from crosswind.errors import Exit


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Keep the certificate in this file, instead of the cache folder.",
)
def command(as_json: bool, out: Path | None) -> Exit:
    """Ask the emulation on this machine what is known already, and print a certificate.

    Takes one to two minutes. First the engine alone, in virtual time: links, token buckets, schedulers,
    queueing theory, delays, order and conservation, against exact answers. Then real packets on this machine,
    beside a bare veth pair (for which it needs root) in the same run. Every claim has the figure that was
    measured, the bound that it keeps, where the bound comes from, and a decision: held, failed, or undecided
    where the machine was too busy to say. Nothing is changed but the certificate's own file. Exit status 4
    when a claim failed, 6 when none failed and some are undecided.
    """
    if out is not None:
        require_writable(out, "name another file with --out")
    from rich.console import Console

    from crosswind.certify.certificate import store_certificate
    from crosswind.certify.suite import certify
    from crosswind.certify.text import print_certificate

    # What is under way goes to stderr, and only where somebody watches.
    with Console(stderr=True).status("") as status:
        certificate = certify(status.update)
    file = store_certificate(certificate, out)
    if as_json:
        print_json(certificate.as_dict())
    else:
        print_certificate(certificate, console())
        click.echo(f"certificate: {file}")
    return certificate.exit

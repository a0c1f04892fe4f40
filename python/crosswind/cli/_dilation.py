"""`--dilation`, which verbs that bring a network up have in common."""

from __future__ import annotations

import click

dilation_option = click.option(
    "--dilation",
    type=int,
    metavar="FACTOR",
    help="Slow time down in the nodes by this factor, 1 to 1000; it takes the place of the file's `time`.",
)

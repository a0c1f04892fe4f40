"""`--testbed`, which verbs that read an experiment have in common."""

from __future__ import annotations

from pathlib import Path

import click

testbed_option = click.option(
    "--testbed",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A file with the content of `testbed:`; it takes the place of the experiment's own.",
)

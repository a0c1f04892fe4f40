"""The option of every verb that runs trials: go on though nothing works."""

from __future__ import annotations

import click

keep_going_option = click.option(
    "--keep-going",
    is_flag=True,
    help="Continue even if all trials of the first block fail for the same reason.",
)

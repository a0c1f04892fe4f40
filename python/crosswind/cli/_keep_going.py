"""The option of every verb that runs trials: continue although all trials fail."""

from __future__ import annotations

import click

keep_going_option = click.option(
    "--keep-going",
    is_flag=True,
    help="Continue even if all trials of the first block fail for the same reason.",
)

"""Remove what ended runs left behind: work folders, sockets, control groups. Active runs are not touched."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.errors import Exit


@click.command()
def command() -> Exit:
    """Remove what ended runs left behind: work folders, sockets, control groups.

    Active runs are not touched. Nodes, processes and network devices never need this: they end with the
    run, however it ends.
    """
    from crosswind.testbed.binaries import sweep
    from crosswind.testbed.control import stale_sockets
    from crosswind.testbed.folders import stale_work_folders

    removed, remaining = 0, 0
    for path in [*stale_work_folders(), *stale_sockets()]:
        try:
            _remove(path)
            removed += 1
            click.echo(f"removed {path}")
        except OSError as error:
            remaining += 1
            click.echo(f"{error.filename or path}: not removed: {error.strerror}", err=True)
    swept, left = sweep()
    removed, remaining = removed + len(swept), remaining + len(left)
    for group in swept:
        click.echo(f"removed {group}")
    for reason in left:
        click.echo(reason, err=True)
    if not removed and not remaining:
        click.echo("nothing to clean up")
    return Exit.CLEANUP_INCOMPLETE if remaining else Exit.DONE


def _remove(path: Path) -> None:
    from crosswind.testbed.folders import remove_tree

    if path.is_dir():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)

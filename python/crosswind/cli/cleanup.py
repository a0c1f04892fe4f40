"""Remove what ended runs left behind, on this machine or at a provider. Active runs are not touched."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.errors import CrosswindError, Exit


@click.command()
@click.option(
    "--testbed",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Remove machines of the provider that this file names, in place of what is on this machine.",
)
@click.option("--tag", "tags", multiple=True, help="Only what has this tag, also if made on another machine.")
def command(testbed: Path | None, tags: tuple[str, ...]) -> Exit:
    """Remove what ended runs left behind: work folders, sockets, control groups.

    Active runs are not touched. Nodes, processes and network devices never need this: they end with the
    run, however it ends.

    With --testbed it lists what Crosswind made at a provider, and removes what belongs to runs of this
    machine that have ended, such as by kill -9. Exit status 8: something that should go is left.
    """
    if testbed is not None:
        return _machines(testbed, tags)
    if tags:
        raise CrosswindError("--tag names machines of a provider; add --testbed FILE")
    from crosswind.testbed.binaries import sweep
    from crosswind.testbed.control.client import stale_sockets
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


def _machines(testbed: Path, tags: tuple[str, ...]) -> Exit:
    """Remove machines of a provider."""
    from crosswind.spec.testbed_file import load_testbed
    from crosswind.testbed.providers import Removal, remove_ended

    resolved = load_testbed(testbed)
    if resolved is None or resolved.provider is None:
        raise CrosswindError(
            f"{testbed}: names no provider, so no machine was made; `crosswind cleanup` without --testbed "
            "cleans this one"
        )
    done: list[Removal] = []
    for removal in remove_ended(resolved.provider, tags, click.echo):
        done.append(removal)
        click.echo(
            f"removed {removal.tag}" if removal.removed else f"{removal.tag}: not removed: {removal.why}"
        )
    if not done:
        click.echo("nothing to clean up")
    return Exit.CLEANUP_INCOMPLETE if any(each.failed for each in done) else Exit.DONE


def _remove(path: Path) -> None:
    from crosswind.testbed.folders import remove_tree

    if path.is_dir():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)

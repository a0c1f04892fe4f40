"""List the applications: which can run here, and how to install what others need."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._output import print_json
from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from crosswind.app import Application, BrokenPlugin, Missing
    from crosswind.app.requirements import Requirement


@dataclass(frozen=True)
class _Variant:
    """A variant of an application in the list, such as ycsb/postgresql."""

    name: str
    ready: bool
    missing: list[Missing]


@dataclass(frozen=True)
class _Entry:
    """An application or tool in the list; with variants, it is ready if one of them is."""

    name: str
    summary: str
    ready: bool
    missing: list[Missing]
    variants: list[_Variant]


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the applications: which can run here, and how to install what others need."""
    if context.invoked_subcommand is not None:
        return
    entries = _entries()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    listed = [entry.name for entry in entries]
    width = max(map(len, [*listed, *(variant.name for entry in entries for variant in entry.variants)]))
    for entry in entries:
        click.echo(f"{entry.name:{width}} {_state(entry.ready):10} {entry.summary}")
        _print_missing(entry.missing, " " * width)
        for variant in entry.variants:
            click.echo(f"{variant.name:{width}} {_state(variant.ready)}")
            known = [item.what for item in entry.missing]
            besides = [item for item in variant.missing if item.what not in known]
            _print_missing(besides, " " * width)


@command.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def install(names: tuple[str, ...]) -> None:
    """Install what each NAME needs into a private folder: packages, programs and archives.

    Nothing is installed system-wide, and no root is needed. NAME is an application of the list, one of its
    variants such as ycsb/postgresql, a tool, or an experiment file; then all that this experiment needs is
    installed. For an application with variants, all that are available are installed.
    """
    from crosswind.app.requirements import CannotInstall

    failures = [failure for name in names for failure in _install(name)]
    if failures:
        raise CannotInstall("\n".join(failures))


def _install(name: str) -> list[str]:
    """Install what is missing for a name; return the errors."""
    from crosswind.app.requirements import CannotInstall

    failures = []
    for requirement in _requirements(name):
        if not requirement.missing():
            continue
        click.echo(f"{name}: {requirement.name}")
        try:
            requirement.install(_say)
        except CannotInstall as failure:
            failures.append(str(failure))
    click.echo(f"{name}: {'not complete' if failures else 'ready'}")
    return failures


def _say(text: str) -> None:
    click.echo(f"  {text}")


def _requirements(name: str) -> list[Requirement]:
    """Return the requirements of a name, each once.

    Raises: CrosswindError: there is no such name.
    """
    from crosswind.app import find, names
    from crosswind.app.requirements.iperf3 import IPERF3

    application, _, variant = name.partition("/")
    if application in names():
        kind = find(application)
        if not variant:
            sets = [kind.requirements, *kind.variants.values()]
            return list(dict.fromkeys(requirement for each in sets for requirement in each))
        if variant in kind.variants:
            return list(kind.needs(variant))
        raise CrosswindError(
            f'"{name}": {application} has no variant "{variant}"; it has {", ".join(kind.variants) or "none"}'
        )
    if name == IPERF3.name:
        return [IPERF3]
    if Path(name).is_file():
        return _requirements_of_experiment(Path(name))
    raise CrosswindError(
        f'"{name}": no such application, tool or experiment file; `crosswind apps` lists them'
    )


def _requirements_of_experiment(file: Path) -> list[Requirement]:
    from crosswind.app.find import application_of
    from crosswind.spec import load_experiment, resolve

    application = application_of(resolve(load_experiment(file)))
    return list(dict.fromkeys([*application.needs(application.variant), *application.own_requirements()]))


def _entries() -> list[_Entry]:
    from crosswind.app import BrokenPlugin, names
    from crosswind.app.requirements.iperf3 import IPERF3

    # All are loaded first: then a single look-up finds the versions of all Debian packages.
    found = [(name, _found(name)) for name in names()]
    entries = [
        _broken(name, str(application)) if isinstance(application, BrokenPlugin) else _entry_of(application)
        for name, application in found
    ]
    return entries if IPERF3.name in names() else [*entries, _iperf3()]


def _found(name: str) -> type[Application] | BrokenPlugin:
    from crosswind.app import BrokenPlugin, find

    try:
        return find(name)
    except BrokenPlugin as error:
        return error


def _entry_of(application: type[Application]) -> _Entry:
    from crosswind.app.availability import availability

    parts = availability(application)
    variants = [
        _Variant(part.name, part.ready, list(part.missing)) for part in parts if part.name != application.name
    ]
    ready = any(part.ready for part in parts)
    return _Entry(application.name, application.summary, ready, application.missing(), variants)


def _broken(name: str, why: str) -> _Entry:
    from crosswind.app import Missing

    what, _, remedy = why.rpartition("; ")
    return _Entry(name, "", False, [Missing(what, remedy)], [])


def _iperf3() -> _Entry:
    from crosswind.app import Missing
    from crosswind.app.requirements.iperf3 import IPERF3

    missing = [
        Missing(what, IPERF3.remedy("crosswind apps install iperf3"), tuple(IPERF3.commands()))
        for what in IPERF3.missing()
    ]
    return _Entry(IPERF3.name, "real interference in any experiment (`by: iperf3`)", not missing, missing, [])


def _state(ready: bool) -> str:
    return "ready" if ready else "not ready"


def _print_missing(items: list[Missing], indent: str) -> None:
    for missing in items:
        click.echo(f"{indent} {missing.what}")
        click.echo(f"{indent} {missing.remedy}")
        if missing.by_hand:
            click.echo(f"{indent} or by hand: {' && '.join(missing.by_hand)}")

"""Check whether this machine can run Crosswind, how exact it is, and what is missing."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._output import console, print_json
from crosswind.cli._testbed import testbed_option
from crosswind.errors import CrosswindError, Exit


@click.command()
@testbed_option
@click.option("--experiment", metavar="FILE", help="Check its machines, also for what it needs of each.")
@click.option("--json", "as_json", is_flag=True, help="Print findings and calibration as JSON.")
def command(testbed: Path | None, experiment: str | None, as_json: bool) -> Exit:
    """Check whether this machine can run Crosswind, how exact it is, and what is missing.

    It takes about five seconds, most of them for a calibration: it sends real packets between two nodes and
    measures how exactly they were delayed. The best calibration of the last seven days is stored, and
    `crosswind plan` checks experiments against it. Nothing else is changed. Run it on a quiet machine. Exit
    status 3: something is missing.

    With --testbed, or with an --experiment whose testbed has machines, these are checked over ssh instead: a
    row for each, with what it lacks below. The agent is copied to ~/.cache/crosswind where it is not there
    already. That takes about five seconds.
    """
    if testbed is not None or experiment is not None:
        return _machines(testbed, experiment, as_json)
    from rich.console import Console

    from crosswind.doctor.diagnosis import diagnose
    from crosswind.doctor.text import print_diagnosis

    # Progress goes to stderr, and only on a terminal.
    with Console(stderr=True).status("") as status:
        diagnosis = diagnose(status.update)
    if as_json:
        print_json(diagnosis.as_json())
    else:
        print_diagnosis(diagnosis, console())
    return Exit.DONE if diagnosis.ready else Exit.PREFLIGHT


def _machines(testbed: Path | None, experiment: str | None, as_json: bool) -> Exit:
    """Check the machines of a testbed, or of an experiment."""
    from rich.console import Console

    from crosswind.doctor.machines import look_at_machines, met_over_ethernet, needs_of, print_machines
    from crosswind.spec import find_experiment, load_experiment, resolve
    from crosswind.spec.testbed_file import load_testbed, on_testbed
    from crosswind.testbed.ssh import note_on_programs

    if experiment is None:
        assert testbed is not None
        machines, needs = load_testbed(testbed), {}
    else:
        resolved = on_testbed(resolve(load_experiment(find_experiment(experiment))), testbed)
        machines = resolved.testbed
        needs = {} if machines is None else needs_of(resolved)
    if machines is None:
        raise CrosswindError(
            f"{testbed or experiment}: its testbed is this machine; run `crosswind doctor` without it, or "
            "name machines with --testbed"
        )
    if machines.provider is not None:
        from crosswind.testbed.providers import provider_of

        provider_of(machines.provider).check()
        count = len(machines.machines)
        click.echo(f"The provider {machines.provider.name} can make the {count} machines. A run checks each.")
        return Exit.DONE
    with Console(stderr=True).status(f"checking {len(machines.machines)} machines"):
        found = look_at_machines(machines, needs, ways=machines.network is None)
        if machines.network is not None:
            found = met_over_ethernet(machines, found)
    if as_json:
        print_json([each.as_dict() for each in found])
    else:
        print_machines(found, console())
        if (note := note_on_programs()) is not None:
            click.echo(f"note: {note}")
    return Exit.DONE if all(each.ready for each in found) else Exit.PREFLIGHT

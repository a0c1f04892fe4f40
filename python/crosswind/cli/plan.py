"""Show the trials of an experiment, their order, the time they take, and the steps of a run."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._dilation import dilation_option
from crosswind.cli._output import print_json
from crosswind.cli._testbed import testbed_option
from crosswind.errors import Exit


@click.command()
@click.argument("file")
@click.option(
    "--pilot",
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="An earlier run of the same application, to predict the number of trials.",
)
@click.option(
    "--simulated",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="A sweep by `crosswind simulate --store`, to choose the conditions that deserve a real trial.",
)
@click.option(
    "--at-most",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Conditions to choose with --simulated.",
)
@testbed_option
@dilation_option
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def command(
    file: str,
    pilot: Path | None,
    simulated: Path | None,
    at_most: int,
    testbed: Path | None,
    dilation: int | None,
    as_json: bool,
) -> Exit:
    """Show an experiment's trials, their order, the time they take, and the steps of a run.

    FILE is an experiment file or the name of a catalogue experiment. Nothing is changed. The time is a range,
    from a quiet machine to a busy one; its parts are named, and what is not counted. The plan ends with
    warnings: what is missing on this machine (programs, packages, images), whether it is too small, and what
    it cannot emulate exactly, by the calibration of `crosswind doctor`, and the dilation at which it could,
    with the time that the run then takes. With other machines it shows which
    part of the network is on which, and which links are between two. Exit status 3: a link is too short for
    that.

    --pilot names the folder of an earlier run, or of an experiment; then its latest run counts. For each
    condition the plan then predicts how many trials bring the interval to the target in `until`, or to 5 %
    of the median, and how long they take. If the pilot does not show this, the plan says why.

    --simulated names the folder of a sweep by `crosswind simulate --store`. Instead of the plan, it prints
    the conditions that deserve a real trial: by turns that with the largest effect against the first
    condition, the largest spread between its trials, and the most timeouts. Neighbours in the grid of one
    that is chosen are passed over, and those with its figures.
    """
    if simulated is not None:
        return _ranked(file, simulated, at_most, as_json=as_json)
    from crosswind.analysis.pilot import predict
    from crosswind.analysis.pilot_text import describe_prediction
    from crosswind.app.find import application_of
    from crosswind.doctor import auto_domains_here, check_here, slower_here
    from crosswind.plan import outline
    from crosswind.plan.text import between, describe
    from crosswind.runner.backend import lack_of_backend
    from crosswind.runner.preflight import missing_for
    from crosswind.runner.room import lack_of_room
    from crosswind.spec import find_experiment, load_experiment, resolve
    from crosswind.spec.dilation import slowed
    from crosswind.spec.testbed_file import on_testbed

    resolved = slowed(on_testbed(resolve(load_experiment(find_experiment(file))), testbed), dilation)
    application = application_of(resolved)
    missing = missing_for(application)
    # Where programs or images are missing, data made from them cannot be looked for.
    is_prepared = bool(missing) or application.is_prepared(resolved.topology.nodes)
    planned = outline(resolved, auto_domains_here(resolved), is_prepared=is_prepared)
    too_little = lack_of_room(application, resolved.topology.nodes)
    predicted = None if pilot is None else predict(resolved, pilot)
    # Other machines are checked by `crosswind doctor --testbed`.
    of_carrier = check_here(resolved) if resolved.backend is None else lack_of_backend(resolved)
    machine = [] if planned.placement is not None else [*too_little, *of_carrier]
    proposed = slower_here(resolved)
    slow_enough = resolved
    if proposed is not None:
        same = [each.model_copy(update={"dilation": None}) for each in resolved.conditions]
        slow_enough = resolved.model_copy(update={"dilation": proposed.factor, "conditions": same})
    takes = outline(slow_enough, auto_domains_here(resolved), is_prepared=is_prepared).expected
    if as_json:
        pilot_says = {} if predicted is None else {"pilot": predicted.as_json()}
        print_json(
            {
                **planned.as_dict(),
                **pilot_says,
                "missing": [{"what": item.what, "remedy": item.remedy} for item in missing],
                "machine": machine,
                "slower": None
                if proposed is None
                else {"dilation": proposed.factor, "why": proposed.why, "expected": takes.as_dict()},
            }
        )
    else:
        click.echo(describe(planned))
        if predicted is not None:
            click.echo(f"\n{describe_prediction(predicted)}")
        if missing:
            click.echo("\nMissing on this machine")
            for item in missing:
                click.echo(f"  - {item.what}; {item.remedy}")
        if planned.placement is None:
            click.echo("\nThis machine")
            carried = "by its calibration, it can emulate all of this"
            if resolved.backend is not None:
                carried = f"backend {resolved.backend.name} can carry all of this"
            for remark in machine or [carried]:
                click.echo(f"  - {remark}")
            if proposed is not None:
                time = between(takes.least_s, takes.most_s)
                click.echo(f"  - {proposed.text}; the run then takes {time}")
    return Exit.PREFLIGHT if planned.placement is not None and planned.placement.problems else Exit.DONE


def _ranked(file: str, simulated: Path, at_most: int, *, as_json: bool) -> Exit:
    from crosswind.cli._output import console
    from crosswind.plan.expected import trial_s
    from crosswind.simulation.sweep import SweepFolder, rank
    from crosswind.simulation.sweep.ranking_text import print_ranking
    from crosswind.spec import find_experiment, load_experiment, resolve

    resolved = resolve(load_experiment(find_experiment(file)))
    ranking = rank(resolved, SweepFolder(simulated), at_most)
    if as_json:
        print_json(ranking.as_json())
    else:
        print_ranking(ranking, file, trial_s(resolved), console())
    return Exit.DONE

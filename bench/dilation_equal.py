"""Whether an application perceives the same at dilations of 1, 4 and 10, where this machine can do all three.

    python -m bench.dilation_equal bulk|rpc|ycsb|web|web-7 [--rounds 6] [--control cubic|reno] [--itself]
        [--condition lossy-2 ...] [--duration 5s]

Ten conditions with uplinks of 1 Gbit/s and a round trip of 8 ms, applied where packets enter the switch. The
round trip is that long because the machine's own time in a call, about 0.1 ms, is divided by a dilation as it
should be. Trials of one round have the same seed and follow one another in random order. Each figure at 4 and
at 10 is compared with that at 1 by two one-sided tests of the mean ratio, paired by round, with a margin of
5 %. A figure that is 0 in a round has no ratio; then the means are shown. Each is also compared over all
conditions of a round: rare events by their sum, others by their geometric mean.

With --itself a round has each condition three times in real time, and the second and third are compared with
the first. It shows how much of what the others leave undecided, or find different, is the spread of trials.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, geometric_mean

import crosswind
from crosswind.stats.equivalence import alike, tost_paired

DILATIONS = (1, 4, 10)
MARGIN = 1.05
CONDITIONS: Mapping[str, Sequence[object]] = {
    "near": [],
    "country": [{"delay": {"time": "10ms"}}],
    "jittery": [{"delay": {"time": "2ms", "jitter": "500us"}}],
    "lossy-0.5": [{"lose": "0.5%"}],
    "lossy-2": [{"lose": "2%"}],
    "lossy-5": [{"lose": "5%"}],
    "far-lossy": [{"delay": {"time": "5ms"}}, {"lose": "1%"}],
    "bursts": [{"lose": {"gilbert_elliott": {"p": "1%", "r": "25%"}}}],
    "policed": [{"police": {"rate": "100Mbit/s", "burst": "30kB"}}],
    "codel": [{"shape": {"rate": "100Mbit/s", "burst": "15kB", "buffer": "1MB", "drop": {"codel": {}}}}],
}


@dataclass(frozen=True)
class Tried:
    """An application on its nodes, and the figures that are compared, as metric and statistic.

    Attributes:
        events: those of the figures that count rare events, and so add up over conditions.
    """

    nodes: Sequence[str]
    application: Mapping[str, Mapping[str, object]]
    figures: Sequence[tuple[str, str]]
    events: Sequence[tuple[str, str]]


SLOW, RETRANSMISSIONS = ("slow", "share"), ("retransmissions", "count")
OPERATIONS = (("latency", "p50"), ("throughput", "mean"), SLOW, RETRANSMISSIONS)
PHASES = {"duration": "1s", "warm_up": "300ms"}
APPLICATIONS = {
    "bulk": Tried(
        ("a", "b"),
        {"traffic": {"exchange": "bulk", "connections": 8, "duration": "2s", "warm_up": "500ms"}},
        (("goodput", "mean"), ("rtt", "mean"), RETRANSMISSIONS),
        (RETRANSMISSIONS,),
    ),
    "rpc": Tried(
        ("server", "client"),
        {"rpc": {"connections": 64, "request": "100B", "response": "1kB", **PHASES}},
        OPERATIONS,
        (SLOW, RETRANSMISSIONS),
    ),
    "ycsb": Tried(
        # Reads alone: a dilation does not slow the disk down.
        ("db0", "db1", "client"),
        {"ycsb": {"workload": "c", "records": 1000, "clients": 16, **PHASES}},
        OPERATIONS,
        (SLOW, RETRANSMISSIONS),
    ),
    # Answers of eight packets: if the last is lost, the receiver holds its acknowledgement of the one before.
    "web": Tried(
        ("server", "client"),
        {"web": {"connections": 16, **PHASES}},
        OPERATIONS,
        (SLOW, RETRANSMISSIONS),
    ),
    # The control of it, answers of seven packets: six have come then, and are acknowledged at once.
    "web-7": Tried(
        ("server", "client"),
        {"web": {"connections": 16, "objects": ["9.7kB"], **PHASES}},
        OPERATIONS,
        (SLOW, RETRANSMISSIONS),
    ),
}


@dataclass(frozen=True)
class Comparison:
    """What is compared.

    Attributes:
        name: of the application.
        control: congestion control.
        conditions: names of those that are tried.
        itself: compare real time with real time.
    """

    name: str
    tried: Tried
    control: str
    rounds: int
    conditions: Sequence[str]
    itself: bool


def experiment(asked: Comparison) -> dict[str, object]:
    """Return the experiment of an application: every condition at every dilation, or thrice in real time."""
    return {
        "name": f"equal-{asked.name}-{asked.control}",
        "time": {"dilation": DILATIONS[0] if asked.itself else list(DILATIONS)},
        "topology": {
            "hosts": len(asked.tried.nodes),
            "uplink": {"rate": "1Gbit/s", "delay": "2ms", "buffer": "250kB"},
            "tcp": {"congestion_control": asked.control},
            "nodes": {node: f"h{host}" for host, node in enumerate(asked.tried.nodes)},
            "wait": "sleep",
        },
        "conditions": [
            {each: {"switch.ingress": list(CONDITIONS[condition])}}
            for condition in asked.conditions
            for each in (trials_of(condition, itself=True) if asked.itself else [condition])
        ],
        "application": dict(asked.tried.application),
        "trials": {"repeat": asked.rounds, "rest": "0s"},
    }


def trials_of(condition: str, itself: bool) -> list[str]:
    """Return what a condition is called in its three trials of a round."""
    if itself:
        return [f"{condition}-{number}" for number in range(1, 1 + len(DILATIONS))]
    return [f"{condition}@{factor}" for factor in DILATIONS]


def rows(asked: Comparison, results: Path) -> Iterator[str]:
    """Run an application and yield the rows of its table."""
    tried = asked.tried
    with crosswind.run(experiment(asked), results, quiet=True) as run:
        found = {
            (condition, figure): [
                _by_block(run, each, *figure) for each in trials_of(condition, asked.itself)
            ]
            for condition in asked.conditions
            for figure in tried.figures
        }
    for (condition, figure), values in found.items():
        yield _row([asked.name, asked.control, condition, " ".join(figure)], values)
    for figure in tried.figures:
        over = math.fsum if figure in tried.events else geometric_mean
        alike_trials = zip(*(found[condition, figure] for condition in asked.conditions), strict=True)
        together = [_over_conditions(over, each) for each in alike_trials]
        yield _row([asked.name, asked.control, "all", " ".join(figure)], together)


def lasting(tried: Tried, duration: str) -> Tried:
    """Return an application with a measured phase of that length."""
    ((kind, parameters),) = tried.application.items()
    return replace(tried, application={kind: {**parameters, "duration": duration}})


def _row(words: Sequence[str], values: Sequence[Mapping[int, float]]) -> str:
    """Return a row of the table: the mean of the first trials, and what the others have to it."""
    blocks = sorted(set.intersection(*(set(each) for each in values)))
    base, *others = [[each[block] for block in blocks] for each in values]
    shown = f"{fmean(base):.4g}" if blocks else "-"
    return f"| {' | '.join([*words, shown, *(_compared(base, other) for other in others)])} |"


def _over_conditions(
    over: Callable[[Sequence[float]], float], each: Sequence[Mapping[int, float]]
) -> dict[int, float]:
    """Return one value of all conditions for each block that all of them have."""
    blocks = set.intersection(*(set(one) for one in each))
    return {block: over([one[block] for one in each]) for block in blocks}


def _by_block(run: crosswind.LoadedRun, condition: str, metric: str, statistic: str) -> dict[int, float]:
    """Return a figure of the trials that count, by block."""
    counted = run.trials.filter(f"condition = '{condition}' and fidelity != 'void'").set_alias("t")
    named = f"metric = '{metric}' and statistic = '{statistic}' and value is not null"
    values = run.metrics.filter(named).set_alias("m")
    return dict(values.join(counted, "m.trial = t.trial").project("t.block, m.value").fetchall())


def _compared(base: Sequence[float], other: Sequence[float]) -> str:
    """Return the ratio of means with its interval, and what it says."""
    if len(base) < 2:
        return "too few rounds"
    if not all(value > 0 for value in (*base, *other)):
        same = "same" if not any(base) and not any(other) else "no ratio"
        return f"{fmean(base):.4g} and {fmean(other):.4g}: {same}"
    margin = math.log(MARGIN)
    tested = tost_paired([math.log(each) for each in base], [math.log(each) for each in other], margin)
    outcome = alike(tested.low, tested.high, -margin, margin)
    ratio, low, high = (math.exp(each) for each in (tested.difference, tested.low, tested.high))
    return f"{ratio:.3f} ({low:.3f} to {high:.3f}) {outcome}"


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("application", choices=APPLICATIONS)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--control", choices=("cubic", "reno"), default="cubic")
    parser.add_argument("--results", type=Path, default=Path("results-equal"))
    parser.add_argument("--itself", action="store_true", help="compare real time with real time")
    parser.add_argument(
        "--condition", choices=CONDITIONS, action="append", help="leave out the others; can be repeated"
    )
    parser.add_argument("--duration", help="of the measured phase of a trial, such as 5s")
    asked = parser.parse_args()
    tried = APPLICATIONS[asked.application]
    comparison = Comparison(
        asked.application,
        lasting(tried, asked.duration) if asked.duration else tried,
        asked.control,
        asked.rounds,
        asked.condition or list(CONDITIONS),
        asked.itself,
    )
    columns = (
        "first | ratio of the second | ratio of the third"
        if asked.itself
        else "at 1 | ratio at 4 | ratio at 10"
    )
    print(f"| application | control | condition | figure | {columns} |")
    print("|---|---|---|---|---|---|---|")
    for row in rows(comparison, asked.results):
        print(row, flush=True)


if __name__ == "__main__":
    main()

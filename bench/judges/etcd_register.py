"""etcd as a judge: what concurrent clients saw of a register, while members were cut off and killed.

Twenty conditions, each with faults that a seed of its own has drawn. etcd promises that its data are
linearizable under all of them: a violation would be a fault of etcd, or of the tool that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import crosswind

SEEDS = range(1, 21)
_MEMBERS = ("db0", "db1", "db2")


@dataclass(frozen=True)
class Seeded:
    """One run.

    Attributes:
        seed: of its faults.
        faults: in words, in their order, without their ends.
        confirmed, refused, unknown: operations that took effect, that did not, and those of which no client
            knows.
        violations: keys whose answers no linearizable store can have given.
        undecided: keys that could not be checked to the end.
    """

    seed: int
    faults: list[str]
    confirmed: int
    refused: int
    unknown: int
    violations: int
    undecided: int


def experiment(seeds: range) -> Mapping[str, object]:
    """Return an experiment with a condition for each seed: partitions, isolated members, and kills."""
    nodes = {name: f"h{number}" for number, name in enumerate((*_MEMBERS, "client"))}
    # Each fault lasts longer than an election, which begins after a second.
    drawn = {"every": {"between": ["3s", "4s"]}, "for": "2s", "choose": ["partition", "isolate", "kill"]}
    return {
        "name": "etcd-register",
        "topology": {
            "hosts": len(nodes),
            "uplink": {"rate": "1Gbit/s", "delay": "250us"},
            "nodes": nodes,
            "wait": "sleep",
        },
        "conditions": [{f"seed-{seed}": {"faults": {**drawn, "seed": seed}}} for seed in seeds],
        "application": {"history": {"workload": "register", "store": "etcd", "duration": "16s"}},
        "trials": {"repeat": 1, "seed": 1},
    }


def seeded_runs(folder: Path, seeds: range = SEEDS) -> list[Seeded]:
    """Run the experiment, and return what it found for each seed.

    Raises: RunNotWhole: a trial failed or is void; names the reason.
    """
    run = crosswind.run(experiment(seeds), folder, quiet=True)
    words = {
        condition.name: [word for step in condition.timeline for word in step.faults if _begins(word)]
        for condition in run.resolved.conditions
    }
    with run:
        rows = run.trials.filter("status = 'done'").select("trial, condition").fetchall()
        found = []
        for trial, condition in rows:
            values = run.metrics.filter(f"trial = '{trial}'").select("metric, statistic, value").fetchall()
            count = {
                (metric, statistic): int(value) for metric, statistic, value in values if value is not None
            }
            found.append(
                Seeded(
                    seed=int(condition.removeprefix("seed-")),
                    faults=words[condition],
                    confirmed=count["outcomes", "confirmed"],
                    refused=count["outcomes", "refused"],
                    unknown=count["outcomes", "unknown"],
                    violations=count["violations", "count"],
                    undecided=count["undecided", "count"],
                )
            )
    return sorted(found, key=lambda one: one.seed)


def _begins(word: str) -> bool:
    return not word.startswith(("heal", "restart"))

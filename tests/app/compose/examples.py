"""Which compose files of a checkout can be tested: a table for people, as docs/lab shows one.

python tests/app/compose/examples.py CHECKOUT, for instance of https://github.com/docker/awesome-compose.
Nothing is written, built or run; the load is a command beside the file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.compose import Compose, ComposeParameters
from crosswind.spec import SpecErrors, resolve
from crosswind.spec.load import parse_experiment

EXPERIMENT = """
name: example
topology: {{uplink: {{rate: 1Gbit/s, delay: 100us}}}}
conditions: [none]
application:
  compose:
    file: {file}
    load: {{command: "true"}}
    metrics: {{time: {{elapsed: true, better: lower}}}}
trials: {{repeat: 1, seed: 1}}
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a compose file.

    Attributes:
        nodes: that it makes, the load's included.
        notes: what its author is told.
        problems: what stands in the way; empty where it validates.
    """

    name: str
    nodes: int
    notes: list[str]
    problems: list[str]


def outcomes(checkout: Path) -> Iterator[Outcome]:
    """Yield what becomes of each compose file of a checkout, by its path."""
    for path in sorted(checkout.rglob("*compose.y*ml")):
        name = str(path.relative_to(checkout))
        experiment = EXPERIMENT.format(file=path.name)
        try:
            read = parse_experiment(experiment.encode(), str(path.parent / "crosswind-example.yaml"))
        except SpecErrors as errors:
            found = [line.strip() for error in errors.problems for line in error.message.splitlines()]
            yield Outcome(name, 0, [], found[1:] or found)
            continue
        nodes = resolve(read).topology.nodes
        assert isinstance(read.parameters, ComposeParameters)
        yield Outcome(name, len(nodes), Compose(read.parameters).notes(), [])


def table(found: list[Outcome]) -> str:
    """Return outcomes as a table in Markdown."""
    lines = ["| example | outcome | nodes | notes |", "|---|---|---|---|"]
    for outcome in found:
        name = outcome.name.rpartition("/")[0] or outcome.name
        if not outcome.problems:
            lines.append(f"| {name} | valid | {outcome.nodes} | {len(outcome.notes)} |")
            continue
        first = re.sub(r"^\S+:(\d+):\d+: ", r"line \1: ", outcome.problems[0]).replace("|", "\\|")
        lines.append(f"| {name} | {first} | | |")
    valid = sum(not outcome.problems for outcome in found)
    return "\n".join([f"{valid} of {len(found)} files validate.", "", *lines])


if __name__ == "__main__":
    print(table(list(outcomes(Path(sys.argv[1])))))

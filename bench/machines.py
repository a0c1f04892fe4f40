"""One experiment on this machine and on five machines: figures of both should be the same, within 10 %.

The machines are real sshd in namespaces of their own (tests/live/machines.py), on this machine: their clocks
are seconds apart, that of the last runs 50 ppm faster, and the network between them is one of Crosswind's,
of 10 Gbit/s and 0.2 ms +- 0.1 ms each way. The file is one for both. It is that of the catalogue, but for
uplinks of 2 ms: a link between machines must be longer than what is between them. Links have a quarter of
the rate, and all rates are at a fiftieth, so that six emulators on two cores can carry the interference;
those of HPCC, whose rings send 800 MB, at a twenty-fifth.

Each round runs one trial of each condition here and there, in turn. Figures are compared by two one-sided
tests, paired by round. Needs root, and what the applications need.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import crosswind
from bench.catalogued import changed
from crosswind.stats.equivalence import tost_paired

HERE = Path(__file__).parents[1]
MARGIN = 0.1
MACHINES = 5
# As they would be on machines that were started on different days.
SHIFTS_S = (3, 17, 41, 96, 215)
DRIFTS_PPM = {4: 50}
TESTBED = """\
ssh:
  hosts: [m0, m1, m2, m3, m4]
  place: {switch: m0, h0: m1, h1: m2, h2: m3, h3: m4}
  underlay: {delay: 700us, clock_error: 100us}
"""
UPLINK = ("uplink: {rate: 10Gbit/s, delay: 2us,", "uplink: {rate: 2.5Gbit/s, delay: 2ms,")
SCALE = ("scale: 0.1\n", "scale: 0.02\n")


@dataclass(frozen=True)
class Compared:
    """An experiment of the catalogue, and those of its conditions and figures that are compared.

    Attributes:
        changes: texts of the file, and what takes their place.
        figures: as metric and statistic.
    """

    name: str
    changes: Sequence[tuple[str, str]]
    conditions: Sequence[str]
    figures: Sequence[tuple[str, str]]


EXPERIMENTS = {
    "ycsb": Compared(
        "icpe23-ycsb-a",
        (
            UPLINK,
            SCALE,
            ("client: h3}\n", "client: h3}\n  wait: sleep\n"),
            # It names all conditions.
            ("published: icpe23-ycsb-a\n", ""),
        ),
        (
            "icpe23/no-interference",
            "icpe23/interference",
            "icpe23/token-bucket-on-switch",
            "icpe23/priority-queue-on-switch",
            "icpe23/token-bucket-on-host",
        ),
        (("latency.read", "p50"), ("latency.update", "p50"), ("throughput", "mean")),
    ),
    "rpc": Compared(
        "icpe23-rpc",
        (UPLINK, SCALE, ("client: h3}\n", "client: h3}\n  wait: sleep\n")),
        (
            "icpe23/no-interference",
            "icpe23/interference",
            "icpe23/priority-queue-on-switch",
            "icpe23/token-bucket-on-host",
        ),
        (("latency", "p50"), ("throughput", "mean")),
    ),
    "hpcc": Compared(
        "icpe23-hpcc",
        (
            UPLINK,
            # Six emulators carry this rate in few large packets, not in many small ones. A buffer of
            # 20 ms, longer than a round trip.
            ("buffer: 512KiB}", "buffer: 6MiB}\n  mtu: 8900B"),
            ("scale: 0.1\n", "scale: 0.04\n"),
            ("hpcc: {size: small}", "hpcc: {n: 400, nb: 40}"),
        ),
        ("icpe23/no-interference",),
        (
            ("AvgPingPongLatency", "value"),
            ("AvgPingPongBandwidth", "value"),
            ("RandomlyOrderedRingLatency", "value"),
            ("RandomlyOrderedRingBandwidth", "value"),
            ("NaturallyOrderedRingBandwidth", "value"),
            ("MPIFFT", "value"),
            ("HPL", "value"),
        ),
    ),
}


def main() -> None:
    """Run the rounds, and print a row for each condition and figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--only", action="append", help="one of its conditions; all when absent")
    parser.add_argument("--bridge", action="store_true", help="machines on a bridge without delay")
    parser.add_argument("--results", type=Path, default=Path("results/machines"))
    asked = parser.parse_args()
    compared = EXPERIMENTS[asked.experiment]
    sys.path.insert(0, str(HERE / "tests" / "live"))
    import machines as rigs

    if reason := rigs.missing():
        raise SystemExit(reason)
    asked.results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="crosswind-machines-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "testbed.yaml").write_text(TESTBED)
        experiment = folder / f"{compared.name}.yaml"
        experiment.write_text(changed(compared.name, compared.changes, asked.only or compared.conditions))
        with rigs.machines(
            MACHINES,
            folder,
            mtu=1500 if asked.bridge else 9000,
            shifts_s=SHIFTS_S,
            shaped=not asked.bridge,
            drifts_ppm=DRIFTS_PPM,
        ) as rig:
            rounds = []
            for number in range(asked.rounds):
                here = run(experiment, asked.results / "here", rig.env, [])
                there = run(
                    experiment, asked.results / "there", rig.env, ["--testbed", str(folder / "testbed.yaml")]
                )
                rounds.append((figures(here, compared), figures(there, compared)))
                print(f"round {number + 1} of {asked.rounds} has ended", file=sys.stderr, flush=True)
                # A long run that is stopped leaves what it has found.
                (asked.results / f"{asked.experiment}.md").write_text("\n".join(rows(rounds)) + "\n")
    for row in rows(rounds):
        print(row, flush=True)


def run(experiment: Path, results: Path, env: dict[str, str], arguments: Sequence[str]) -> Path:
    """Run one trial of each condition; return the folder of the run."""
    words = ["run", str(experiment), "--once", "--results", str(results), *arguments]
    start = [sys.executable, "-c", "from crosswind.cli import main; main()"]
    done = subprocess.run([*start, *words], env=env, capture_output=True, text=True, check=False)
    results.mkdir(exist_ok=True)  # A refused run makes none.
    (results / "said.txt").open("a").write(done.stdout + done.stderr)
    if done.returncode not in (0, 4):
        raise SystemExit(done.stdout + done.stderr)
    return (results / experiment.stem / "latest").resolve()


def figures(folder: Path, compared: Compared) -> dict[tuple[str, str], float]:
    """Return the figures of a run's counted trials, by condition and figure."""
    found: dict[tuple[str, str], float] = {}
    run = crosswind.load(folder)
    trials = run.trials.filter("status = 'done' AND fidelity != 'void'").fetchall()
    condition_of = dict(run.trials.project("trial, condition").fetchall())
    counted = {row[0] for row in trials}
    for trial, metric, statistic, value in run.metrics.project("trial, metric, statistic, value").fetchall():
        if trial in counted and (metric, statistic) in compared.figures:
            found[(condition_of[trial], f"{metric} {statistic}")] = value
    return found


def rows(
    rounds: Sequence[tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]],
) -> Iterator[str]:
    """Yield a row of a table in Markdown for each condition and figure that rounds have on both sides."""
    yield "| condition | figure | rounds | this machine | five machines | difference (90 %) | within 10 % |"
    yield "|---|---|---|---|---|---|---|"
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for here, there in rounds:
        for key in here.keys() & there.keys():
            pairs[key].append((here[key], there[key]))
    for (condition, figure), each in sorted(pairs.items()):
        local, other = [pair[0] for pair in each], [pair[1] for pair in each]
        middle = median(local)
        if len(each) < 2:
            said, shown = "-", "-"
        else:
            test = tost_paired(local, other, MARGIN * middle)
            low, high = test.low / middle, test.high / middle
            said = f"{test.difference / middle:+.1%} ({low:+.1%} to {high:+.1%})"
            shown = "yes" if test.shown else "no"
        values = f"{len(each)} | {middle:.6g} | {median(other):.6g}"
        yield f"| {condition} | {figure} | {values} | {said} | {shown} |"


if __name__ == "__main__":
    main()

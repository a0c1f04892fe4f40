"""Counters of a live run of `nsdi20-straggler`, where one of four equal nodes has spent its bucket."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.stragglers import STEP_NS, find_stragglers
from crosswind.analysis.summarise import summarise
from crosswind.results.reading import CounterRow
from synthetic import write_folder

BUCKET = {"low_bps": 10_000_000, "high_bps": 100_000_000}
LOW, HIGH = 125_000, 1_250_000  # bytes of a step
COUNTERS = Path(__file__).parent / "straggler_counters.csv"


@pytest.fixture(scope="module")
def live() -> list[CounterRow]:
    with COUNTERS.open() as file:
        return [
            CounterRow(int(row[0]), row[1], int(row[2]), int(row[3])) for row in list(csv.reader(file))[1:]
        ]


def course(node: str, *steps: tuple[int, int]) -> list[CounterRow]:
    element = f"{node}/host.egress/0:credit"
    return [CounterRow(number * STEP_NS, element, *step) for number, step in enumerate(steps)]


def test_the_node_that_oscillates_in_a_live_run_is_found_and_no_other(live: list[CounterRow]) -> None:
    (straggler,) = find_stragglers(live, [BUCKET, BUCKET], steps=81)
    assert (straggler.node, straggler.equals, straggler.held_equals) == ("n0", 4, 1)
    assert straggler.oscillates
    # Eight rounds, one a second; in each some 200 ms at the low rate.
    assert 6 <= straggler.falls <= 8
    assert 0.1 <= straggler.held_share <= 0.3


def test_a_bucket_that_ran_dry_for_good_holds_back_and_does_not_oscillate() -> None:
    rows = course("a", (HIGH, 20_000), *[(LOW, 20_000)] * 9)
    rows += [row for node in "bc" for row in course(node, *[(HIGH, 20_000)] * 10)]
    (straggler,) = find_stragglers(rows, [BUCKET], steps=10)
    assert (straggler.node, straggler.held_share, straggler.falls) == ("a", 0.9, 1)
    assert not straggler.oscillates


def test_neither_idleness_nor_a_common_fate_makes_a_straggler() -> None:
    dry = [(HIGH, 20_000), *[(LOW, 20_000)] * 9]
    # Sends little because it has little: nothing waits. And a step between two bursts is not one of waiting.
    idle = course("a", *[(LOW, 0), (HIGH, 20_000)] * 5)
    assert find_stragglers([*idle, *course("b", *dry), *course("c", *dry)], [BUCKET], steps=10) == []
    # Half of the nodes are no minority; other rates are no equals.
    assert find_stragglers([*course("a", *dry), *course("b", (HIGH, 0))], [BUCKET], steps=10) == []
    rows = [replace(row, element=row.element.replace("/0:", "/1:")) for row in course("a", *dry)]
    rows += [row for node in "bc" for row in course(node, *[(HIGH, 20_000)] * 10)]
    assert find_stragglers(rows, [BUCKET, BUCKET | {"low_bps": 20_000_000}], steps=10) == []
    assert find_stragglers(course("a", *dry), [{}], steps=10) == []


def test_the_report_names_it(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=100, blocks=1, conditions=1)
    resolved = json.loads((folder / "resolved.json").read_text())
    resolved["conditions"][0]["places"] = {"host.egress": [{"credit": BUCKET}, {"credit": BUCKET}]}
    (folder / "resolved.json").write_text(json.dumps(resolved))
    (monitors,) = (folder / "monitors").glob("*.json")
    measurement = json.loads(monitors.read_text())
    begin = measurement["window"]["started_ns"]
    measurement["window"]["ended_ns"] = begin + 81 * STEP_NS
    monitors.write_text(json.dumps(measurement))
    counters = monitors.with_suffix(".counters.parquet")
    with duckdb.connect() as database:
        database.execute(
            "copy (select 'real' as class, 0 as dropped_packets, "
            f"* replace (at_ns + {begin} as at_ns) from '{COUNTERS}') to '{counters}' (format parquet)"
        )
    (told,) = (caution for caution in cautions(summarise(folder)) if caution.id == "straggler")
    assert told.title == "n0 is a straggler under no-interference"
    assert "In 1 of 1 trials it was held at its low rate for" in told.text
    assert "changed between its rates, falling to the low one" in told.text
    assert "1 of 4 nodes with such a bucket were." in told.text

"""A capacity in a condition becomes the process that the agent runs, or is refused with the reason."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from crosswind.results import ResultsFolder
from crosswind.spec import SpecErrors, fabric_of, load_condition_file, load_experiment, resolve
from crosswind.spec.parameters.process_sent import process_of
from crosswind.spec.resolved import ResolvedFile

EXPERIMENT = """\
name: changing
topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {server: h0, client: h1}}
conditions:
  - changing: {link: [{capacity: {CAPACITY}}]}
application: {rpc: {connections: 1, duration: 1s}}
trials: {repeat: 1}
"""


def element(folder: Path, capacity: str, place: str = "link") -> Any:
    file = folder / "condition.yaml"
    file.write_text(f"x: {{{place}: [{{capacity: {{{capacity}}}}}]}}\n", encoding="utf-8")
    return load_condition_file(file)["x"].by_place()["link"][0].given


def process(folder: Path, capacity: str, scale: float = 1.0) -> Any:
    return process_of(element(folder, capacity), scale)


def test_steps_are_sorted_and_a_rate_of_zero_is_an_outage(tmp_path: Path) -> None:
    steps = "steps: {2s: unlimited, 0s: 1Gbit/s, 1s: 0bit/s}, repeat: 3s"
    assert process(tmp_path, steps, 0.5) == {
        "levels": {
            "at_ns": [0, 10**9, 2 * 10**9],
            "rate_bps": [500_000_000, 0, None],
            "repeat_ns": 3 * 10**9,
        }
    }


def test_a_trace_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "a.csv").write_text("time_ms,rate_kbps\n0,1.5\n100,0\n150,20\n")
    assert process(tmp_path, "trace: traces/a.csv, repeat: true") == {
        # The last level holds as long as the one before it: 50 ms.
        "levels": {
            "at_ns": [0, 100_000_000, 150_000_000],
            "rate_bps": [1500, 0, 20_000],
            "repeat_ns": 200_000_000,
        }
    }
    assert process(tmp_path, "trace: traces/a.csv")["levels"]["repeat_ns"] is None
    assert process(tmp_path, "trace: traces/a.csv, repeat: 1s")["levels"]["repeat_ns"] == 10**9


def test_a_scaled_rate_never_becomes_an_outage(tmp_path: Path) -> None:
    levels = process(tmp_path, "steps: {0s: 5bit/s, 1s: 0bit/s, 2s: 1Mbit/s}", 0.1)["levels"]
    assert levels["rate_bps"] == [1, 0, 100_000]


def test_opportunities_of_one_millisecond_are_one_and_are_scaled(tmp_path: Path) -> None:
    (tmp_path / "m.up").write_text("0\n3\n3\n7\n")
    expected = {"at_ns": [0, 3_000_000, 7_000_000], "ip_bytes": [150, 300, 150], "repeat_ns": 7_000_000}
    assert process(tmp_path, "mahimahi: m.up", 0.1) == {"opportunities": expected}
    assert process(tmp_path, "mahimahi: m.up, repeat: false")["opportunities"]["repeat_ns"] is None


def test_a_state_stays_with_what_its_transitions_leave(tmp_path: Path) -> None:
    chain = "markov: {good: {rate: 10Mbit/s, to: {bad: 0.1%, worse: 2%}}, bad: {rate: 1Mbit/s}, "
    chain += "worse: {rate: 0bit/s, to: {good: 100%}}}, hold: 10ms"
    assert process(tmp_path, chain) == {
        "markov": {
            "states": [
                {"rate_bps": 10_000_000, "next_ppb": [979_000_000, 1_000_000, 20_000_000]},
                {"rate_bps": 1_000_000, "next_ppb": [0, 10**9, 0]},
                {"rate_bps": 0, "next_ppb": [10**9, 0, 0]},
            ],
            "hold_ns": 10_000_000,
        }
    }


def test_quantiles_are_cells_with_the_shares_between_them_and_the_outer_ones_go_on(tmp_path: Path) -> None:
    capacity = "quantiles: {75%: 40Mbit/s, 50%: 20Mbit/s, 25%: 10Mbit/s}, hold: 2s"
    mega = 10**6
    # A quarter lies below 25 % and would reach down to 0; above 75 % another 20 Mbit/s hold a quarter.
    cells = [(0, 10), (10, 20), (20, 40), (40, 60)]
    assert process(tmp_path, capacity)["drawn"] == {
        "cells": [{"low_bps": low * mega, "high_bps": high * mega, "weight": 1} for low, high in cells],
        "grid_bps": 1,
        "hold_ns": 2 * 10**9,
    }
    whole = process(tmp_path, "quantiles: {0%: 10Mbit/s, 100%: 20Mbit/s}, hold: 1s")["drawn"]["cells"]
    assert whole == [{"low_bps": 10 * mega, "high_bps": 20 * mega, "weight": 1}]


def test_what_is_resampled_has_a_length_and_a_block(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time_ms,rate_kbps\n0,1\n100,0\n150,end\n")
    expected = {"at_ns": [0, 10**8], "rate_bps": [1000, 0], "period_ns": 15 * 10**7, "block_ns": 10**9}
    assert process(tmp_path, "trace: a.csv, resample: 1s") == {"resampled": expected}
    steps = "steps: {0s: 1kbit/s, 100ms: 0bit/s}, repeat: 150ms, resample: 1s"
    assert process(tmp_path, steps) == {"resampled": expected}


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        (
            "on: [h0]",
            "has no process; write exactly one of steps, trace, mahimahi, log, quantiles, ballani, markov",
        ),
        ("ballani: A, markov: {a: {rate: 1Mbit/s}}, hold: 1s", "has ballani and markov; write exactly one"),
        ("ballani: I", 'ballani "I" must be'),
        (
            "steps: {0s: 1Gbit/s}, hold: 1s",
            "hold does not go with steps, only with quantiles or ballani or markov",
        ),
        ("steps: {0s: 1Gbit/s}, tails: corrected", "tails does not go with steps, only with ballani"),
        ("ballani: A, repeat: true", "repeat does not go with ballani"),
        ("steps: {1s: 1Gbit/s}", "begins at 1s; add a rate from 0s on"),
        ("steps: {0s: 1Gbit/s, 1s: 2Gbit/s, 1000ms: 3Gbit/s}", 'is the same time as "1s"'),
        ("steps: {0s: 0bit/s}", "nothing would ever pass"),
        ("steps: {0s: 1Gbit/s, 5s: 0bit/s}, repeat: 5s", '"5s" is not after the last step, 5s'),
        ("steps: {0s: 1Gbit/s, 5s: 0bit/s}, repeat: true", "must be a time"),
        ("steps: {0s: 1Gbit}", "unknown unit; write 1Gbit/s"),
        ("trace: nowhere.csv", "cannot be read: no such file or directory"),
        ("trace: short.csv, repeat: 1s", "repeats after 1000000000ns, but the last row"),
        ("trace: nan.csv", 'trace "nan.csv" line 3: rate "nan" is not a plain number'),
        ("mahimahi: m.up, repeat: 1s", "repeat must be true or false"),
        ("markov: {a: {rate: 1Mbit/s}}", 'needs "hold"'),
        ("markov: {a: {rate: 1Mbit/s, to: {b: 5%}}}, hold: 1s", "b is not a state; states are a"),
        ("markov: {a: {rate: 1Mbit/s, to: {a: 5%}}}, hold: 1s", "is the state itself"),
        (
            "markov: {a: {rate: 1Mbit/s, to: {b: 70%, c: 40%}}, b: {rate: 1bit/s}, c: {rate: 1bit/s}}, "
            "hold: 1s",
            "adds up to 110%; at most 100%",
        ),
        ("markov: {a: {rate: 0bit/s}}, hold: 1s", "nothing would ever pass"),
        ("quantiles: {1%: 1Mbit/s, 99%: 2Mbit/s}", 'needs "hold"'),
        ("quantiles: {1%: 3Mbit/s, 50%: 2Mbit/s}, hold: 1s", "rate at 50% is below that at 1%"),
        ("quantiles: {1%: 3Mbit/s, 1.0%: 4Mbit/s, 9%: 5Mbit/s}, hold: 1s", "has one share twice"),
        ("quantiles: {1%: 0bit/s, 99%: 0bit/s}, hold: 1s", "nothing would ever pass"),
        ("quantiles: {1%: 1Mbit/s, 99%: unlimited}, hold: 1s", '"unlimited" is not a rate'),
        ("ballani: A, resample: 1s", "resample does not go with ballani"),
        ("steps: {0s: 1Gbit/s, 5s: 0bit/s}, resample: 1s", 'needs "repeat"'),
        ("trace: short.csv, repeat: false, resample: 1s", "must be true or a time"),
        ("trace: one.csv, resample: 1s", "of one row, which has no end"),
    ],
)
def test_what_cannot_be_honoured_is_refused(tmp_path: Path, capacity: str, expected: str) -> None:
    (tmp_path / "short.csv").write_text("time,rate\n0s,1Mbit/s\n2s,2Mbit/s\n")
    (tmp_path / "one.csv").write_text("time,rate\n0s,1Mbit/s\n")
    (tmp_path / "nan.csv").write_text("time_s,rate_mbps\n0,1\n1,nan\n")
    (tmp_path / "m.up").write_text("1\n")
    with pytest.raises(SpecErrors) as caught:
        element(tmp_path, capacity)
    assert expected in str(caught.value)
    assert all(problem.line == 1 for problem in caught.value.problems)


def test_only_a_link_has_a_capacity_and_only_one(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match=r"cannot be at host\.egress"):
        element(tmp_path, "ballani: A", "host.egress")
    twice = "x: {link: [{capacity: {ballani: A%s}}, {capacity: {ballani: B%s}}]}"
    file = tmp_path / "twice.yaml"
    for first, second, refused in [
        ("", ", on: [h1]", True),
        (", on: [h0]", ", on: [h1]", False),
        (", direction: up", ", direction: down", False),
        (", direction: up", "", True),
    ]:
        file.write_text(twice % (first, second))
        if refused:
            with pytest.raises(SpecErrors, match="a second one for the same link and direction"):
                load_condition_file(file)
        else:
            load_condition_file(file)


def test_a_run_keeps_its_traces_and_resumes_where_they_no_longer_lie(tmp_path: Path) -> None:
    (tmp_path / "here" / "traces").mkdir(parents=True)
    trace = b"time_s,rate_mbps\n0,1\n1,2\n"
    (tmp_path / "here" / "traces" / "a.csv").write_bytes(trace)
    text = EXPERIMENT.replace("CAPACITY", "trace: traces/a.csv, repeat: true")
    (tmp_path / "here" / "experiment.yaml").write_text(text)
    resolved = resolve(load_experiment(tmp_path / "here" / "experiment.yaml"))
    sha256 = hashlib.sha256(trace).hexdigest()
    assert resolved.conditions[0].files == [ResolvedFile(file="traces/a.csv", sha256=sha256)]
    folder = ResultsFolder.create(tmp_path / "results", resolved, text, {sha256: trace})
    shutil.rmtree(tmp_path / "here")
    again = resolve(load_experiment(folder.path / "experiment.yaml", folder.kept_files()))
    assert again.as_json() == folder.resolved().as_json()


def test_only_what_the_agent_knows_reaches_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time_s,rate_mbps\n0,1\n")
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT.replace("CAPACITY", "trace: a.csv"))
    resolved = resolve(load_experiment(tmp_path / "experiment.yaml"))
    assert "files" not in fabric_of(resolved, "changing").condition.as_json()

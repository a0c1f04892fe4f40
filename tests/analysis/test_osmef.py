"""`crosswind analyze` of OSMeF's JSON files: its Table 1, published and corrected, and misfiled runs.

The study's raw results are not ours to keep here. Its JSON files are looked for where CROSSWIND_OSMEF_RUNS
says, or in `shared/data/osmef` beside the repository; a table of six of its scenarios, which is made into
files of the same format here, where CROSSWIND_OSMEF says, or in `shared/data`.

Source: Venzano, Michiardi: OSMeF, EURECOM RR-13-287, 2013, Table 1, and its results
(github.com/bigfootproject/OSMEF).
"""

import csv
import json
import math
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crosswind.analysis.osmef.runs import read_osmef
from crosswind.analysis.osmef.table import OsmefRow, PublishedRow, Scenario, osmef_table
from crosswind.cli._main import run
from crosswind.stats import Interval, NeedsTrials, PerTrial, Refused, RefusedInterval, matched_guard
from tests.analysis.osmef_table import CONNECTIONS, SHARED, TABLE_1, cells_alike

RUNS = Path(os.environ.get("CROSSWIND_OSMEF_RUNS", SHARED / "osmef"))


def run_file(
    rates_kb_s: list[float], began_s: float, memory_kb: int | None = 502540, **changed: Any
) -> dict[str, Any]:
    """Return a result with the keys of OSMeF that matter; nuttcp's figures are text."""
    transfers = {
        f"conn_{number}": {
            "rx": {
                "rate_KBps": f"{rate:.2f}",
                "megabytes": f"{rate * 360 / 1024:.4f}",
                "real_seconds": "360.00",
                "cpu": "64%",
            },
            "tx": {"cpu": "34%", "mss": "1448"},
        }
        for number, rate in enumerate(rates_kb_s, 1)
    }
    state = {} if memory_kb is None else {"state_sender": {"mem_total": str(memory_kb)}}
    return {"btc": transfers, "concurrent": len(transfers), "time": began_s, "type": "BTC"} | state | changed


def write(folder: Path, *runs: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, result in enumerate(runs):
        (folder / f"{number:03}_BTC.json").write_text(json.dumps(result))
    return folder


def campaigns(levels: list[float], memory_kb: list[int], seed: int = 1) -> list[dict[str, Any]]:
    """Return three campaigns of 1, 5, 10 and 20 connections; the last as fast as `levels` says."""
    random = np.random.default_rng(seed)
    return [
        run_file(
            (1000 * level / many * random.lognormal(sigma=0.02, size=many)).tolist(),
            1_374_570_000 + 86_400 * campaign + 400 * number,
            memory,
        )
        for campaign, (level, memory) in enumerate(zip(levels, memory_kb, strict=True))
        for number, many in enumerate((1, 5, 10, 20))
    ]


def scenarios(folder: Path) -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in osmef_table("", read_osmef(folder)).scenarios}


def row(scenario: Scenario, connections: int) -> OsmefRow:
    return next(row for row in scenario.rows if row.connections == connections)


def test_a_batch_from_another_machine_is_named_and_left_out(tmp_path: Path) -> None:
    small, large = 502540, 16434628
    write(tmp_path / "vm", *campaigns([1, 1, 4], [small, small, large]))
    write(tmp_path / "vm_8cpu", *campaigns([4, 4, 4], [large] * 3, seed=2))
    found = scenarios(tmp_path)
    vm = found["vm"]
    assert vm.guard.refused
    assert vm.guard.change == 8
    assert vm.machine == "502540 kB of memory"
    ((machine, files),) = vm.left_out.items()
    assert machine == "16434628 kB of memory"
    assert files == [f"{number:03}_BTC.json" for number in range(8, 12)]
    assert vm.like == {machine: ["vm_8cpu"]}
    ten = row(vm, 10)
    assert ten.published.runs == 3
    # Levels 1, 1 and 4: the mean is 2, the deviation of the sample sqrt(3), 87 % of it.
    assert ten.published.variation == pytest.approx(0.866, abs=0.02)
    assert ten.kept is not None
    assert ten.kept.runs == 2
    assert ten.kept.total_mb_s == pytest.approx(1000 / 1024, rel=0.03)
    assert not found["vm_8cpu"].guard.refused
    assert not found["vm_8cpu"].left_out


def test_the_guard_needs_no_word_about_the_machine_and_then_gives_no_interval(tmp_path: Path) -> None:
    runs = campaigns([1, 1, 1], [1, 1, 1]) + campaigns([4, 4, 4], [1, 1, 1], seed=3)
    for number, result in enumerate(runs):
        del result["state_sender"]
        result["time"] += 86_400 * 10 * (number // 12)
    (vm,) = scenarios(write(tmp_path / "vm", *runs)).values()
    assert not vm.left_out
    assert vm.guard.refused
    corrected = row(vm, 5).corrected
    assert corrected is not None
    assert isinstance(corrected.total_mb_s.median, RefusedInterval)


def test_runs_that_keep_their_level_have_intervals_from_six_on(tmp_path: Path) -> None:
    runs = campaigns([1, 1, 1], [1, 1, 1]) + campaigns([1, 1, 1], [1, 1, 1], seed=3)
    for number, result in enumerate(runs):
        result["time"] += 86_400 * 10 * (number // 12)
    (vm,) = scenarios(write(tmp_path / "vm", *runs)).values()
    assert not vm.guard.refused
    corrected = row(vm, 5).corrected
    assert corrected is not None
    assert isinstance(corrected.total_mb_s.median, Interval)


def test_a_row_is_published_over_averages_and_corrected_run_by_run(tmp_path: Path) -> None:
    # Runs [1, 3] and [3, 1] MB/s average to [2, 2]: spread 0 and Jain's index 1, against 1 and 0.8 in each.
    runs = [run_file([1024, 3072], 1), run_file([3072, 1024], 2)]
    # In the second run the transfers did not last equally long: 3 MB/s * 360 s + 1 MB/s * 360 s over 400 s.
    runs[1]["btc"]["conn_2"]["rx"]["real_seconds"] = "400.00"
    (vm,) = scenarios(write(tmp_path / "vm", *runs)).values()
    (two,) = vm.rows
    published = two.published
    assert (published.total_mb_s, published.mean_mb_s, published.sd_mb_s, published.jain) == (4, 2, 0, 1)
    assert two.corrected is not None
    assert two.corrected.sd_mb_s is not None
    assert two.corrected.jain is not None
    assert isinstance(two.corrected.jain.median, NeedsTrials)
    assert two.corrected.jain.median.estimate == pytest.approx(0.8)
    assert (two.corrected.sd_mb_s.least, two.corrected.sd_mb_s.greatest) == (1, 1)
    assert (two.corrected.total_mb_s.least, two.corrected.total_mb_s.greatest) == pytest.approx((3.6, 4))
    assert vm.guard.verdict == "unknown"


def test_the_command_prints_both_and_names_what_does_not_belong(tmp_path: Path, capsys) -> None:
    write(tmp_path / "vm", *campaigns([1, 1, 4], [1, 1, 9]))
    assert run(["analyze", str(tmp_path), "--connections", "10"]) == 0
    text = capsys.readouterr().out
    assert "10 connections" in text
    assert "5 connections" not in text
    for line in ("published        3", "one machine      2", "run by run       2"):
        assert line in text
    joined = " ".join(text.split())
    assert "! vm: the level changed after run 8 of 12" in joined
    assert (
        "! vm: 4 of 12 runs were made on another machine (9 kB of memory, instead of 1 kB of memory)"
        in joined
    )


def test_the_command_answers_in_json(tmp_path: Path, capsys) -> None:
    folder = write(tmp_path / "vm", *campaigns([1, 1, 4], [1, 1, 9]))
    assert run(["analyze", str(folder), "--json"]) == 0
    (vm,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert vm["name"] == "vm"
    assert vm["guard"]["verdict"] == "refused"
    assert [row["connections"] for row in vm["rows"]] == [1, 5, 10, 20]
    assert vm["rows"][1]["published"]["runs"] == 3
    assert vm["rows"][1]["corrected"]["total_mb_s"]["median"]["available"] is False


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"concurrent": 3}, "concurrent: is 3, but `btc` has 2 transfers"),
        ({"time": "noon"}, "time: 'noon' is no number of seconds"),
        ({"btc": {"conn_1": {}, "conn_2": {}}}, "conn_1: rx.rate_KBps is None, not a number"),
        ({"btc": {}}, "has no transfers under `btc`"),
    ],
)
def test_what_is_no_whole_result_is_refused_with_its_file(
    tmp_path: Path, capsys, change: dict[str, Any], told: str
) -> None:
    write(tmp_path, run_file([1, 2], 1), run_file([1, 2], 2, **change))
    assert run(["analyze", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b"\xff\xfe", b"[]"])
def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path, capsys, content: bytes) -> None:
    write(tmp_path, run_file([1, 2], 1))
    (tmp_path / "9_cut.json").write_bytes(content)
    assert run(["analyze", str(tmp_path)]) == 2
    assert "9_cut.json: " in capsys.readouterr().err


def test_options_of_others_and_numbers_that_nobody_measured_are_refused(tmp_path: Path, capsys) -> None:
    write(tmp_path, run_file([1, 2], 1))
    assert run(["analyze", str(tmp_path), "--pool"]) == 2
    assert "--pool: has no meaning here" in capsys.readouterr().err
    assert run(["analyze", str(tmp_path), "--connections", "7"]) == 2
    assert "has no run of 7" in capsys.readouterr().err
    file = tmp_path / "p99.csv"
    file.write_text("1\n2\n")
    assert run(["analyze", str(file), "--connections", "7"]) == 2
    assert "--connections: has no meaning here" in capsys.readouterr().err


def test_one_campaign_in_twenty_without_a_change_is_refused() -> None:
    random = np.random.default_rng(7)
    kinds = [1, 1, 1, 5, 10, 20, 30] * 3
    level = {1: 3.0, 5: 1.0, 10: 1.0, 20: 9.0, 30: 1.0}
    refused = sum(
        matched_guard(
            PerTrial.numbered([level[kind] * random.lognormal(sigma=0.1) for kind in kinds]), kinds
        ).refused
        for _ in range(100)
    )
    # Binomial with p = 0.05: more than 12 of 100 in 1 of 700 cases; the seed is fixed.
    assert refused <= 12


def test_levels_of_kinds_are_positive_and_each_run_has_a_kind() -> None:
    for values, kinds in (([1.0, 0.0], [1, 1]), ([1.0, math.inf], [1, 1]), ([1.0, 2.0], [1])):
        with pytest.raises(Refused):
            matched_guard(PerTrial.numbered(values), kinds)


def cells_as_printed(found: dict[str, Scenario]) -> int:
    same = 0
    for name, (one, thirty) in TABLE_1.items():
        if name not in found:
            continue
        single, many = (row(found[name], connections).published for connections in (1, 30))
        same += cells_alike(name, 1, one, [single.mean_mb_s, single.sd_mb_s, *cpu(single)])
        same += cells_alike(name, 30, thirty, [many.total_mb_s, many.mean_mb_s, many.sd_mb_s, *cpu(many)])
    return same


def cpu(of: PublishedRow) -> list[float]:
    return [of.rx_cpu, of.rx_cpu_sd, of.tx_cpu, of.tx_cpu_sd]


def test_six_rows_of_the_printed_table_come_back_from_files_of_the_format(tmp_path: Path) -> None:
    if not CONNECTIONS.exists():
        pytest.skip(f"SKIPPED: {CONNECTIONS.name} is not here; CROSSWIND_OSMEF names it")
    of_files: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with CONNECTIONS.open() as file:
        for connection in csv.DictReader(file):
            of_files[connection["scenario"], connection["file"]].append(connection)
    for (scenario, name), connections in of_files.items():
        transfers = {
            f"conn_{of['conn']}": {
                "rx": {
                    "rate_KBps": of["rx_rate_KBps"],
                    "megabytes": of["rx_megabytes"],
                    "real_seconds": of["rx_real_seconds"],
                    "cpu": f"{of['rx_cpu']}%",
                },
                "tx": {"cpu": f"{of['tx_cpu']}%"},
            }
            for of in connections
        }
        result = {"btc": transfers, "concurrent": len(transfers), "time": float(name.split("_")[0])}
        (tmp_path / scenario).mkdir(exist_ok=True)
        (tmp_path / scenario / name).write_text(json.dumps(result))
    found = scenarios(tmp_path)
    assert cells_as_printed(found) == 6 * 13 - 1
    corrected = row(found["host_to_host"], 30).corrected
    assert corrected is not None
    # Rates add up to 112.33 MB/s, but TCP can have 112.2335 of 1 Gbit/s at most; by bytes it is nearer.
    assert corrected.total_mb_s.median.estimate == pytest.approx(112.25, abs=0.01)


def test_the_printed_table_and_its_misfiled_campaign_come_back_from_the_raw_results() -> None:
    if not RUNS.is_dir():
        pytest.skip("SKIPPED: OSMeF's JSON files are not here; CROSSWIND_OSMEF_RUNS names their folder")
    found = scenarios(RUNS)
    assert cells_as_printed(found) == 128
    vm = found["vm_localhost"]
    assert vm.guard.refused
    ((machine, files),) = vm.left_out.items()
    assert "16434628 kB" in machine
    assert len(files) == 10
    assert min(files).startswith("1375263393_")
    assert vm.like[machine] == ["vm_localhost_8cpu"]
    assert row(vm, 10).published.variation == pytest.approx(0.87, abs=0.005)
    one, thirty = (row(vm, connections).kept for connections in (1, 30))
    assert one is not None
    assert thirty is not None
    assert [round(of, 2) for of in (one.mean_mb_s, one.sd_mb_s)] == [2696.91, 23.45]
    assert [round(of, 1) for of in (one.tx_cpu, one.tx_cpu_sd)] == [32.5, 0.8]
    assert round(thirty.total_mb_s, 2) == 2123.07
    # Of the other rows of Table 1 the guard refuses none.
    assert [name for name in TABLE_1 if found[name].guard.refused] == ["vm_localhost"]

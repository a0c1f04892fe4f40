import json
import math
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from crosswind.analysis.comparable import NotComparable
from crosswind.analysis.compare import compare
from crosswind.errors import Exit
from crosswind.stats import PerTrial, RatioInterval, more_trials_to_decide, ratio_interval

MACHINE = {"kernel": "6.1", "cpu": "x", "cores": 2, "clock_source": "tsc", "tools": {"store": "1"}}


def run_folder(path: Path, job_s: dict[str, list[float]], **machine: object) -> Path:
    """Write a run with one job time a trial, as docs/reference/contracts.md, section 5, describes it."""
    path.mkdir()
    figure = {"metric": "job", "statistic": "time", "unit": "s", "label": "job time", "better": "lower"}
    resolved = {
        "name": "jobs",
        "application": {"name": "spark", "parameters": {"cores": 2}, "figures": [figure]},
        "conditions": [{"name": name, "link": []} for name in job_s],
    }
    (path / "resolved.json").write_text(json.dumps(resolved))
    (path / "provenance.json").write_text(json.dumps({"before": MACHINE | machine, "after": None}))
    trials, metrics = [], []
    for name, values in job_s.items():
        for block, value in enumerate(values):
            trial = f"b{block}-{name}"
            trials.append(
                (trial, block, len(trials), name, "spark", "done", None, "faithful", None, None, 1.0, 1, 7)
            )
            metrics.append((trial, None, "job", "s", "time", value))
    tables = {
        "trials": (trials, "trial, block, position, condition, application, status, reason, fidelity, "
                           "fidelity_reason, started, duration_s, attempt, seed"),
        "metrics": (metrics, "trial, node, metric, unit, statistic, value"),
    }  # fmt: skip
    with duckdb.connect() as database:
        for table, (rows, columns) in tables.items():
            texts = ["(" + ", ".join("null" if v is None else repr(v) for v in row) + ")" for row in rows]
            select = f"select * from (values {', '.join(texts)}) as t({columns})"
            database.execute(f"copy ({select}) to '{path / table}.parquet' (format parquet)")
    return path


def times(seed: int, scale: float, n: int = 8) -> list[float]:
    return (scale * np.random.default_rng(seed).lognormal(sigma=0.05, size=n)).round(6).tolist()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return run_folder(tmp_path / "base", {"none": times(1, 10), "slow": times(2, 20), "old": times(3, 5)})


def test_each_condition_is_better_worse_or_undecided(base, tmp_path):
    other = run_folder(tmp_path / "other", {"none": times(4, 13), "slow": times(5, 15), "new": times(6, 5)})
    found = compare(base, other)
    verdicts = {compared.condition: compared.verdict for compared in found.compared}
    assert verdicts == {"none": "worse", "slow": "better"}
    assert (found.only_base, found.only_other) == (["old"], ["new"])
    worse = found.compared[0]
    assert worse.ratio.low < 1.3 < worse.ratio.high
    assert (worse.test.a12, worse.more_trials, worse.holds) == (1, 0, True)


def test_nothing_decided_says_how_many_trials_would(base, tmp_path):
    other = run_folder(tmp_path / "other", {"none": times(4, 10.4)})
    (compared,) = compare(base, other).compared
    assert compared.verdict == "undecided"
    assert compared.more_trials > 0


def test_another_machine_is_not_comparable_and_another_version_is_named(base, tmp_path):
    other = run_folder(tmp_path / "other", {"none": times(4, 10)}, cpu="y", tools={"store": "2"})
    with pytest.raises(NotComparable, match="CPU: x and y") as refusal:
        compare(base, other)
    assert refusal.value.exit == Exit.NOT_COMPARABLE
    assert "store" not in str(refusal.value)
    assert compare(base, other, anyway=True).sameness.notes == ["version of store: 1 and 2"]


def test_another_application_or_condition_is_not_comparable(base, tmp_path):
    other = Path(shutil.copytree(base, tmp_path / "other"))
    resolved = json.loads((other / "resolved.json").read_text())
    resolved["application"]["parameters"]["cores"] = 4
    resolved["conditions"][1]["link"] = [{"delay": {}}]
    (other / "resolved.json").write_text(json.dumps(resolved))
    with pytest.raises(NotComparable) as refusal:
        compare(base, other)
    assert "application.parameters.cores: 2 and 4" in str(refusal.value)
    assert "condition slow: means something else in each" in str(refusal.value)


def test_runs_without_a_common_condition_are_not_comparable(base, tmp_path):
    with pytest.raises(NotComparable, match="no condition in both"):
        compare(base, run_folder(tmp_path / "other", {"else": times(4, 10)}))


def test_forecast_halves_the_interval_with_four_times_the_trials():
    # An estimate that lies half as far from 1 as the bound does on the side of 1: four times as many trials.
    ratio = RatioInterval(0.95, math.exp(0.1), math.exp(-0.1), math.exp(0.3), 3, 0.96, True)
    assert more_trials_to_decide(ratio, 10) == 40 - 10
    assert more_trials_to_decide(ratio, 10, against=2.0) == 0
    same = RatioInterval(0.95, 1.0, 0.9, 1.1, 3, 0.96, True)
    assert more_trials_to_decide(same, 10) is None


def test_too_few_trials_for_any_interval_ask_for_those_first():
    few = PerTrial.numbered([1.0, 2.0])
    assert more_trials_to_decide(ratio_interval(few, few), 2) == 2

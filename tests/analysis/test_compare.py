import json
import math
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from crosswind.analysis.comparable import NotComparable
from crosswind.analysis.compare import compare
from crosswind.cli._main import run
from crosswind.errors import Exit
from crosswind.stats import PerTrial, RatioInterval, more_trials_to_decide, ratio_interval


def test_each_condition_is_better_worse_or_undecided(write_run):
    base = write_run("base", {"none": (1, 10, 8), "slow": (2, 20, 8), "old": (3, 5, 8)})
    other = write_run("other", {"none": (4, 13, 8), "slow": (5, 15, 8), "new": (6, 5, 8)})
    found = compare(base, other)
    verdicts = {compared.condition: compared.verdict for compared in found.compared}
    assert verdicts == {"none": "worse", "slow": "better"}
    assert (found.only_base, found.only_other) == (["old"], ["new"])
    worse = found.compared[0]
    assert worse.ratio.low < 1.3 < worse.ratio.high
    assert (worse.test.a12, worse.more_trials, worse.holds) == (1, 0, True)


def test_nothing_decided_says_how_many_trials_would(base, write_run):
    other = write_run("other", {"none": (4, 10.4, 8)})
    (compared,) = compare(base, other).compared
    assert compared.verdict == "undecided"
    assert compared.more_trials > 0


def test_another_machine_is_not_comparable_and_another_version_is_named(base, write_run):
    other = write_run("other", {"none": (4, 10, 8)}, cpu="y", tools={"store": "2"})
    with pytest.raises(NotComparable, match="CPU: x and y") as refusal:
        compare(base, other)
    assert refusal.value.exit == Exit.NOT_COMPARABLE
    assert "store" not in str(refusal.value)
    assert compare(base, other, force=True).sameness.notes[0] == "version of store: 1 and 2"


def test_another_tcp_is_named_and_no_hindrance(write_run):
    runs = []
    for nodes, machine in (("cubic", "bbr"), ("reno", "cubic")):
        settings = {"net.ipv4.tcp_congestion_control": machine, "vm.swappiness": len(runs)}
        runs.append(write_run(nodes, {"none": (1, 10, 8)}, sysctls=settings))
        resolved = json.loads((runs[-1] / "resolved.json").read_text())
        resolved["tcp"] = {"congestion_control": nodes, "rto_min_us": 200_000}
        (runs[-1] / "resolved.json").write_text(json.dumps(resolved))
    assert compare(*runs).sameness.notes[:2] == [
        "tcp of the nodes.congestion_control: cubic and reno",
        "tcp of the machine.congestion_control: bbr and cubic",
    ]


def test_how_slow_time_was_is_shown_and_another_dilation_is_a_note(write_run, capsys):
    runs = [write_run(name, {"none": (1, 10, 8)}) for name in ("a", "b", "c")]
    for run_folder, dilation in zip(runs, (10, 10, 20), strict=True):
        document = json.loads((run_folder / "resolved.json").read_text())
        (run_folder / "resolved.json").write_text(json.dumps(document | {"dilation": dilation}))
    says = "time: 10 times slower; perceived time is shown"
    for verb in (["compare", str(runs[0]), str(runs[1])], ["check", str(runs[1]), "--against", str(runs[0])]):
        run(verb)
        assert says in capsys.readouterr().out
    assert compare(*runs[:2]).sameness.notes == compare(runs[0], runs[0]).sameness.notes
    assert "dilation: 10 and 20" in compare(runs[0], runs[2]).sameness.notes
    for verb in (["compare", str(runs[0]), str(runs[2])], ["check", str(runs[2]), "--against", str(runs[0])]):
        run(verb)
        assert capsys.readouterr().out.count("dilation: 10 and 20") == 1


def test_conditions_with_other_dilations_of_their_own_are_comparable_with_a_note(write_run):
    runs = [write_run(name, {"none": (1, 10, 8), "far": (2, 10, 8)}) for name in ("a", "b")]
    for run_folder, dilations in zip(runs, ((10, 20), (10, 40)), strict=True):
        document = json.loads((run_folder / "resolved.json").read_text())
        for condition, dilation in zip(document["conditions"], dilations, strict=True):
            condition["dilation"] = dilation
        (run_folder / "resolved.json").write_text(json.dumps(document))
    found = compare(*runs).sameness
    assert found.hindrances == []
    assert found.time == ["condition far: dilation: 20 and 40"]


def test_spinning_is_how_the_emulator_waits_in_real_time_where_no_file_says_it(write_run):
    runs = [write_run(name, {"none": (1, 10, 8)}) for name in ("silent", "spins", "sleeps")]
    for run_folder, topology in zip(runs, ({}, {"wait": "spin"}, {"wait": "sleep"}), strict=True):
        resolved = json.loads((run_folder / "resolved.json").read_text())
        resolved["topology"] = topology
        (run_folder / "resolved.json").write_text(json.dumps(resolved))
    assert compare(*runs[:2]).compared
    with pytest.raises(NotComparable, match=r"topology\.wait: spin and sleep"):
        compare(runs[0], runs[2])


def test_how_the_emulator_waits_is_no_hindrance_between_dilations_where_no_file_says_it(write_run):
    runs = [write_run(name, {"none": (1, 10, 8)}) for name in ("real", "slower")]
    for run_folder, slower in zip(runs, ({}, {"dilation": 10}), strict=True):
        document = json.loads((run_folder / "resolved.json").read_text())
        (run_folder / "resolved.json").write_text(json.dumps({**document, "topology": {}, **slower}))
    assert compare(*runs).sameness.hindrances == []


def test_another_application_or_condition_is_not_comparable(base, tmp_path):
    other = Path(shutil.copytree(base, tmp_path / "other"))
    resolved = json.loads((other / "resolved.json").read_text())
    resolved["application"]["parameters"]["cores"] = 4
    resolved["conditions"][1]["link"] = [{"delay": {}}]
    (other / "resolved.json").write_text(json.dumps(resolved))
    with pytest.raises(NotComparable) as refusal:
        compare(base, other)
    assert "application.parameters.cores: 2 and 4" in str(refusal.value)
    assert "condition slow: is defined differently" in str(refusal.value)


def test_a_program_whose_file_changed_is_named_and_no_hindrance(base, tmp_path):
    other = Path(shutil.copytree(base, tmp_path / "other"))
    for folder, digest in ((base, "1f"), (other, "2e")):
        resolved = json.loads((folder / "resolved.json").read_text())
        file = {"file": "shop.py", "sha256": digest}
        resolved["application"]["parameters"] |= {"roles": {"shop": {"files": [file | {"says": None}]}}}
        resolved["application"]["files"] = [file]
        (folder / "resolved.json").write_text(json.dumps(resolved))
    assert "file shop.py: different content" in compare(base, other).sameness.notes
    resolved["application"]["parameters"]["roles"]["shop"]["files"][0]["says"] = {"services": 2}
    (other / "resolved.json").write_text(json.dumps(resolved))
    with pytest.raises(NotComparable, match=r"roles\.shop\.files\.1\.says"):
        compare(base, other)


def test_what_differs_is_said_as_an_experiment_file_has_it_and_not_as_python_has_it(base, tmp_path):
    other = Path(shutil.copytree(base, tmp_path / "other"))
    resolved = json.loads((other / "resolved.json").read_text())
    resolved["application"]["parameters"] |= {
        "faults": {"kill": {"after_s": 3}},
        "keep": True,
        "nodes": [1, 2],
    }
    resolved["application"]["figures"][0]["label"] = "time"
    (other / "resolved.json").write_text(json.dumps(resolved))
    with pytest.raises(NotComparable) as refusal:
        compare(base, other)
    assert str(refusal.value).splitlines()[1:-1] == [
        "  application.parameters.faults.kill.after_s: none and 3",
        "  application.parameters.keep: none and true",
        "  application.parameters.nodes: none and 1, 2",
        "  application.figures.1.label: job time and time",
    ]


def test_a_change_is_said_as_people_say_it(write_run, capsys):
    base = write_run("base", {"a": (1, 20, 8), "b": (2, 10, 8), "c": (3, 10, 8)})
    other = write_run("other", {"a": (4, 0.7, 8), "b": (5, 12, 8), "c": (6, 10, 8)})
    assert run(["compare", str(base), str(other)]) == 0
    shown = capsys.readouterr().out.replace("\u00a0", " ").replace("\u00d7", "x")
    slower, faster, same = (
        next(line for line in shown.splitlines() if line.startswith(f" {name} ")) for name in "bac"
    )
    assert " % higher " in slower
    assert " x lower " in faster
    assert " % " in same
    assert not re.search(r"\b0\.\d+ x", shown)


def test_fresh_budgets_are_not_comparable_with_kept_ones(base, tmp_path):
    other = Path(shutil.copytree(base, tmp_path / "other"))
    resolved = json.loads((other / "resolved.json").read_text())
    resolved["trials"] = {"budgets": "kept", "rest_s": 1.0}
    (other / "resolved.json").write_text(json.dumps(resolved))
    with pytest.raises(NotComparable, match=r"trials\.budgets: fresh and kept"):
        compare(base, other)


def test_runs_without_a_common_condition_are_not_comparable(base, write_run):
    with pytest.raises(NotComparable, match="no condition in both"):
        compare(base, write_run("other", {"else": (4, 10, 8)}))


def test_a_run_of_which_no_trial_counts_is_named(base, write_run):
    other = write_run("other", {"none": (4, 10, 8)})
    trials = other / "trials.parquet"
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t AS SELECT * REPLACE ('pending' AS status) FROM '{trials}'")
        database.execute(f"COPY t TO '{trials}'")
    with pytest.raises(NotComparable, match=r"other: no trial counts"):
        compare(base, other)


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

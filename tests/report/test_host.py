import json
import re
import shutil

import pytest

from crosswind.analysis.summarise import summarise
from crosswind.report.page import render
from crosswind.results import Measurement
from crosswind.results.host import Host, host_of
from crosswind.results.measurement import EmulatorHost, Span
from crosswind.results.reading import Results

MEASUREMENT = {
    "window": {"started_ns": 1_000, "ended_ns": 2_001_000},
    "ledger": {"packets": 0, "early": 0, "missed": 0, "bound_ns": 0},
    "conservation": {"holds": True},
    "host": {
        "canary_gap_ns_max": 310_000,
        "stalls": [{"at_ns": 5, "length_ns": 6_000_000}],
        "steal_ns": 0,
        "run_queue_delay_ns": 120_000,
        "emulator_cpu_ns": 500_000,
    },
}


def test_a_measurement_says_what_the_emulator_had_of_its_cpu():
    assert host_of(Measurement.model_validate(MEASUREMENT)) == Host(0.25, 120_000, 0, 6_000_000)


@pytest.mark.parametrize("told", [{"run_queue_delay_ns": None}, {}])
def test_what_the_kernel_or_an_older_version_does_not_tell_is_unknown_and_not_0(told):
    counted = {key: value for key, value in MEASUREMENT["host"].items() if key != "run_queue_delay_ns"}
    measurement = Measurement.model_validate({**MEASUREMENT, "host": {**counted, **told}})
    assert host_of(measurement).run_queue_delay_ns is None


def test_a_trial_without_a_measurement_says_nothing_of_its_host():
    assert host_of(None) == Host(None, None, None, None)


def test_the_longest_stall_is_the_canarys_gap_or_one_of_the_list_whichever_is_longer():
    stalls = [Span(at_ns=1, length_ns=5)]
    assert EmulatorHost(canary_gap_ns_max=7, stalls=stalls).longest_stall_ns == 7
    assert EmulatorHost(canary_gap_ns_max=None, stalls=stalls).longest_stall_ns == 5
    assert EmulatorHost(canary_gap_ns_max=None).longest_stall_ns is None


def test_the_table_of_trials_has_it_and_a_dash_for_an_older_trial(folder, tmp_path):
    def cells() -> str:
        return " / ".join(re.findall(r'<td class="num seldom">([^<]*)</td>', render(Results(copy))))

    row = "25\u00a0% / {} / 0\u00a0ns / 310\u00a0us"
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    assert row.format("0\u00a0ns") in cells()
    for path in (copy / "monitors").glob("*.json"):
        measurement = json.loads(path.read_text())
        del measurement["host"]["run_queue_delay_ns"]
        path.write_text(json.dumps(measurement))
    assert row.format("-") in cells()
    trials = [trial for condition in summarise(copy).as_json()["conditions"] for trial in condition["trials"]]
    assert {trial["host"]["run_queue_delay_ns"] for trial in trials} == {None}

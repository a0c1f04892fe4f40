"""The cases whose histories are checked live: each can be run, and a line of the page says what it found."""

from __future__ import annotations

import pytest

from bench.histories.cases import CASES, LOSING, Case
from bench.histories.found import Found, row
from crosswind.app.history import History
from crosswind.spec.named_experiment import named_experiment


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_every_case_is_an_experiment(case: Case) -> None:
    assert named_experiment(case.experiment()).resolved.name == "histories"


def test_every_store_and_workload_has_a_case_in_which_nothing_is_wrong() -> None:
    right = {(case.store, case.workload) for case in CASES if case.expected == "ok"}
    workloads = ("register", "set", "append")
    assert right == {(store, workload) for store in History.variants for workload in workloads}


def test_a_verdict_that_was_not_expected_is_in_bold() -> None:
    lost = Found(confirmed=700, refused=20, unknown=3, wrong=5, undecided=0, lost=90, late=False)
    assert row(LOSING[0], lost) == (
        "| set | 2 | `durability: wait=0`, `failover: 2500ms db1` | 1s: partition db0 \\| db1 | "
        "violation: the primary confirms what the failover discards | violation | 5 | 90 | 700 / 20 / 3 |"
    )
    right = Found(confirmed=700, refused=20, unknown=3, wrong=0, undecided=0, lost=0, late=True)
    assert row(LOSING[0], right).endswith("| **ok** | 0 | 0 | 700 / 20 / 3 (late) |")
    assert row(LOSING[0], None).endswith("| **no verdict** |  |  |  |")

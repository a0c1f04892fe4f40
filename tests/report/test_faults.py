"""Faults in a report: bands under operations over time, packets cut, and how long recovery took."""

import json
from pathlib import Path

import numpy as np
import pytest
from faulty import BEGIN, MS, S, write_faulty

from crosswind.analysis.causes import node_cause
from crosswind.analysis.faults import Outage, bands, course_of, over_trials, recoveries
from crosswind.analysis.summarise import summarise
from crosswind.report.fault_figures import fault_figures
from crosswind.report.fault_lines import fault_lines
from crosswind.report.over_time import over_time
from crosswind.report.page import render
from crosswind.results.measurement import Fault, Measurement
from crosswind.results.reading import Operations, Results
from synthetic import write_folder


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return Results(write_faulty(tmp_path_factory.mktemp("faulty") / "run"))


def measured(*faults: tuple[float, str, str]) -> Measurement:
    """Return a measurement with faults: second, kind, nodes."""
    stored = [
        Fault(
            due_ns=BEGIN + round(at * S),
            done_ns=BEGIN + round(at * S) + 5,
            words=f"{kind} {nodes}".strip(),
            kind=kind,
            nodes=nodes.split(),
        )
        for at, kind, nodes in faults
    ]
    measurement = Measurement.model_construct(faults=stored)
    window = {"started_ns": BEGIN, "ended_ns": BEGIN + 20 * S, "realtime_minus_monotonic_ns": 0}
    return measurement.model_copy(
        update={"window": Measurement.model_fields["window"].annotation.model_validate(window)}
    )


def spans(*faults: tuple[float, str, str]) -> list[tuple[str, float, float | None]]:
    """Return what lasted from when to when, s, rounded to the second."""
    return [
        (each.words, each.begin_ns // S, None if each.end_ns is None else each.end_ns // S)
        for each in bands(measured(*faults))
    ]


def test_a_heal_ends_all_cuts_and_nothing_else() -> None:
    assert spans(
        (1, "partition", "a b"), (2, "pause", "a"), (3, "cut", "b c"), (4, "heal", ""), (6, "resume", "a")
    ) == [("partition a b", 1, 4), ("pause a", 2, 6), ("cut b c", 3, 4)]


def test_a_fault_lasts_until_all_its_nodes_are_back_or_to_the_end() -> None:
    assert spans((1, "kill", "a b"), (2, "restart", "a"), (4, "restart", "b"), (5, "squeeze", "c")) == [
        ("kill a b", 1, 4),
        ("squeeze c", 5, None),
    ]


def test_a_kill_ends_a_pause_and_a_restart_alone_is_a_fault() -> None:
    assert spans((1, "pause", "a"), (2, "kill", "a"), (3, "restart", "a"), (6, "restart", "a")) == [
        ("pause a", 1, 2),
        ("kill a", 2, 3),
        ("restart a", 6, 6),
    ]


def outage(begin: float, end: float | None) -> Outage:
    end_ns = None if end is None else round(end * S)
    return Outage("isolate a", "isolate", ("a",), round(begin * S), round(begin * S), end_ns, 0)


def rates(*parts: tuple[float, int]) -> np.ndarray:
    """Return a rate in steps of 100 ms, from parts in s."""
    return np.concatenate([np.full(round(10 * length), rate, dtype=float) for length, rate in parts])


def test_recovery_is_when_a_second_has_nine_tenths_of_the_rate_before_the_first_fault() -> None:
    rate = rates((3, 100), (2, 0), (1.5, 50), (4, 95))
    # Two of the ten steps may have 50 and eight 95: 86; one of them: 90.5.
    assert recoveries(rate, [outage(3, 5)]) == [1400 * MS]


def test_there_is_no_recovery_to_less_or_before_the_next_fault_or_without_a_time_before() -> None:
    assert recoveries(rates((3, 100), (2, 0), (5, 89)), [outage(3, 5)]) == [None]
    assert recoveries(rates((3, 100), (2, 0), (5, 100)), [outage(3, None)]) == [None]
    assert recoveries(rates((3, 100), (2, 0), (5, 100)), [outage(3, 5), outage(5.5, 6)]) == [None, 0]
    assert recoveries(rates((0.5, 100), (2, 0), (5, 100)), [outage(0.5, 2.5)]) is None


def test_operations_are_counted_in_the_step_in_which_they_end() -> None:
    finished = np.array([50, 60, 150, 250, 251], dtype=np.int64) * MS
    took = np.array([10, 20, 30, 40, 50], dtype=np.int64) * MS
    found = course_of(
        Operations(
            node=np.full(5, "client", dtype=object),
            connection=np.zeros(5, dtype=np.int64),
            intended_ns=finished - took,
            started_ns=finished - took,
            finished_ns=finished,
            ok=np.array([True, True, False, True, True]),
        ),
        0,
        250 * MS,
    )
    # Of 250 ms the last step takes half a step more or less: here there are two, the second of 150 ms.
    assert found.rate.tolist() == pytest.approx([20, 2 / 0.15])
    assert found.failed.tolist() == pytest.approx([0, 1 / 0.15])
    assert found.p99_ns.tolist() == [20 * MS, 50 * MS]


def test_each_fault_of_a_condition_is_answered_over_its_trials(faulty: Results) -> None:
    whole, isolated, killed = summarise(faulty).conditions
    assert whole.faults == []
    (fault,) = isolated.faults
    assert (fault.like.direction, fault.cut_packets, fault.late_ns) == ("both ways", 19, 40_000)
    assert (fault.recovered, fault.trials) == (2, 2)  # One of three trials is void.
    assert fault.recovered_ns == pytest.approx(900 * MS, abs=200 * MS)
    assert [each.like.words for each in killed.faults] == ["kill db0", "pause db0"]
    assert [each.cut_packets for each in killed.faults] == [0, 0]


def test_packets_cut_are_a_lower_bound_where_records_were_lost(faulty: Results, tmp_path: Path) -> None:
    assert "a lower bound" not in render(faulty)
    folder = write_faulty(tmp_path / "run")
    for file in (folder / "monitors").glob("b01*-interference.json"):
        stored = json.loads(file.read_text())
        stored["drops"] = {"lost_records": 1, "rows": []}
        file.write_text(json.dumps(stored))
    lossy = Results(folder)
    page = render(lossy)
    assert "packets cut are a lower bound" in page
    assert ">at least 19<" in page
    assert ", at least 19 packets cut both ways" in next(fault_lines(summarise(lossy)))


def test_slow_and_failed_operations_are_put_down_to_the_fault_that_they_met(faulty: Results) -> None:
    whole, isolated, killed = summarise(faulty).conditions
    assert (whole.failed.slow, isolated.failed.slow) == (0, 0)
    # Of four connections in two trials, one has the address that drops have.
    assert set(isolated.slow.by_cause) == {
        "its packets were cut (isolate db0)",
        "none of its packets was cut, but others were (isolate db0)",
    }
    assert set(killed.failed.by_cause) == {"db0 was down"}
    assert killed.failed.slow == 3 * 4 * 60  # Every 50 ms for 3 s.
    assert set(killed.slow.by_cause) == {"db0 was paused"}


@pytest.mark.parametrize(
    ("begin", "end", "share", "cause"),
    [
        (3.5, 4.6, 0.5, "a was down"),
        (3.0, 4.2, 0.5, None),
        (3.0, 4.2, 0.0, "a was down"),
        (3.0, 3.9, 0.0, None),
        (8.5, 9.5, 0.5, "a was paused"),
    ],
)
def test_a_node_that_was_down_for_half_of_an_operation_is_its_cause(
    begin: float, end: float, share: float, cause: str | None
) -> None:
    found = list(
        bands(measured((4, "kill", "a"), (7, "restart", "a"), (8, "pause", "a"), (11, "resume", "a")))
    )
    assert node_cause(found, round(begin * S), round(end * S), share) == cause


def test_trials_with_the_same_faults_are_answered_together() -> None:
    found = over_trials([[outage(3, 5)], [outage(3, 5)], [outage(4, 5)]])
    assert [(each.trials, each.like.due_ns // S) for each in found] == [(2, 3), (1, 4)]


def test_a_picture_has_a_band_for_each_fault_and_a_gap_where_nothing_ended(faulty: Results) -> None:
    isolated, killed = fault_figures(summarise(faulty), faulty)
    shapes = isolated.spec["layout"]["shapes"]
    assert [(shape["name"], shape["x0"], shape["x1"]) for shape in shapes] == [("cut", 5.0, 10.0)]
    median = next(trace for trace in isolated.spec["data"] if trace["name"] == "P99 latency")
    assert median["y"][70] is None
    assert [shape["name"] for shape in killed.spec["layout"]["shapes"]] == ["hit", "hit"]
    labels = [label["text"] for label in killed.spec["layout"]["annotations"]]
    assert labels[:2] == ["kill db0", "pause db0"]


def test_the_page_and_the_terminal_show_each_fault(faulty: Results) -> None:
    page = render(faulty)
    assert 'id="faults"' in page
    assert '<a href="#faults">' in page
    first, *others = fault_lines(summarise(faulty))
    assert first.startswith("interference: isolate db0 at 5\xa0s for 5.00\xa0s, 19 packets cut both ways; ")
    assert len(others) == 2
    courses = over_time(summarise(faulty), faulty)
    assert courses is not None
    assert {course.faults[0] for course in courses.trials if course.condition == 1} == {
        (5.0, 10.0, "cut", "isolate db0")
    }


def test_a_run_without_faults_has_no_section_of_them(tmp_path: Path) -> None:
    results = Results(write_folder(tmp_path / "run", operations=50, conditions=2))
    assert 'id="faults"' not in render(results)
    assert list(fault_lines(summarise(results))) == []

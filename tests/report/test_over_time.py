"""Counts by time step and latency bin: what the page draws of a trial, and adds up in a selected range."""

import numpy as np
import pytest

from crosswind.analysis.summarise import summarise
from crosswind.report.over_time import BINS, CELLS_PER_DECADE, LOWEST_NS, STEPS, over_time
from crosswind.results.reading import Results
from synthetic import write_folder


@pytest.fixture(scope="module")
def courses(folder):
    results = Results(folder)
    return over_time(summarise(results), results), results


def cells_of(course):
    places = np.cumsum(course.cells[::2])
    return places // BINS, places % BINS, np.array(course.cells[1::2])


def test_every_operation_is_in_one_cell_at_its_time_and_latency(courses):
    found, results = courses
    for course in found.trials:
        operations = results.operations(course.trial)
        begin = results.measurement(course.trial).window.started_ns
        steps, bins, counts = cells_of(course)
        assert counts.sum() == operations.ok.sum()
        at = np.minimum((operations.finished_ns - begin) / 1e9 // found.step, course.steps - 1)
        assert np.array_equal(
            np.bincount(steps, counts, course.steps), np.bincount(at.astype(int), minlength=course.steps)
        )
        # A bin spans 5.9 %: its lower edge is below the latency by at most that.
        edges = np.repeat(LOWEST_NS * 10 ** (bins / CELLS_PER_DECADE), counts)
        latency = np.sort(operations.finished_ns - operations.intended_ns)
        assert np.all(np.sort(edges) <= latency * (1 + 1e-9))
        assert np.all(latency < np.sort(edges) * 10 ** (1 / CELLS_PER_DECADE) * (1 + 1e-9))


def test_the_trials_of_a_run_share_steps_that_are_multiples_of_the_recorded_ones(courses):
    found, _ = courses
    assert round(found.step / 0.1, 6) % 1 == 0
    assert sum(course.steps for course in found.trials) <= STEPS


def test_drops_are_counted_by_place_and_reason(courses):
    found, results = courses
    for course in found.trials:
        packets = sum(count for counts in course.drops.values() for _, count in counts)
        assert packets == len(results.drops(course.trial))
    assert any("switch.ingress: no-tokens" in course.drops for course in found.trials)


def test_a_failed_trial_has_no_course_and_a_void_one_is_not_counted(courses):
    found, _ = courses
    assert len(found.trials) == 29
    assert [course.verdict for course in found.trials if not course.counted] == ["void"]


def test_without_measurements_there_is_nothing_to_draw(tmp_path):
    folder = write_folder(tmp_path / "run", operations=50, blocks=1, conditions=1)
    for file in (folder / "monitors").iterdir():
        file.unlink()
    results = Results(folder)
    assert over_time(summarise(results), results) is None

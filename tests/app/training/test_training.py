"""What workers of a training wrote, as they wrote it here (PyTorch 1.13 of Debian 12, three workers)."""

import json
from pathlib import Path

import pytest

from crosswind.app.training import Training, TrainingParameters
from crosswind.app.training.result import Worker, check, metrics_of, operations_csv, read_worker
from crosswind.spec.sizes_file import sizes_of
from crosswind.testbed import TestbedError

CAPTURED = Path(__file__).parent / "captured"
ASKED = TrainingParameters.model_validate({"width": 4, "batch": 32, "steps": 20, "warm_up_steps": 10})


@pytest.fixture
def workers() -> list[Worker]:
    return [read_worker((CAPTURED / f"worker{rank}.json").read_text()) for rank in range(3)]


def test_real_workers_pass(workers: list[Worker]) -> None:
    check(workers, ASKED)


def test_the_parameters_of_a_width_are_those_of_the_tutorial() -> None:
    # Printed by PyTorch for width 4, and the 3,274,634 that are known of the tutorial's network.
    assert ASKED.model_parameters == 52_506
    assert TrainingParameters(width=32).model_parameters == 3_274_634
    assert ASKED.gradient_bytes == 210_024


def changed(worker: Worker, **values: object) -> Worker:
    return worker.model_copy(update=values)


def test_metrics_are_those_of_the_measured_steps(workers: list[Worker]) -> None:
    found = {(metric.node, metric.metric, metric.statistic): metric for metric in metrics_of(workers, ASKED)}
    measured = workers[0].steps[10:]
    seconds = (measured[-1].finished_ns - measured[0].started_ns) / 1e9
    assert found[None, "training.samples", "mean"].value == pytest.approx(20 * 32 * 3 / seconds)
    assert found[None, "training.time", "value"].value == pytest.approx(seconds * 1e9)
    # Two thirds of a gradient out, two thirds back in, and the headers of TCP around them.
    sent = found["worker1", "step.sent", "mean"].value
    assert 4 / 3 * 210_024 < sent < 1.1 * 4 / 3 * 210_024
    assert found[None, "loss", "first"].value > found[None, "loss", "last"].value


def test_steps_become_operations_with_the_warm_up_unmeasured(workers: list[Worker]) -> None:
    header, *rows = operations_csv(workers[0], ASKED).splitlines()
    assert header == "operation,connection,intended_ns,started_ns,finished_ns,ok,measured"
    assert [row.rpartition(",")[2] for row in rows] == ["0"] * 10 + ["1"] * 20
    assert all(row.startswith("step,0,") for row in rows)


def test_a_loss_that_does_not_fall_or_is_no_number_fails_the_trial(workers: list[Worker]) -> None:
    for wrong in (2.5, float("nan"), float("inf")):
        steps = tuple(step._replace(loss=wrong) for step in workers[0].steps[-3:])
        bad = workers[0].steps[:-3] + steps
        with pytest.raises(TestbedError, match="nothing was learned"):
            check([changed(worker, steps=bad) for worker in workers], ASKED)


def test_workers_that_did_not_exchange_fail_the_trial(workers: list[Worker]) -> None:
    with pytest.raises(TestbedError, match="worker1: sent 5000 bytes in a step"):
        check([workers[0], changed(workers[1], sent_bytes=100_000), workers[2]], ASKED)
    with pytest.raises(TestbedError, match="different networks"):
        check([workers[0], changed(workers[1], weights_sha256="0"), workers[2]], ASKED)


def test_another_network_or_another_number_of_steps_fails_the_trial(workers: list[Worker]) -> None:
    with pytest.raises(TestbedError, match="trained 52506 parameters; a width of 5 has"):
        check(workers, ASKED.model_copy(update={"width": 5}))
    with pytest.raises(TestbedError, match=r"made 30 steps of 10 \+ 30"):
        check(workers, ASKED.model_copy(update={"steps": 30}))


@pytest.mark.parametrize("length", [0, 1, 300])
def test_a_result_that_ends_early_is_refused(length: int) -> None:
    with pytest.raises(TestbedError, match="cannot be read"):
        read_worker((CAPTURED / "worker0.json").read_text()[:length])


def test_a_result_of_something_else_is_refused() -> None:
    with pytest.raises(TestbedError, match="cannot be read"):
        read_worker(json.dumps({"steps": [[1, 2, 3.0]]}))


def test_two_workers_are_the_least() -> None:
    assert Training.roles_missing(["worker0"]) == ["worker1"]
    assert Training.roles_missing(["worker0", "worker1", "worker2"]) == []


def test_both_sizes_are_parameters() -> None:
    sizes = sizes_of(Training)
    assert TrainingParameters.model_validate(sizes["small"]).model_parameters == 52_506
    assert TrainingParameters.model_validate(sizes["study"]).model_parameters == 3_274_634

"""`crosswind simulate EXPERIMENT`: the trials of an experiment in virtual time."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crosswind.cli._main import group
from crosswind.errors import CrosswindError
from crosswind.plan import planned
from crosswind.spec import load_experiment, resolve
from crosswind.testbed import TestbedError, find_binary

EXPERIMENT = """
name: simulated
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 5ms, buffer: 250kB}
  tcp: {congestion_control: cubic}
  nodes: {server: h0, client: h1}
application: APPLICATION
conditions:
  - clean: {}
  - lossy: {switch.ingress: [lose: 1%]}
trials: {repeat: 3, seed: 5}
"""
RPC = "{rpc: {connections: 4, duration: 4s}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    try:
        find_binary("crosswind-simulate")
    except TestbedError as reason:
        pytest.skip(str(reason))
    return tmp_path


def experiment(folder: Path, application: str) -> Path:
    path = folder / "experiment.yaml"
    path.write_text(EXPERIMENT.replace("APPLICATION", application))
    return path


def simulate(*arguments: object) -> Result:
    result = CliRunner().invoke(group, ["simulate", *map(str, arguments)], standalone_mode=False)
    if isinstance(result.exception, CrosswindError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def trials(*arguments: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(simulate(*arguments, "--json").output)["trials"]
    return found


def values(trial: dict[str, object], metric: str, statistic: str) -> list[float]:
    metrics = trial["metrics"]
    assert isinstance(metrics, list)
    return [each["value"] for each in metrics if (each["metric"], each["statistic"]) == (metric, statistic)]


def test_trials_are_those_of_a_live_run_in_its_order_and_with_its_seeds(folder: Path) -> None:
    path = experiment(folder, RPC)
    live = planned(resolve(load_experiment(str(path))))
    assert [(each["trial"], each["condition"], each["seed"]) for each in trials(path)] == [
        (trial.id, trial.condition, trial.seed) for trial in live
    ]


def test_a_lossy_network_costs_calls_timeouts(folder: Path) -> None:
    for trial in trials(experiment(folder, RPC)):
        (timeouts,), (longest,) = values(trial, "timeouts", "count"), values(trial, "latency", "max")
        if trial["condition"] == "clean":
            # Two links each way, 5 ms each, and less than a millisecond on them.
            assert timeouts == 0
            assert 20e6 < longest < 21e6
        else:
            assert timeouts > 0
            assert longest > 220e6


@pytest.mark.parametrize(
    "application",
    ["{iperf3: {duration: 4s, sender: server}}", "{traffic: {duration: 4s}}"],
)
def test_a_stream_fills_the_link_of_an_experiment(folder: Path, application: str) -> None:
    for trial in trials(experiment(folder, application), "--condition", "clean"):
        (goodput,) = values(trial, "goodput", "mean")
        # 1448 bytes of payload take 1538 on the wire; a packet more or less may fall into the window.
        assert 0.98 <= goodput / (100e6 * 1448 / 1538) <= 1.001


def test_the_table_has_a_row_for_each_condition(folder: Path) -> None:
    said = simulate(experiment(folder, RPC)).output
    assert all(word in said for word in ("clean", "lossy", "P99", "timeouts"))


def test_a_seed_replaces_the_experiments(folder: Path) -> None:
    path = experiment(folder, RPC)
    assert trials(path, "--seed", 5) == trials(path)
    assert trials(path, "--seed", 6) != trials(path)


@pytest.mark.parametrize(
    ("application", "why"),
    [
        ("{iperf3: {duration: 4s, protocol: udp, rate: 1Mbit/s, warm_up: 0s}}", "only TCP"),
        ("{traffic: {duration: 4s, message: 1MB}}", "messages are not simulated"),
        ("{nuttcp: {duration: 4s}}", "only rpc, iperf3 and traffic"),
    ],
)
def test_what_cannot_be_simulated_is_refused(folder: Path, application: str, why: str) -> None:
    with pytest.raises(CrosswindError, match=why):
        simulate(experiment(folder, application))


def test_a_condition_that_passes_nothing_says_so(folder: Path) -> None:
    path = experiment(folder, RPC)
    path.write_text(path.read_text().replace("lose: 1%", "lose: 100%"))
    refused = [trial["refused"] for trial in trials(path, "--condition", "lossy")]
    assert all(isinstance(why, str) and "connections cannot be made" in why for why in refused)

"""An application of a user's own, as it is written and as errors answer it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.app.command import Command, CommandParameters
from crosswind.spec import load_experiment, resolve
from crosswind.spec.declared import Figure
from crosswind.spec.problems import SpecErrors
from crosswind.spec.restored import restored

HEAD = """
name: own
topology: {hosts: 2, uplink: {rate: 1Gbit/s, delay: 1us}, nodes: {server: h0, client: h1}}
conditions: [none]
trials: {repeat: 1, seed: 1}
application:
  command:
"""
TEN_LINES = """
    roles:
      server: {command: [serve, --port, 8080], ready: {port: 8080}, files: [serve.py]}
      client: {command: "ask {address:server} {seed}", environment: {HOW: often, N: 3}}
    load: client
    metrics:
      wait: {json: p99, unit: ms, better: lower}
      sizes: {samples: sizes.txt, unit: kB, better: higher}
      took: {elapsed: true, better: lower}
"""


def written(folder: Path, application: str) -> Path:
    (folder / "serve.py").write_text("pass\n")
    path = folder / "own.yaml"
    path.write_text(HEAD + application)
    return path


def problems(folder: Path, application: str) -> list[str]:
    with pytest.raises(SpecErrors) as refused:
        load_experiment(written(folder, application))
    return [str(problem).partition(": ")[2] for problem in refused.value.problems]


def test_parameters_survive_the_resolved_experiment(tmp_path: Path) -> None:
    experiment = load_experiment(written(tmp_path, TEN_LINES))
    resolved = json.loads(json.dumps(resolve(experiment).as_json()))
    assert restored(CommandParameters, resolved["application"]["parameters"]) == experiment.parameters
    assert [entry["file"] for entry in resolved["application"]["files"]] == ["serve.py"]


def test_a_line_goes_to_the_shell_and_a_list_does_not(tmp_path: Path) -> None:
    parameters = load_experiment(written(tmp_path, TEN_LINES)).parameters
    assert isinstance(parameters, CommandParameters)
    assert parameters.roles["server"].command == ["serve", "--port", "8080"]
    assert parameters.roles["client"].command == ["/bin/sh", "-c", "ask {address:server} {seed}"]
    assert parameters.roles["client"].environment == {"HOW": "often", "N": "3"}


def test_figures_follow_from_the_metrics(tmp_path: Path) -> None:
    parameters = load_experiment(written(tmp_path, TEN_LINES)).parameters
    assert isinstance(parameters, CommandParameters)
    assert Command(parameters).figures() == (
        Figure("wait", "value", "ns", "wait", "lower"),
        Figure("sizes", "p99", "B", "sizes P99", "higher"),
        Figure("sizes", "p50", "B", "sizes P50", "higher"),
        Figure("took", "value", "ns", "took", "lower"),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ready: {port: 8080}, ", "", "server has no `ready`"),
        ("ready: {port: 8080}", "ready: {port: 8080, regex: x}", "exactly one of port, regex and command"),
        ("ready: {port: 8080}", "ready: {port: 0}", 'port "0" is not a port'),
        ("ready: {port: 8080}", "ready: {regex: '('}", 'regex "(" is not a regular expression'),
        ("ready: {port: 8080}", "ready: {command: []}", "is not a command"),
        ("load: client", "load: cleint", 'load "cleint" is not a role; did you mean "client"?'),
        ("load: client", "load: server", "ready is for servers, but this role is the load"),
        ("server: {command", "sever: {command", 'sever is not the name of a node; did you mean "server"?'),
        ("files: [serve.py]", "files: [nothing.py]", '"nothing.py" cannot be read'),
        ("files: [serve.py]", "files: [/etc/passwd]", "is not in the folder of the experiment file"),
        ("{address:server}", "{address:db}", "no node has that name"),
        ("{seed}", "{duration}", "there is no `duration`"),
        ("json: p99, unit: ms", "json: p99, unit: msec", "write ms"),
        ("json: p99, unit: ms", "json: p99", "has no unit; add it"),
        ("json: p99, unit: ms", "json: p99, regex: '(?P<value>1)', unit: ms", "exactly one of json"),
        ("json: p99, unit: ms", "regex: p99, unit: ms", "has no group called value"),
        ("json: p99, unit: ms", "json: p99, in: ../x, unit: ms", "is not in the working folder"),
        ("samples: sizes.txt", "samples: sizes.txt, in: x", "has `in` and `samples`"),
        ("wait: {", "drops: {", "is the name of a metric of the network"),
        (
            "load: client",
            "load: client\n    operations: {in: o.csv}\n    warm_up: 1s\n    warm_up_command: x",
            "has `warm_up` and `warm_up_command`",
        ),
        ("N: 3", "N: true", '"true" is not text; write it in quotes'),
    ],
)
def test_an_error_names_its_place_and_the_remedy(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEN_LINES
    found = problems(tmp_path, TEN_LINES.replace(old, new, 1))
    assert any(message in problem for problem in found), found


def test_a_metric_that_operations_give_already_is_refused(tmp_path: Path) -> None:
    text = TEN_LINES.replace("wait: {", "latency: {") + "    operations: {in: o.csv}\n"
    assert any("metrics: latency is a metric of `operations`" in found for found in problems(tmp_path, text))


def test_an_application_that_measures_nothing_is_refused(tmp_path: Path) -> None:
    text = TEN_LINES.partition("    metrics:")[0]
    assert any("measures nothing" in found for found in problems(tmp_path, text))


def test_a_missing_program_is_named_before_the_run(tmp_path: Path) -> None:
    parameters = load_experiment(written(tmp_path, TEN_LINES)).parameters
    (missing,) = Command(parameters).own_missing()  # type: ignore[arg-type]
    assert "role server: program serve: not in PATH=" in missing.what

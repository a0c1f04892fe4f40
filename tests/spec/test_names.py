"""Names are refused where they could not become a file's name, and allowed as long as they can."""

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from crosswind.app.command.metric import WrittenFile
from crosswind.cli import _main as cli
from crosswind.plan.trials import _id
from crosswind.results.monitors import TABLES
from crosswind.results.query import write_rows
from crosswind.results.rows import attempt_name
from crosswind.spec import SpecErrors
from crosswind.spec.load import load_condition_file, parse_experiment
from crosswind.spec.names import CONDITION_MAX

EXPERIMENT = """\
name: {experiment}
topology:
  hosts: [{host}, h1]
  uplink: {{rate: 1Gbit/s}}
  nodes: {{{node}: h1, server: h1, client: h1}}
factors: {{{factor}: [1ms, 2ms]}}
conditions: [{{{condition}: {{link: [{{delay: {{time: ${factor}}}}}]}}}}]
application: {{rpc: {{request: 1B, response: 1B, connections: 1, duration: 1s}}}}
trials: {{repeat: 6}}
"""
SOUND = {
    "experiment": "x" * 64,
    "host": "h" * 15,
    "node": "n" * 32,
    "factor": "f" * 32,
    "condition": "c" * (CONDITION_MAX - 4) + "-$" + "f" * 32,  # The level has three letters: 1ms.
}


def experiment(**names: str) -> bytes:
    return EXPERIMENT.format(**SOUND | names).encode()


def test_the_longest_names_are_allowed() -> None:
    parse_experiment(experiment(), "x.yaml")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"experiment": "x" * 65}, "x.yaml:1:7: name"),
        ({"host": "h" * 16}, "x.yaml:3:11: topology.hosts: item 1"),
        ({"node": "n" * 33}, "x.yaml:5:11: topology.nodes: key"),
        ({"condition": "c" * 300 + "-$" + "f" * 32}, "x.yaml:7:15: conditions[1]: key"),
        ({"condition": "c" * (CONDITION_MAX - 3) + "-$" + "f" * 32}, "x.yaml:7:15: conditions[1]: key"),
    ],
)
def test_a_longer_name_is_refused_with_its_place_and_length(names: dict[str, str], message: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        parse_experiment(experiment(**names), "x.yaml")
    assert message in str(caught.value)
    assert "has at most" in str(caught.value)
    assert ": shorten it" in str(caught.value)


def test_a_condition_of_a_file_for_set_has_the_same_bound(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("c" * 161 + ": {link: []}\n")
    with pytest.raises(SpecErrors, match="has 161 characters"):
        load_condition_file(tmp_path / "c.yaml")


def test_a_condition_made_of_a_measurement_has_the_same_bound(tmp_path: Path, capsys) -> None:
    (tmp_path / "trace.csv").write_text("time_s,rate_mbps\n0,1\n1,2\n")
    assert cli.run(["conditions", "from", str(tmp_path / "trace.csv"), "--name", "A b"]) == 2
    assert '--name: "A b" is not a valid name for a condition' in capsys.readouterr().err
    assert cli.run(["conditions", "from", str(tmp_path / "trace.csv"), "--name", "c" * 161]) == 2
    assert "has 161 characters" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["x" * 256, "é" * 128, "a\0b"])
def test_a_file_that_no_program_can_write_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="cannot be a file"):
        TypeAdapter(WrittenFile).validate_python(name)


def test_the_longest_name_of_a_file_of_a_trial_is_one_that_linux_takes(tmp_path: Path) -> None:
    # 100,000 blocks of 1000 conditions, tried ten thousand times.
    longest = attempt_name(_id(99_999, 99_999_999, "c" * CONDITION_MAX), 10_000)
    for table in TABLES:
        write_rows(tmp_path / f"{longest}.{table}.parquet", {"at_ns": "BIGINT"}, [{"at_ns": 1}])
    assert len(list(tmp_path.iterdir())) == len(TABLES)


def test_an_element_without_its_hyphen_is_no_name(tmp_path: Path) -> None:
    content = re.sub(rb"link: \[(.*?)\]", rb"link: \1", experiment())
    with pytest.raises(SpecErrors) as refused:
        parse_experiment(content, tmp_path / "x.yaml")
    (problem,) = str(refused.value).splitlines()[:1]
    assert problem.endswith("link a mapping must be a list; write [...] or lines starting with a hyphen")
    assert "not a host" not in str(refused.value)

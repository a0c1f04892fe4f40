"""The command line as a user meets it: exit statuses, texts, and what help does without."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crosswind.cli import _verbs
from crosswind.cli._main import run
from crosswind.errors import Exit
from crosswind.runner.outcome import RunOutcome

BROKEN = "name: x\ntopology: {hosts: 2, uplink: {rate: 10}, nodes: {a: h0}}\n"


def in_a_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from crosswind.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_lists_every_verb_with_its_first_line() -> None:
    text = in_a_process("--help").stdout
    for verb in _verbs.verbs():
        assert verb in text
        assert _verbs.first_line(verb), verb


def test_help_imports_none_of_the_libraries_that_verbs_need() -> None:
    code = (
        "import sys; from crosswind.cli._main import run; run(['--help']); "
        "print(sorted({'pydantic', 'duckdb', 'numpy', 'plotly', 'rich', 'ruamel'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_init_writes_a_valid_experiment_and_never_overwrites(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    assert run(["validate", "experiment.yaml"]) == 0
    assert run(["init"]) == 2
    assert "experiment.yaml exists" in capsys.readouterr().err


def test_init_writes_the_schema_that_the_example_names(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bench").mkdir()
    assert run(["init", "bench/one.yaml"]) == 0
    lines = Path("bench/one.yaml").read_text().splitlines()
    assert lines[:2] == [
        "# yaml-language-server: $schema=experiment.schema.json",
        "# $schema: experiment.schema.json",
    ]
    capsys.readouterr()
    assert run(["schema"]) == 0
    schema = Path("bench/experiment.schema.json")
    assert schema.read_text() == capsys.readouterr().out
    schema.write_text("mine")
    assert run(["init", "bench/two.yaml"]) == 0
    assert schema.read_text() == "mine"
    assert "crosswind schema > bench/experiment.schema.json updates it" in capsys.readouterr().out


def test_validate_prints_places_that_editors_jump_to(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(BROKEN)
    assert run(["validate", "x.yaml"]) == 2
    assert 'x.yaml:2:37: topology.uplink: rate "10" has no unit; write 10Mbit/s' in capsys.readouterr().err


def test_a_network_for_up_is_valid_without_an_application(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(
        "topology: {hosts: 2, uplink: {rate: 1Gbit/s, delay: 2us, buffer: 64KiB}, nodes: {a: h0}}\n"
    )
    assert run(["validate", str(file)]) == 0
    assert "valid network for `crosswind up`" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--record", "--capture"])
@pytest.mark.parametrize("domains", ["2", "[[switch, h0], [h1]]"])
def test_up_writes_no_recording_and_no_capture_of_several_domains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, domains: str
) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(
        "topology: {hosts: 2, uplink: {rate: 1Gbit/s, delay: 1ms}, nodes: {a: h0}, "
        f"domains: {domains}}}\n"
    )
    assert run(["up", str(file), option, str(tmp_path / "out")]) != 0
    said = capsys.readouterr().err
    key = option.removeprefix("--")
    assert f"{key}: needs one domain, and the topology of {file} has 2; write domains: 1 there, or" in said
    assert not (tmp_path / "out").exists()


def test_validate_can_answer_in_json(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(BROKEN)
    assert run(["validate", "x.yaml", "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert not answer["valid"]
    assert {problem["line"] for problem in answer["problems"]} == {1, 2}


def test_validate_knows_files_of_conditions_and_names_of_the_catalogue(tmp_path: Path, capsys) -> None:
    file = tmp_path / "conditions.yaml"
    file.write_text("slow: {link: [{delay: {time: 1ms}}]}\n")
    assert run(["validate", str(file), "rpc-quick"]) == 0
    out = capsys.readouterr().out
    assert "valid file of conditions" in out
    assert "rpc-quick: valid experiment" in out


NOTED = """
name: noted
topology: {uplink: {rate: 1Gbit/s}}
conditions: [none]
application:
  compose:
    file: compose.yaml
    load: {command: "true"}
    metrics: {time: {elapsed: true, better: lower}}
trials: {repeat: 1, seed: 1}
"""
SERVICES = """
services:
  web: {image: not-here-at-all, labels: {a: b}}
  db: {image: redis, x-crosswind: {package: "apt:no-such-package", command: [no-such-program]}}
"""


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path / "cache"))
    Path("compose.yaml").write_text(SERVICES)
    Path("noted.yaml").write_text(NOTED)
    return "noted.yaml"


def test_validate_prints_notes(noted: str, capsys) -> None:
    assert run(["validate", noted]) == 0
    assert "  note: compose.yaml: line 3: labels has no effect: " in capsys.readouterr().out
    assert run(["validate", noted, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert {note["file"] for note in notes} == {noted}


def test_plan_names_what_is_missing_on_this_machine(noted: str, capsys) -> None:
    assert run(["plan", noted]) == 0
    shown = capsys.readouterr().out.split("Missing on this machine\n")[1]
    assert "  - image not-here-at-all: podman is not installed; " in shown
    assert (
        "  - no-such-package (no-such-program): neither on this system nor in the private packages;" in shown
    )
    assert "crosswind apps install FILE (this experiment file)" in shown
    assert run(["plan", noted, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["missing"]) == 2


def test_apps_install_takes_an_experiment(noted: str, capsys) -> None:
    Path("compose.yaml").write_text("services: {web: {command: ['true']}}")
    assert run(["apps", "install", noted]) == 0
    assert f"{noted}: ready" in capsys.readouterr().out


def test_plan_answers_in_json(capsys) -> None:
    assert run(["plan", "rpc-quick", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["trials"]) == 9


def test_conditions_are_listed_and_shown(capsys) -> None:
    assert run(["conditions", "--json"]) == 0
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)]
    assert "icpe23/interference" in names
    assert run(["conditions", "show", "icpe23/interference"]) == 0
    assert "Source: Hasenoot" in capsys.readouterr().out


def test_analyze_prints_a_table_for_people_and_json_for_scripts(tmp_path: Path, capsys) -> None:
    file = tmp_path / "x.csv"
    file.write_text("net,ms\n" + "".join(f"a,{10 + i}\nb,{30 + i}\n" for i in (3, 0, 6, 1, 7, 4, 2, 5)))
    assert run(["analyze", str(file), "--by", "net"]) == 0
    out = capsys.readouterr().out
    assert "column ms, 2 groups by net; each row is one trial" in out
    assert "needs 28 more trials" in out
    assert "larger" in out
    assert run(["analyze", str(file), "--by", "net", "--quantile", "p50", "--json"]) == 0
    analysis = json.loads(capsys.readouterr().out)
    assert analysis["groups"][0]["quantiles"]["0.5"]["available"]
    assert analysis["comparisons"][0]["difference"]["available"]


def test_analyze_refuses_what_drifts_and_says_what_helps(tmp_path: Path, capsys) -> None:
    file = tmp_path / "x.csv"
    file.write_text("ms\n" + "".join(f"{10 + i}\n" for i in range(12)))
    assert run(["analyze", str(file)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "refused, because the level changed after trial 6 of 12" in out
    assert "give --unordered" in out
    assert run(["analyze", str(file), "--unordered"]) == 0
    assert "refused" not in capsys.readouterr().out


def test_analyze_names_the_line_that_it_cannot_read(tmp_path: Path, capsys) -> None:
    file = tmp_path / "x.csv"
    file.write_text("ms\n1\n2ms\n")
    assert run(["analyze", str(file)]) == 2
    assert f'{file}:3: ms: "2ms" is not a plain number' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plann"], 'there is no verb "plann"; did you mean "plan"?'),
        (["conditions", "show", "icpe23/interfrence"], 'did you mean "icpe23/interference"'),
        (["plan", "rpc-quik"], 'did you mean "rpc-quick"?'),
        (["plan", "nowhere.yaml"], "cannot be read"),
        (["plan"], "Missing argument"),
        (["analyze", "x.csv", "--within", "5"], "write 5%"),
        (["analyze", ".", "--by", "condition"], "leave --by"),
        (["analyze", "x.csv", "--each", "99"], "write p50 for the median"),
        (["compare", "nowhere", "nowhere"], "nowhere: not there; give the folder of a run"),
    ],
)
def test_a_wrong_command_exits_2_and_names_the_remedy(arguments: list[str], words: str, capsys) -> None:
    assert run(arguments) == 2
    assert words in capsys.readouterr().err


def test_a_fault_of_our_own_exits_1_without_a_traceback(monkeypatch, capsys) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("crosswind.plan.outline", fail)
    monkeypatch.delenv("CROSSWIND_DEBUG", raising=False)
    assert run(["plan", "rpc-quick"]) == 1
    error = capsys.readouterr().err
    assert "internal error: RuntimeError: boom" in error
    assert "Traceback" not in error


def test_the_schema_is_json(capsys) -> None:
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_a_script_for_each_shell(shell: str, capsys) -> None:
    assert run(["completion", shell]) == 0
    assert "_CROSSWIND_COMPLETE" in capsys.readouterr().out


def test_completion_offers_verbs() -> None:
    result = in_a_process(_CROSSWIND_COMPLETE="bash_complete", COMP_WORDS="crosswind val", COMP_CWORD="1")
    assert "validate" in result.stdout


def test_options_can_be_given_by_environment_variables() -> None:
    assert in_a_process("plan", "rpc-quick", CROSSWIND_PLAN_AS_JSON="1").stdout.startswith("{")


def test_a_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -c 'from crosswind.cli import main; main()' schema | head -n 1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("status", [Exit.DONE, Exit.TRIALS])
def test_the_demo_says_what_to_do_next_where_the_run_does_not(
    status: Exit, tmp_path: Path, monkeypatch, capsys
) -> None:
    outcome = RunOutcome(tmp_path, status, [])
    monkeypatch.setattr("crosswind.runner.run", lambda *_, **__: outcome)
    assert run(["demo", "--app", "rpc", "--results", str(tmp_path / "results")]) == status
    assert ("next:" in capsys.readouterr().out) is (status is Exit.DONE)

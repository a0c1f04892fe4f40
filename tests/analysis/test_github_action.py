"""The composite action: what it uses is declared, what it calls exists, its scripts do what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from crosswind.cli._verbs import verbs
from crosswind.cli.check import command as check_command

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
INSTALL, CHECK = ACTION["runs"]["steps"]
GUIDE = ROOT / "docs" / "guides" / "gate-a-pull-request.md"
USED = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")


def test_every_input_is_used_and_every_used_one_is_declared() -> None:
    used = {USED.fullmatch(value)[1] for step in (INSTALL, CHECK) for value in step["env"].values()}
    assert used == set(ACTION["inputs"])
    assert all(isinstance(each["default"], str) for each in ACTION["inputs"].values())


def test_no_text_of_an_input_is_read_as_a_command() -> None:
    assert [step["name"] for step in (INSTALL, CHECK) if "${{" in step["run"]] == []


def test_every_variable_of_a_script_comes_from_its_step_or_from_github() -> None:
    given = {"GITHUB_ACTION_PATH", "GITHUB_OUTPUT", "GITHUB_PATH", "RUNNER_TEMP"}
    for step in (INSTALL, CHECK):
        assert set(re.findall(r"\$\{?([A-Z][A-Z_]+)", step["run"])) <= given | set(step["env"])


def test_the_script_calls_verbs_and_options_that_exist() -> None:
    called = set(re.findall(r"^crosswind ([a-z]+)", CHECK["run"], re.MULTILINE))
    assert called == {"check"} <= set(verbs())
    options = {name for each in check_command.params if isinstance(each, click.Option) for name in each.opts}
    written = re.findall(r"options\+?=\((.*?)\)", CHECK["run"])
    assert set(re.findall(r"--[a-z-]+", " ".join(written))) <= options
    assert ACTION["inputs"]["max-slowdown"]["default"] == "5%"


def test_the_guide_lists_every_input_and_output() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)
    assert sorted(rows) == sorted([*ACTION["inputs"], *ACTION["outputs"]])
    workflow = YAML(typ="safe").load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    uses = [step for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    given = [set(step.get("with", {})) for step in uses if step["uses"].startswith("OWNER/crosswind")]
    assert given[-1] >= {"run", "against"}
    assert all(names <= set(ACTION["inputs"]) for names in given)


class Runner:
    """Runs a step as GitHub's runner does, and reads what the step left in GitHub's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        crosswind = folder / "bin" / "crosswind"
        crosswind.write_text(
            f'#!/bin/sh\nexec {sys.executable} -c "from crosswind.cli import main; main()" "$@"\n'
        )
        crosswind.chmod(0o755)

    def step(self, step: dict[str, Any], **inputs: str) -> tuple[int, str, dict[str, str]]:
        """Return a step's exit status, what it printed, and its outputs."""
        values = {name: each["default"] for name, each in ACTION["inputs"].items()}
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        environment = {
            **{name: USED.sub(lambda match: values[match[1]], text) for name, text in step["env"].items()},
            **{name: str(file) for name, file in files.items()},
            "GITHUB_ACTION_PATH": str(ROOT),
            "RUNNER_TEMP": str(self.folder),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"),
            "HOME": str(self.folder),
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return done.returncode, done.stdout + done.stderr, outputs


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_the_step_ends_as_the_check_does(runner, base, write_run) -> None:
    # The name of a file is a word, whatever it says.
    junit = "$(touch owned); `touch owned`.xml"
    write_run("quick", {"none": (3, 9, 8), "slow": (4, 18, 8)})
    code, said, outputs = runner.step(CHECK, run="quick", against="base", junit=junit)
    assert (code, outputs) == (0, {"outcome": "passed", "status": "0", "junit": junit}), said
    assert "### crosswind check" in (runner.folder / "GITHUB_STEP_SUMMARY").read_text()
    assert (runner.folder / junit).read_text().startswith("<?xml")
    assert not (runner.folder / "owned").exists()
    write_run("slow", {"none": (3, 12, 8), "slow": (4, 24, 8)})
    code, said, outputs = runner.step(CHECK, run="slow", against="base", fail_on_undecided="false")
    assert (code, outputs["outcome"], outputs["status"]) == (5, "regression", "5"), said


def test_undecided_can_be_a_warning_and_failed_trials_cannot(runner, base, write_run) -> None:
    write_run("few", {"none": (3, 10, 1), "slow": (4, 20, 1)})
    code, said, outputs = runner.step(CHECK, run="few", against="base", fail_on_undecided="false")
    assert (code, outputs["outcome"], outputs["status"]) == (0, "undecided", "6")
    assert "::warning title=crosswind check::" in said
    write_run("broken", {"none": (3, 9, 8), "slow": (4, 18, 8)}, failed={"slow": 1})
    code, _, outputs = runner.step(CHECK, run="broken", against="base", fail_on_undecided="false")
    assert (code, outputs["outcome"]) == (6, "trials-failed")


def test_runs_that_cannot_be_compared_leave_no_junit_of_an_earlier_step(runner, base, write_run) -> None:
    (runner.folder / "crosswind-check.xml").write_text("<failure of an earlier step")
    write_run("moved", {"none": (3, 9, 8), "slow": (4, 18, 8)}, cores=4)
    code, said, outputs = runner.step(CHECK, run="moved", against="base")
    assert (code, outputs) == (7, {"outcome": "not-comparable", "status": "7"}), said


def test_half_of_the_inputs_is_an_error(runner, base) -> None:
    code, said, outputs = runner.step(CHECK, run="base")
    assert (code, outputs["outcome"]) == (2, "error"), said


def test_the_second_use_in_a_job_installs_nothing(runner) -> None:
    # A Python whose venv is a stub; what pip would install is written down instead.
    python = runner.folder / "bin" / "stub-python"
    python.write_text(
        '#!/bin/sh\nmkdir -p "$4/bin"\n'
        'printf \'#!/bin/sh\\necho "$@" >> %s/pip.log\\n\' "$RUNNER_TEMP" > "$4/bin/pip"\n'
        "printf '#!/bin/sh\\necho crosswind 0.1.0\\n' > \"$4/bin/crosswind\"\n"
        'chmod +x "$4"/bin/*\n'
    )
    python.chmod(0o755)
    for package in ("", "", "crosswind-0.2.0.whl"):
        code, said, _ = runner.step(INSTALL, python="stub-python", package=package)
        assert (code, said) == (0, "crosswind 0.1.0\n")
    installed = [line.split()[-1] for line in (runner.folder / "pip.log").read_text().splitlines()]
    assert installed == [str(ROOT), "crosswind-0.2.0.whl"]
    assert (runner.folder / "GITHUB_PATH").read_text() == f"{runner.folder}/crosswind/bin\n"

"""The fixture `crosswind`: skipped with the reason where there can be no network."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TEST = """
def test_the_network_is_up(crosswind):
    net = crosswind({"hosts": 2, "uplink": {"rate": "1Gbit/s", "delay": "50us"}, "nodes": {"a": "h0"}})
    assert net.exec("a", ["hostname"]).stdout == "a\\n"
"""
AGENT = """#!/bin/sh
read request
echo '{"id": 1, "error": {"kind": "%s", "message": "%s"}}'
"""


@pytest.fixture
def outcome(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs the test with an agent, and returns what pytest found."""
    # Where crosswind is installed the plugin is found by its entry point, and would be there twice.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(TEST)

    def run(agent: Path) -> pytest.RunResult:
        monkeypatch.setenv("CROSSWIND_AGENT", str(agent))
        return pytester.runpytest_inprocess("-p", "crosswind.api.pytest_plugin", "-rsE")

    return run


def agent_that_answers(folder: Path, kind: str, message: str) -> Path:
    path = folder / "agent"
    path.write_text(AGENT % (kind, message))
    path.chmod(0o755)
    return path


def test_without_an_agent_the_test_is_skipped_and_says_why(outcome, tmp_path: Path) -> None:
    found = outcome(tmp_path / "missing")
    found.assert_outcomes(skipped=1)
    found.stdout.fnmatch_lines(["SKIPPED * no networks on this machine: CROSSWIND_AGENT=*not an executable*"])


def test_without_namespaces_the_test_is_skipped_and_says_why(outcome, tmp_path: Path) -> None:
    found = outcome(agent_that_answers(tmp_path, "preflight", "user namespaces are forbidden here"))
    found.assert_outcomes(skipped=1)
    found.stdout.fnmatch_lines(["SKIPPED * no networks on this machine: *user namespaces are forbidden here"])


def test_an_agent_that_fails_otherwise_is_an_error(outcome, tmp_path: Path) -> None:
    outcome(agent_that_answers(tmp_path, "internal", "broken")).assert_outcomes(errors=1)

"""Why a package manager failed, from what it really said."""

from pathlib import Path

import pytest

from crosswind.app.requirements.requirement import CannotInstall
from crosswind.app.requirements.tool import run_tool, why

CAPTURED = Path(__file__).parent / "captured"


@pytest.mark.parametrize("tool", ["apt-get", "pip", "go", "mvn"])
def test_an_unreachable_network_is_named_as_the_reason(tool: str) -> None:
    reason = why((CAPTURED / f"{tool}-without-network.txt").read_text())
    assert reason.startswith("cannot reach its registry: ")
    assert reason.endswith("connect this machine, or configure a mirror")
    assert "\n" not in reason
    assert "\x1b" not in reason


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("apt-get-unknown-package", "E: Unable to locate package no-such-package-here"),
    ],
)
def test_the_error_is_found_among_the_remarks(file: str, reason: str) -> None:
    assert why((CAPTURED / f"{file}.txt").read_text()) == reason


@pytest.mark.parametrize(
    ("tool", "version"), [("pip", "tpchgen-cli==0.0.77"), ("go", "v12.99.0"), ("mvn", "2.0.999")]
)
def test_an_unknown_version_is_named(tool: str, version: str) -> None:
    reason = why((CAPTURED / f"{tool}-unknown-version.txt").read_text())
    assert version in reason
    assert "registry: " not in reason


def test_a_tool_that_said_nothing_is_reported_as_that() -> None:
    with pytest.raises(CannotInstall, match=r"thing: `false` ended with 1: it printed nothing"):
        run_tool(["false"], wanted="thing")


def test_an_absent_tool_is_named() -> None:
    with pytest.raises(CannotInstall, match="needs no-such-tool, which is not on PATH"):
        run_tool(["no-such-tool"], wanted="thing")

"""A project that cannot be reached is one sentence with a remedy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from crosswind.testbed import NotHere
from crosswind.testbed.providers.openstack.project import Project


def test_where_the_library_is_missing_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openstack", None)
    with pytest.raises(NotHere, match=r'openstacksdk is missing; .*pip install "crosswind\[openstack\]"$'):
        Project("lab")


def test_a_cloud_that_is_not_in_clouds_yaml_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("openstack", reason="SKIPPED: openstacksdk is not installed")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    with pytest.raises(NotHere, match=r"cloud lab: it was not reached: .*; write the name of a cloud in"):
        Project("lab")

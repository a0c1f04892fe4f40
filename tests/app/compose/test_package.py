"""Services that run a program of this machine in the place of their image."""

from __future__ import annotations

import sys
from pathlib import Path

from crosswind.app.requirements import DebianPackages, PythonPackages

sys.path.insert(0, str(Path(__file__).parent))
from written import compose, problems

TEXT = """
services:
  db:
    image: redis:7
    volumes: ["data:/data"]
    user: redis
    environment: {A: 1}
    healthcheck: {test: [CMD, redis-cli, ping]}
    x-crosswind: {package: "apt:redis-server", command: redis-server --port 6379}
volumes: {data: }
"""


def test_a_debian_package_takes_the_place_of_an_image() -> None:
    file = compose(TEXT)
    service = file.services["db"]
    assert service.on_host is not None
    assert service.on_host.command == ["redis-server", "--port", "6379"]
    assert service.on_host.requirement == DebianPackages("redis-server", ("redis-server",), ("redis-server",))
    assert (service.own_image, service.mounts, service.user) == (None, [], None)
    assert service.environment == {"A": "1"}
    assert service.healthcheck is not None
    for key in ("image", "volumes", "user"):
        assert any(f" {key} has no effect: x-crosswind replaces" in note for note in file.without_effect)


def test_python_packages_need_exact_versions() -> None:
    text = TEXT.replace("apt:redis-server", "pypi:gunicorn==23.0.0")
    on_host = compose(text).services["db"].on_host
    assert on_host is not None
    assert on_host.requirement == PythonPackages("gunicorn", ("gunicorn==23.0.0",))
    (problem,) = problems(TEXT.replace("apt:redis-server", "pypi:gunicorn"))
    assert (
        '"pypi:gunicorn" is not a package; write such as apt:redis-server or pypi:gunicorn==23.0.0' in problem
    )


def test_a_program_that_is_here_needs_no_package() -> None:
    on_host = compose(TEXT.replace('package: "apt:redis-server", ', "")).services["db"].on_host
    assert on_host is not None
    assert on_host.requirement is None


def test_packages_come_from_one_place() -> None:
    text = TEXT.replace('"apt:redis-server"', '["apt:a", "pypi:b==1"]').replace("apt:a", "apt:aa")
    (problem,) = problems(text)
    assert "has packages of both apt and pypi" in problem

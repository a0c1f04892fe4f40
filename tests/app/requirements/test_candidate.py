"""What apt-cache says of the versions of packages, and the command that follows from it."""

from pathlib import Path

import pytest

from crosswind.app.requirements import DebianPackages, debian
from crosswind.app.requirements.candidate import candidates, parse_policy

# Printed by apt 2.6 on Debian 12, with another server's name. It was asked for valkey-server as well.
PRINTED = (Path(__file__).parent / "captured" / "apt-cache-policy.txt").read_text()


def test_a_candidate_is_what_would_be_installed_also_beside_an_older_installed_version() -> None:
    assert parse_policy(PRINTED) == {
        "memcached": "1.6.18-1+deb12u1",
        "etcd-client": "3.4.23-4+b4",
        "default-jre-headless": "2:1.17-74",
        "postgresql": "15+248+deb12u2",
    }


def test_lists_that_know_nothing_have_no_candidates() -> None:
    assert parse_policy("") == {}


def test_a_machine_without_apt_knows_no_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert candidates(frozenset(["memcached"])) == {}


@pytest.mark.parametrize(
    ("packages", "commands"),
    [
        (
            ("memcached", "default-jre-headless"),
            [
                "apt-get install --yes --no-install-recommends memcached=1.6.18-1+deb12u1 "
                "default-jre-headless=2:1.17-74"
            ],
        ),
        (
            ("memcached", "valkey-server"),
            [
                "apt-get update",
                "apt-get install --yes --no-install-recommends memcached=1.6.18-1+deb12u1 valkey-server",
            ],
        ),
    ],
)
def test_a_command_has_the_versions_that_the_lists_know_and_an_update_before_others(
    monkeypatch: pytest.MonkeyPatch, packages: tuple[str, ...], commands: list[str]
) -> None:
    monkeypatch.setattr(debian, "candidates", lambda _: parse_policy(PRINTED))
    assert DebianPackages("thing", packages).commands() == commands


def test_one_look_up_asks_for_all_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[frozenset[str]] = []
    monkeypatch.setattr(debian, "candidates", lambda packages: asked.append(packages) or {})
    first, second = DebianPackages("one", ("no-such-1",)), DebianPackages("two", ("no-such-2",))
    first.commands()
    second.commands()
    assert asked[0] == asked[1] >= {"no-such-1", "no-such-2"}

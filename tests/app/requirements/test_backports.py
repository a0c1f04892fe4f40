"""Where the backports of a release come from, and who may have packages of theirs."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crosswind.app.requirements import DebianPackages, debian
from crosswind.app.requirements.backports import (
    Backports,
    backports_of,
    parse_keys,
    parse_targets,
    sources_with,
    target_of,
)

# Printed by apt 2.6 on Debian 12 without package lists, with other servers' names and the first two made up.
PRINTED = """\
https://third.example/apt/ bookworm main /etc/apt/sources.list:1
https://third.example/apt/ bookworm main /etc/apt/sources.list:1
http://deb.example/debian/ bookworm main /etc/apt/sources.list.d/debian.sources:1
http://deb.example/debian/ bookworm main /etc/apt/sources.list.d/debian.sources:1
http://deb.example/debian/ bookworm contrib /etc/apt/sources.list.d/debian.sources:1
http://deb.example/debian/ bookworm contrib /etc/apt/sources.list.d/debian.sources:1
http://deb.example/debian/ bookworm-updates main /etc/apt/sources.list.d/debian.sources:1
http://deb.example/debian/ bookworm-updates main /etc/apt/sources.list.d/debian.sources:1
http://deb.example/debian-security/ bookworm-security main /etc/apt/sources.list.d/debian.sources:2
http://deb.example/debian-security/ bookworm-security main /etc/apt/sources.list.d/debian.sources:2
"""

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
STANZAS = f"""\
# What the installer wrote.

Types: deb
# http://snapshot.example/debian
URIs: http://deb.example/debian
Suites: bookworm bookworm-updates
Signed-By: {KEYRING}

Types: deb
URIs: http://deb.example/debian-security
Signed-By: /a.gpg /b.gpg


Types: deb
URIs: http://embedded.example
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
"""
LINES = f"""\
# deb [signed-by=/no.gpg] http://deb.example/debian bookworm main
deb [arch=amd64 signed-by={KEYRING}] http://deb.example/debian bookworm main
deb http://deb.example/debian bookworm-updates main # [signed-by=/no.gpg]
"""


def test_the_mirror_is_that_of_the_release_also_where_others_use_its_name() -> None:
    target = target_of(parse_targets(PRINTED), "bookworm")
    assert target is not None
    assert (target.uri, target.component) == ("http://deb.example/debian/", "main")


@pytest.mark.parametrize(
    ("printed", "release"),
    [
        (PRINTED, "trixie"),
        (f"{PRINTED}http://other.example/ bookworm-backports main /etc/apt/sources.list:7\n", "bookworm"),
        ("", "bookworm"),
    ],
    ids=["another release", "there already", "no sources"],
)
def test_backports_are_added_where_the_release_is_and_they_are_not(printed: str, release: str) -> None:
    assert target_of(parse_targets(printed), release) is None


@pytest.mark.parametrize(
    ("sources", "number", "one_line", "keys"),
    [
        (STANZAS, 1, False, KEYRING),
        (STANZAS, 2, False, "/a.gpg,/b.gpg"),
        (STANZAS, 3, False, ""),
        (LINES, 2, True, KEYRING),
        (LINES, 3, True, ""),
    ],
)
def test_keys_are_those_of_the_release_s_own_entry(
    sources: str, number: int, one_line: bool, keys: str
) -> None:
    assert parse_keys(sources, number, one_line=one_line) == keys


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what makes apt's tools, where they are, see a `sources.list` of the test and nothing else."""
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get")

    def has(sources: str) -> None:
        (tmp_path / "sources.list").write_text(sources)
        (tmp_path / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{tmp_path}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
            f'Dir::State::lists "{tmp_path}/lists";\n'
        )
        monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))

    return has


def test_apt_says_all_that_the_line_needs(machine: Callable[[str], None]) -> None:
    machine(LINES)
    suite = "bookworm-backports"
    found = backports_of("bookworm")
    assert found == Backports(suite, f"deb [signed-by={KEYRING}] http://deb.example/debian/ {suite} main")
    assert sources_with(found) == f"{LINES}\n{found.line}\n"
    assert backports_of("trixie") is None
    machine(f"{LINES}{found.line}\n")
    assert backports_of("bookworm") is None


def test_a_machine_without_apt_adds_no_backports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert backports_of("bookworm") is None


THERE = Backports("bookworm-backports", "deb [signed-by=/k.gpg] http://deb.example/ bookworm-backports main")
INSTALL = "apt-get install --yes --no-install-recommends"


@pytest.mark.parametrize(
    ("known", "there", "commands"),
    [
        ({"server": "8.1"}, THERE, [f"{INSTALL} server=8.1"]),
        ({}, None, ["apt-get update", f"{INSTALL} server"]),
        (
            {},
            THERE,
            [
                f"echo '{THERE.line}' > /etc/apt/sources.list.d/bookworm-backports.list",
                "apt-get update",
                "apt-get install -t bookworm-backports --yes --no-install-recommends server",
            ],
        ),
    ],
    ids=["the release has it", "no backports to add", "in backports only"],
)
def test_commands_add_backports_where_the_lists_lack_what_only_they_have(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, str], there: Backports | None, commands: list[str]
) -> None:
    monkeypatch.setattr(debian, "candidates", lambda _: known)
    monkeypatch.setattr(debian, "backports_of", {"bookworm": there}.__getitem__)
    assert DebianPackages("x", ("server",), only_in_backports_of="bookworm").commands() == commands


def test_packages_that_do_not_declare_it_never_look_at_backports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "candidates", lambda _: {})
    monkeypatch.setattr(debian, "backports_of", lambda _: THERE)
    assert DebianPackages("x", ("server",)).commands() == ["apt-get update", f"{INSTALL} server"]

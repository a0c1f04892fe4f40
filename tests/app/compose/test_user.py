"""Whom a user of a compose file means, in an image."""

from pathlib import Path

import pytest

from crosswind.app.compose.user import account_of
from crosswind.testbed.errors import TestbedError

PASSWD = "root:x:0:0::/root:/bin/sh\n# broken\nbad:x\nredis:x:999:998::/data:/bin/sh\nodd:x:7:0::/:/bin/sh\n"
GROUP = "root:x:0:\nusers:x:100:a,b\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(PASSWD)
    (tmp_path / "etc/group").write_text(GROUP)
    return tmp_path


@pytest.mark.parametrize(
    ("user", "account"),
    [
        ("redis", (999, 998)),
        ("999", (999, 998)),
        ("1000", (1000, 1000)),
        ("1000:50", (1000, 50)),
        ("redis:users", (999, 100)),
    ],
)
def test_names_and_numbers_are_those_of_the_image(root: Path, user: str, account: tuple[int, int]) -> None:
    assert account_of(user, root) == account


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ("nobody", "has no such user; write its number"),
        ("redis:wheel", "has no such group"),
        ("root", "is root in the image"),
        ("0", "is root in the image"),
        ("odd", "is root in the image"),
        ("1000:root", "is root in the image"),
    ],
)
def test_strangers_and_root_are_refused(root: Path, user: str, message: str) -> None:
    with pytest.raises(TestbedError, match=message):
        account_of(user, root)


def test_an_image_without_users_has_numbers_only(tmp_path: Path) -> None:
    assert account_of("5:6", tmp_path) == (5, 6)
    with pytest.raises(TestbedError, match="no such user"):
        account_of("redis", tmp_path)

"""Which PostgreSQL is used: the newest of the system, or the private packages."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.packages import library_path, private_root

_NEEDED = ("initdb", "postgres", "pg_basebackup", "pg_isready", "psql")
_SYSTEM = Path("/")


@dataclass(frozen=True)
class Programs:
    """A folder with every program that is needed.

    `version` is what `postgres --version` prints behind its name, such as `15.13 (Debian 15.13-0+deb12u1)`.
    """

    folder: Path
    version: str
    env: dict[str, str]

    def path(self, name: str) -> Path:
        """Return the path of one of the programs."""
        return self.folder / name


def find_programs() -> Programs | None:
    """Return PostgreSQL's programs; the system's newest version first, the private packages last.

    Only whole sets count: Debian's client package alone has `psql` and no server.
    """
    for root in (_SYSTEM, private_root("postgresql")):
        for folder in _folders(root):
            if all((folder / name).is_file() for name in _NEEDED):
                env = {} if root == _SYSTEM else library_path(root)
                return Programs(folder, _version(folder, env), env)
    return None


def _folders(root: Path) -> Iterator[Path]:
    by_version = [
        folder for folder in root.glob("usr/lib/postgresql/*/bin") if folder.parent.name.isdecimal()
    ]
    yield from sorted(by_version, key=lambda folder: int(folder.parent.name), reverse=True)
    if root == _SYSTEM and (on_path := shutil.which("initdb")):
        yield Path(on_path).resolve().parent


def _version(folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=10, env=env
    )
    return re.sub(r"^.*?(?=\d)", "", done.stdout.strip())

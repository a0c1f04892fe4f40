"""The programs in a user's commands: whether they exist, and their versions."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from crosswind.app.base import Missing

# Where the agent searches unless the environment has a PATH (crates/agent/src/session/application.rs).
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def program_missing(what: str, program: str, search_path: str | None) -> list[Missing]:
    """Return the program in a list if it is missing; a name with a variable is not checked."""
    path = search_path or SEARCH_PATH
    if "{" in program or _found(program, path) is not None:
        return []
    where = "does not exist" if "/" in program else f"not in PATH={path}"
    return [
        Missing(
            f"{what}: program {program}: {where}",
            "install it with this system's package manager, write its full path, or name it under `files`",
        )
    ]


def program_versions(programs: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Return the path and the beginning of the SHA-256 of each program that exists."""
    versions = {}
    for program, search_path in programs:
        found = _found(program, search_path or SEARCH_PATH)
        if found is not None:
            with found.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            versions[program] = f"{found} sha256:{digest[:16]}"
    return versions


def _found(program: str, search_path: str) -> Path | None:
    found = shutil.which(program, path=search_path)
    return None if found is None else Path(found)

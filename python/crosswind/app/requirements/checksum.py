"""The checksum of a program of the system, and its version without running it."""

import hashlib
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path


def sha256(path: Path) -> str:
    """Return `sha256:` and the hexadecimal digest of a file."""
    with path.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"


@lru_cache
def identity(path: Path) -> str:
    """Return the version of the Debian package that a file belongs to, if any, and the file's checksum."""
    checksum, version = sha256(path), _package_version(path)
    return f"{version} {checksum}" if version else checksum


def _package_version(path: Path) -> str | None:
    if shutil.which("dpkg-query") is None:
        return None
    owner = _query("--search", str(path.resolve())).partition(":")[0]
    return _query("--show", "--showformat=${Version}\n", owner).partition("\n")[0] if owner else None


def _query(*arguments: str) -> str:
    """Return the output of dpkg-query; empty if it fails."""
    done = subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False, timeout=30)
    return done.stdout if done.returncode == 0 else ""

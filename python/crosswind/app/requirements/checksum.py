"""Which version of a program of the system this is, without running it, and its checksum."""

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
    """Return a file's checksum, behind the version of the Debian package that it belongs to, if any."""
    checksum, version = sha256(path), _package_version(path)
    return f"{version} {checksum}" if version else checksum


def _package_version(path: Path) -> str | None:
    if shutil.which("dpkg-query") is None:
        return None
    owner = _query("--search", str(path.resolve())).partition(":")[0]
    return _query("--show", "--showformat=${Version}\n", owner).partition("\n")[0] if owner else None


def _query(*arguments: str) -> str:
    """Return what dpkg-query prints; nothing where it knows no answer."""
    done = subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False, timeout=30)
    return done.stdout if done.returncode == 0 else ""

"""Where Crosswind's own programs are: in an environment variable, next to this Python, or on PATH."""

import os
import shutil
import subprocess
import sysconfig
from functools import lru_cache
from pathlib import Path

from crosswind.testbed.errors import NotHere

AGENT = "crosswind-agent"
LOAD = "crosswind-load"
SIMULATE = "crosswind-simulate"


def find_binary(name: str) -> Path:
    """Return the absolute path of one of Crosswind's programs.

    The environment variable (`CROSSWIND_AGENT`, `CROSSWIND_LOAD`, `CROSSWIND_SIMULATE`) comes first, so that
    a developer can try a new build. The scripts folder of the running Python, where the wheel puts them, is
    second, and PATH is last.

    Args:
        name: `crosswind-agent`, `crosswind-load` or `crosswind-simulate`.

    Raises:
        NotHere: not found, or the variable names a file that cannot be run.
    """
    variable = name.upper().replace("-", "_")
    declared = os.environ.get(variable)
    if declared:
        if not os.access(declared, os.X_OK):
            raise NotHere(f"{variable}={declared}: not an executable file; unset it or build {name}")
        return Path(declared).resolve()
    beside = Path(sysconfig.get_path("scripts")) / name
    if os.access(beside, os.X_OK):
        return beside
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path).resolve()
    raise NotHere(
        f"{name}: not found in {beside.parent} nor on PATH; install the crosswind package, "
        f"or build it (cargo build --release --bin {name}) and set {variable} to its path"
    )


@lru_cache
def binary_version(path: Path) -> str:
    """Return what `PATH --version` prints, for provenance.

    Raises:
        NotHere: the program cannot be run here; it was built for another machine.
    """
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise NotHere(f"{path} --version: {error}; reinstall or rebuild it for this machine") from error
    return done.stdout.strip()


def sweep() -> tuple[list[str], list[str]]:
    """Remove the control groups of killed agents; return those removed, and why others were not.

    Raises: NotHere: the agent is missing.
    """
    done = subprocess.run(
        [find_binary(AGENT), "sweep"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines(), done.stderr.splitlines()

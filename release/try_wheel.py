"""Install a wheel into an empty environment and run the demo there, as an ordinary user.

Everything is in a folder that belongs to that user: the environment, its caches, the results. Started by
root, the user is nobody; otherwise it is whoever started this. Run by `make test-wheel`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOBODY = 65534
# The Python of whoever runs this comes first; it may lie in root's home, where nobody cannot execute it.
PYTHONS = (Path(sys.base_prefix, "bin", "python3"), Path("/usr/bin/python3"))
# A program that setpriv executes is looked up with root's rights; what that one starts is not.
WORKS = (
    "import ensurepip, subprocess, sys; "
    "sys.exit(sys.version_info < (3, 11) or subprocess.call([sys.executable, '-V']))"
)


def main(wheel: Path) -> None:
    """Raise SystemExit with the reason where the wheel does not install or the demo fails."""
    folder = Path(tempfile.mkdtemp(prefix="crosswind-wheel-", dir="/var/tmp"))
    try:
        _try(wheel, folder)
    finally:
        shutil.rmtree(folder)


def _try(wheel: Path, folder: Path) -> None:
    copy = Path(shutil.copy(wheel, folder))
    prefix: list[str] = []
    if os.geteuid() == 0:
        prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        os.chown(folder, NOBODY, NOBODY)
    # Certificates and indexes are the machine's own: in the environment, or in files that all may read.
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "CROSSWIND", "XDG"))
        },
        "HOME": str(folder),
    }

    def run(*command: str | Path) -> str:
        began = time.monotonic()
        done = subprocess.run(
            [*prefix, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        print(f"{time.monotonic() - began:6.1f} s  {' '.join(map(str, command))}", flush=True)
        if done.returncode != 0:
            raise SystemExit(f"exit status {done.returncode}:\n{said}")
        return said

    venv = folder / "venv"
    run(_python(prefix), "-m", "venv", venv)
    run(venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", copy)
    crosswind = venv / "bin" / "crosswind"
    print(run(crosswind, "--version").strip())
    said = run(crosswind, "demo", "--app", "rpc", "--results", folder / "results")
    (report,) = re.findall(r"^report: (.*)$", said, re.MULTILINE)
    if Path(report).stat().st_uid != (NOBODY if prefix else os.geteuid()):
        raise SystemExit(f"{report} belongs to another account")
    print(said)


def _python(prefix: list[str]) -> Path:
    """Return the first Python that the user can execute and that makes environments."""
    for python in PYTHONS:
        probe = subprocess.run([*prefix, python, "-c", WORKS], capture_output=True, check=False)
        if probe.returncode == 0:
            return python
    raise SystemExit(f"no Python 3.11 or newer with venv for that user among {', '.join(map(str, PYTHONS))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

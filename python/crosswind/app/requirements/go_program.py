"""A program of a Go module, built in a temporary module that requires exactly one version of it.

`go install PACKAGE@VERSION` queries the module proxy for every prefix of the package's path, and fails if
the proxy refuses one of them. `go get` with the full name of the module queries for that name alone. Needs
`go` on PATH.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.app.requirements.private_folder import Fresh
from crosswind.app.requirements.private_program import PrivateProgram
from crosswind.app.requirements.tool import run_tool


@dataclass(frozen=True)
class GoProgram(PrivateProgram):
    """A Go program.

    Args:
        version: such as `v12.12.0`.
        module: the path of its module, major version included.
        package: path of the package that is its `main`.
    """

    module: str
    package: str
    kind: ClassVar[str] = "go"

    def commands(self) -> list[str]:
        return [
            f"mkdir {self.name} && cd {self.name} && go mod init {self.name}-build",
            f"go get {self.module}@{self.version}",
            f"go build -mod=mod -o {shlex.quote(str(self.installed))} {self.package}",
            self.declared(),
        ]

    def obtain(self, work: Path, fresh: Fresh) -> Path:
        # Several hundred MB of sources, which are useless once the program is built.
        env = {
            "GOPATH": str(work / "path"),
            "GOMODCACHE": str(work / "modules"),
            "GOCACHE": str(work / "cache"),
        }

        def go(*words: str) -> str:
            return run_tool(["go", *words], wanted=self.name, folder=work, env=env, lock=fresh.lock)

        go("mod", "init", f"{self.name}-build")
        go("get", "-modcacherw", f"{self.module}@{self.version}")
        self.change(work, go)
        go("build", "-mod=mod", "-modcacherw", "-trimpath", "-o", self.name, self.package)
        return work / self.name

    def change(self, work: Path, go: Callable[..., str]) -> None:
        """Change the sources before the build, if needed; `go` runs `go` in the folder `work`."""

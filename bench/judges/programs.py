"""The programs of the judges, in exactly the versions that the figures name, built from Go modules."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.requirements import GoProgram
from crosswind.app.requirements.private_folder import Fresh


@dataclass(frozen=True)
class GoProgramWithFile(GoProgram):
    """A Go program, and a file of its module, which is stored beside it.

    Args:
        file: its path in the module.
    """

    file: str

    @property
    def stored(self) -> Path:
        """Where the file is, once the program is installed."""
        return self.installed.parent.parent / Path(self.file).name

    def commands(self) -> list[str]:
        *before, declared = super().commands()
        module = f"$(go list -mod=mod -m -f '{{{{.Dir}}}}' {self.module})"
        return [*before, f'cp "{module}/{self.file}" {shlex.quote(str(self.stored))}', declared]

    def obtain(self, work: Path, fresh: Fresh) -> Path:
        program = super().obtain(work, fresh)
        shutil.copyfile(work / "modules" / f"{self.module}@{self.version}" / self.file, self.stored)
        return program


# Versions are in the names, because one on PATH would be preferred.
COMETBFT = GoProgramWithFile(
    "cometbft-1.0.1",
    "v1.0.1",
    "github.com/cometbft/cometbft",
    "github.com/cometbft/cometbft/cmd/cometbft",
    "test/e2e/pkg/files/aws-latencies.csv",
)
ETCD_FIXED = GoProgram("etcd-3.6.16", "v3.6.16", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3")

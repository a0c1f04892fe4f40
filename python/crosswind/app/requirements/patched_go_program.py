"""A program of a Go module, some of whose files must be replaced before it builds or runs."""

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.requirements.go_program import GoProgram


@dataclass(frozen=True)
class PatchedGoProgram(GoProgram):
    """A Go program built from a copy of its module.

    Args:
        patches: path of a file in the module, and its new text.
    """

    patches: tuple[tuple[str, str], ...]

    def commands(self) -> list[str]:
        *before, build, declared = super().commands()
        copied = f"$(go list -mod=mod -m -f '{{{{.Dir}}}}' {self.module})"
        return [
            *before,
            f'cp -r "{copied}" patched && chmod -R u+w patched',
            *(f"printf %s {shlex.quote(text)} > patched/{file}" for file, text in self.patches),
            f"go mod edit -replace {self.module}=./patched",
            build,
            declared,
        ]

    def change(self, work: Path, go: Callable[..., str]) -> None:
        module = go("list", "-mod=mod", "-m", "-f", "{{.Dir}}", self.module).strip()
        shutil.copytree(module, work / "patched")
        for file, text in self.patches:
            (work / "patched" / file).write_text(text)
        go("mod", "edit", "-replace", f"{self.module}=./patched")

"""Files beside an experiment that its application gets a copy of, kept with the results by their hash."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from crosswind.app.base import Stage
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.quantities import QuantityError, shown
from crosswind.testbed.folders import give


def _beside(file: NamedFile[None]) -> NamedFile[None]:
    if file.file.startswith("/") or ".." in file.file.split("/"):
        raise QuantityError(
            f"{shown(file.file)} does not lie beside the experiment file or below; name one that does"
        )
    return file


CopiedFile = Annotated[
    NamedFile[None], *named_file(lambda content: None, "server.py"), AfterValidator(_beside)
]


def copy_files(stage: Stage, files: Iterable[NamedFile[None]], folder: Path) -> None:
    """Make a folder with copies of files, executable, all of them the application's."""
    account = stage.fabric.application_account
    folder.mkdir()
    give(folder, *account)
    for file in files:
        target = folder / file.file
        for parent in reversed(target.relative_to(folder).parents):
            (folder / parent).mkdir(exist_ok=True)
            give(folder / parent, *account)
        shutil.copyfile(stage.files[file.file], target)
        target.chmod(0o755)
        give(target, *account)

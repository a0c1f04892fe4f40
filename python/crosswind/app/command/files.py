"""Files beside an experiment that are copied for its application, and stored with the results by hash."""

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
            f"{shown(file.file)} is not in the folder of the experiment file or below; name one that is"
        )
    return file


CopiedFile = Annotated[
    NamedFile[None], *named_file(lambda content: None, "server.py"), AfterValidator(_beside)
]


def copy_files(stage: Stage, files: Iterable[NamedFile[None]], folder: Path) -> None:
    """Make a folder with executable copies of files; all belong to the account of applications."""
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

"""A role: what runs on the node of that name."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from crosswind.app.command.command_line import CommandLine, EnvironmentText
from crosswind.app.command.readiness import Ready
from crosswind.spec.base import SpecModel
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.quantities import QuantityError, shown


def _beside(file: NamedFile[None]) -> NamedFile[None]:
    if file.file.startswith("/") or ".." in file.file.split("/"):
        raise QuantityError(
            f"{shown(file.file)} does not lie beside the experiment file or below; name one that does"
        )
    return file


CopiedFile = Annotated[
    NamedFile[None], *named_file(lambda content: None, "server.py"), AfterValidator(_beside)
]


class Role(SpecModel):
    """What runs on the node that is called like the role."""

    command: CommandLine = Field(
        description="What runs, in the foreground; a line for the shell, or a list of words."
    )
    environment: dict[str, EnvironmentText] = Field(
        default_factory=dict, description="Added to a minimal environment."
    )
    files: list[CopiedFile] = Field(
        default_factory=list,
        description="Files beside the experiment file that are copied, executable, into its working folder.",
    )
    ready: Ready | None = Field(None, description="How a server is known to be ready; not for the load.")

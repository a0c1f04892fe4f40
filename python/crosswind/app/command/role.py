"""A role: what runs on the node with its name."""

from __future__ import annotations

from pydantic import Field

from crosswind.app.command.files import CopiedFile
from crosswind.app.command.readiness import Ready
from crosswind.spec.base import SpecModel
from crosswind.spec.command_line import CommandLine, EnvironmentText


class Role(SpecModel):
    """What runs on the node with the name of the role."""

    command: CommandLine = Field(
        description="The command, which runs in the foreground: a line for the shell, or a list of words."
    )
    environment: dict[str, EnvironmentText] = Field(
        default_factory=dict, description="Variables added to a minimal environment."
    )
    files: list[CopiedFile] = Field(
        default_factory=list,
        description="Files beside the experiment file, copied into its working folder as executables.",
    )
    ready: Ready | None = Field(None, description="When a server is ready; not for the load.")

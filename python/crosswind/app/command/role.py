"""A role: what runs on the node of that name."""

from __future__ import annotations

from pydantic import Field

from crosswind.app.command.command_line import CommandLine, EnvironmentText
from crosswind.app.command.files import CopiedFile
from crosswind.app.command.readiness import Ready
from crosswind.spec.base import SpecModel


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

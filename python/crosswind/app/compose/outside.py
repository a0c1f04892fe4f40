"""A load that is no service of the compose file: a command on a node of its own."""

from __future__ import annotations

from pydantic import Field

from crosswind.app.command.command_line import CommandLine, EnvironmentText
from crosswind.app.command.files import CopiedFile
from crosswind.spec.base import SpecModel


class OutsideLoad(SpecModel):
    """What runs on a node of its own, on the files of this machine, and measures the services."""

    command: CommandLine = Field(
        description="What runs, in the foreground; a line for the shell, or a list of words. "
        "`{address:NODE}`, `{seed}`, `{folder}` and `{duration}` are variables, as for `command`."
    )
    node: str = Field("load", description="Its node; `load` when absent.")
    environment: dict[str, EnvironmentText] = Field(
        default_factory=dict, description="Added to a minimal environment."
    )
    files: list[CopiedFile] = Field(
        default_factory=list,
        description="Files beside the experiment file that are copied, executable, into its working folder.",
    )

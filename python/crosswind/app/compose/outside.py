"""A load that is not a service of the compose file: a command on a separate node."""

from __future__ import annotations

from pydantic import Field

from crosswind.app.command.files import CopiedFile
from crosswind.spec.base import SpecModel
from crosswind.spec.command_line import CommandLine, EnvironmentText


class OutsideLoad(SpecModel):
    """A command on a separate node, with the files of this machine, that measures the services."""

    command: CommandLine = Field(
        description="The command, which runs in the foreground: a line for the shell, or a list of words. "
        "`{address:NODE}`, `{seed}`, `{folder}` and `{duration}` are variables, as in `command`."
    )
    node: str = Field("load", description="Its node; `load` when absent.")
    environment: dict[str, EnvironmentText] = Field(
        default_factory=dict, description="Variables added to a minimal environment."
    )
    files: list[CopiedFile] = Field(
        default_factory=list,
        description="Files beside the experiment file, copied into its working folder as executables.",
    )

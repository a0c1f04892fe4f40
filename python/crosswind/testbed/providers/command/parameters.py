"""Keys of `testbed: {command: ...}`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crosswind.spec.command_line import CommandLine
from crosswind.spec.resolved import ResolvedMachine
from crosswind.spec.testbed import ProviderParameters
from crosswind.spec.testbed.inventory import MACHINES_MAX
from crosswind.spec.testbed.provided import numbered


class OwnCommandsParameters(ProviderParameters):
    """Commands that make machines, list and remove them; they run in the folder of the command line."""

    count: Annotated[int, Field(ge=1, le=MACHINES_MAX)] = Field(
        alias="machines", description="How many; they are called m0, m1 and so on."
    )
    up: CommandLine = Field(
        description="Makes the machines in CROSSWIND_MACHINES, marked with CROSSWIND_TAG, and prints them as "
        "JSON."
    )
    down: CommandLine = Field(
        description="Removes everything marked with CROSSWIND_TAG; succeeds where there is nothing."
    )
    listing: CommandLine = Field(
        alias="list",
        description="Prints as JSON what exists: a mapping from tags to lists of names, such as "
        '`{"crosswind-1a2b3c4d": ["m0", "m1"]}`.',
    )

    def machines(self) -> list[ResolvedMachine]:
        return [ResolvedMachine(name=name) for name in numbered(self.count)]

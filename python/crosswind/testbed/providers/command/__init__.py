"""Machines by the user's own commands, for any cloud that a script can call."""

from crosswind.testbed.providers.command.parameters import OwnCommandsParameters
from crosswind.testbed.providers.command.provider import OwnCommands

__all__ = ["OwnCommands", "OwnCommandsParameters"]

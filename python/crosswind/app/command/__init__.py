"""A user's own application, described in the experiment file: commands, readiness, metrics."""

from crosswind.app.command.application import Command, CommandParameters

__all__ = ["Command", "CommandParameters"]

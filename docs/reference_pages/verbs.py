"""docs/reference/verbs.md: every verb with its arguments, options and subcommands, from click."""

from __future__ import annotations

import inspect

import click

from crosswind.cli._main import group
from crosswind.cli._verbs import verbs
from reference_pages import markdown

_INTRODUCTION = """\
Every option can also be set by an environment variable: `--results` of `run` by `CROSSWIND_RUN_RESULTS`.
`NO_COLOR` is honoured. `CROSSWIND_DEBUG=1` shows tracebacks. Exit statuses are on
[a page of their own](exit-codes.md)."""


def page() -> str:
    """Return the page."""
    context = click.Context(group, info_name="crosswind")
    sections = []
    for name in verbs():
        command = group.get_command(context, name)
        assert command is not None  # `verbs` lists only existing commands.
        sections.append(_section(command, f"crosswind {name}", "##"))
    return markdown.page("Verbs", "python/crosswind/cli", _INTRODUCTION, *sections)


def _section(command: click.Command, path: str, heading: str) -> str:
    """Return the section of one verb or subcommand, and of the subcommands below it."""
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"{heading} {path}", markdown.fenced(usage), *_paragraphs(command.help or "")]
    options = [
        record
        for parameter in command.params
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context))
    ]
    if options:
        parts.append(
            markdown.table(
                ["option", "effect"], [[f"`{names}`", _spaced(effect)] for names, effect in options]
            )
        )
    if isinstance(command, click.Group):
        parts += [
            _section(command.commands[name], f"{path} {name}", f"{heading}#")
            for name in sorted(command.commands)
        ]
    return "\n\n".join(parts)


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text; those that click must not wrap (`\\b`) become blocks of code."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return [
        markdown.fenced(paragraph.removeprefix("\b\n")) if paragraph.startswith("\b") else paragraph
        for paragraph in paragraphs
    ]


def _spaced(text: str) -> str:
    return " ".join(text.split())

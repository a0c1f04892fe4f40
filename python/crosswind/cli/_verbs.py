"""Find verbs as files of the package; import only the one that is called."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import click

_PACKAGE = "crosswind.cli"


def verbs() -> list[str]:
    """Return the names of all verbs, sorted."""
    package = importlib.import_module(_PACKAGE)
    return sorted(
        module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")
    )


def first_line(verb: str) -> str:
    """Return the first line of a verb's docstring, read from its source, because importing may be slow."""
    spec = importlib.util.find_spec(f"{_PACKAGE}.{verb}")
    if spec is None or spec.origin is None:
        return ""
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


class VerbGroup(click.Group):
    """A group whose commands are the files of the package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return verbs()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in verbs():
            return None
        command: click.Command = importlib.import_module(f"{_PACKAGE}.{cmd_name}").command
        command.name = cmd_name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in verbs():
            from crosswind.text.nearest import did_you_mean  # Not needed for help, which has to be fast.

            remedy = did_you_mean(args[0], verbs()) or "`crosswind --help` lists them"
            raise click.UsageError(f'there is no verb "{args[0]}"; {remedy}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, first_line(verb)) for verb in verbs()])

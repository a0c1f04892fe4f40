"""Print the completion script for a shell."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash:  crosswind completion bash > ~/.local/share/bash-completion/completions/crosswind
    zsh:   crosswind completion zsh > "${fpath[1]}/_crosswind"
    fish:  crosswind completion fish > ~/.config/fish/completions/crosswind.fish
    """
    from click.shell_completion import get_completion_class

    from crosswind.cli._main import group

    completion = get_completion_class(shell)
    assert completion is not None  # The three shells are click's own.
    click.echo(completion(group, {}, "crosswind", "_CROSSWIND_COMPLETE").source())

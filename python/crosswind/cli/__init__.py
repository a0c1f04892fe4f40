"""The command line: `crosswind VERB ...`.

A verb is a file of this folder with the name of the verb, and has a click command called `command`:

    # cli/validate.py
    \"\"\"Check experiment files and list every error.\"\"\"

    @click.command()
    @click.argument("file")
    def command(file: str) -> Exit: ...

The group finds the file; nothing else is needed. `crosswind --help` shows the first line of its docstring and
imports nothing, so that help is fast. Import slow modules inside functions. Files whose names start with an
underscore are not verbs.

A command returns an `Exit`, or None for `Exit.DONE`. Errors for the user are `CrosswindError`s: they are
printed without a traceback, and have their own exit status. Environment variables can set options, such as
CROSSWIND_RUN_RESULTS for `--results` of `run`. NO_COLOR disables colours; CROSSWIND_DEBUG=1 shows tracebacks.
"""

from crosswind.cli._main import main

__all__ = ["main"]

"""The command line: `crosswind VERB ...`.

A verb is a file of this folder with the verb's name, holding a click command called `command`:

    # cli/validate.py
    \"\"\"Check experiment files and list every error.\"\"\"

    @click.command()
    @click.argument("file")
    def command(file: str) -> Exit: ...

Nothing else is needed: the group finds the file. `crosswind --help` shows the first line of its docstring and
imports nothing, so that help stays fast. Import slow modules inside functions. Files that start with an
underscore are no verbs.

A command returns an `Exit` (or nothing, for `Exit.DONE`). Errors for the user are `CrosswindError`s: they are
printed without a traceback, and end the process with their own exit status. Options can be set by environment
variables: `--results` of `run` by CROSSWIND_RUN_RESULTS. NO_COLOR is honoured. CROSSWIND_DEBUG=1 shows
tracebacks.
"""

from crosswind.cli._main import main

__all__ = ["main"]

"""Run the command line, and return its exit status."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from crosswind import __version__
from crosswind.cli._machine import refused_by_machine
from crosswind.cli._output import print_error
from crosswind.cli._verbs import VerbGroup
from crosswind.errors import CrosswindError, Exit

# Exit statuses of a shell for a process that Ctrl-C or SIGTERM ended.
_INTERRUPTED = 130
_TERMINATED = 143


class Terminated(BaseException):
    """SIGTERM was received; everything is removed on the way out, as after Ctrl-C."""

    def __str__(self) -> str:
        return "terminated"


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="First steps: crosswind demo, or crosswind init and crosswind run experiment.yaml.",
)
@click.version_option(__version__, prog_name="crosswind", message="%(prog)s %(version)s")
def group() -> None:
    """A wind tunnel for distributed applications.

    Runs a real application many times in a network with known conditions, in random order. Reports what the
    network did to it, how sure that is, and whether the emulation was exact enough.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run(arguments))


def _terminate(number: int, frame: FrameType | None) -> None:
    # A second signal must not interrupt the removal that the first one started.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        status = group.main(
            args=None if arguments is None else list(arguments),
            prog_name="crosswind",
            standalone_mode=False,
            auto_envvar_prefix="CROSSWIND",
        )
        sys.stdout.flush()
        return int(status or Exit.DONE)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except CrosswindError as error:
        print_error(str(error), prefix=not error.names_its_place)
        return error.exit
    except (click.Abort, KeyboardInterrupt):
        print_error("interrupted")
        return _INTERRUPTED
    except Terminated:
        print_error("terminated")
        return _TERMINATED
    except BrokenPipeError:
        # The reader, such as `head`, has ended. Otherwise Python would print an error when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception as error:
        if os.environ.get("CROSSWIND_DEBUG"):
            raise
        if (refused := refused_by_machine(error)) is not None:
            print_error(str(refused))
            return refused.exit
        # Any other exception is a bug of Crosswind.
        print_error(
            f"internal error: {type(error).__name__}: {error}; "
            "set CROSSWIND_DEBUG=1 to see where, and report it"
        )
        return Exit.INTERNAL

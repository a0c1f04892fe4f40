"""Existing ends: nodes of a running fabric, or two machines, each reached with a given prefix."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from crosswind.analysis.network.ends import EndFacts
from crosswind.app.nuttcp import Nuttcp
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.fingerprint.measure import end_facts
from crosswind.fingerprint.measure.ends import End, Ends, Tool, words_here
from crosswind.testbed import TestbedError, find_binary
from crosswind.testbed.binaries import LOAD


def other_ends(near: str, far: str, address: str, tool: Tool | None) -> Ends:
    """Inspect two ends and return them.

    Args:
        near, far: prefixes of commands, such as `crosswind exec a --` or `ssh host`; empty for this machine.
        address: of the far end, as the near one reaches it.
        tool: for bulk transfers; None chooses by where the ends are.
    Raises: TestbedError: an end cannot be reached, or lacks a program; names it.
    """
    script = Path(end_facts.__file__).read_text(encoding="utf-8")
    sender = _end("near", near, "")
    seen = EndFacts.model_validate_json(sender.ask(script, address))
    sender = replace(sender, name=seen.host, address=seen.interface.address or "")
    receiver = _end("far", far, address)
    theirs = EndFacts.model_validate_json(receiver.ask(script, sender.address))
    receiver = replace(receiver, name=theirs.host)
    if seen.boot != theirs.boot:
        # On one machine it is unknown: nodes may stand for several hosts, and containers for the same one.
        sender, receiver = replace(sender, host=seen.boot), replace(receiver, host=theirs.boot)
    with sender.folder() as folder:
        here = end_facts.boot()
        one_machine = here == seen.boot == theirs.boot and _has(receiver, "-d", folder)
    if tool == "traffic" and not one_machine:
        raise TestbedError(
            f"--tool traffic: needs ends that share this machine's clock and files, which {sender.name} and "
            f"{receiver.name} do not; use --tool iperf3 or nuttcp"
        )
    sender, receiver = (_programs(end, one_machine) for end in (sender, receiver))
    tool = tool or ("traffic" if one_machine else "iperf3")
    return Ends(sender, receiver, one_machine, tool, ours=False)


@contextmanager
def as_they_are(ends: Ends) -> Iterator[Ends]:
    """Provide existing ends, which cannot be made anew."""
    yield ends


def _end(name: str, prefix: str, address: str) -> End:
    words = tuple(shlex.split(prefix))
    return End(
        name, words, address, LOAD, "python3" if words else sys.executable, ("iperf3",), ("nuttcp",), None
    )


def _programs(end: End, one_machine: bool) -> End:
    """Return an end with the paths of this machine's programs, where it has them too."""
    load = str(find_binary(LOAD))
    found = replace(end, load=load) if _has(end, "-x", load) else end
    if not one_machine:
        return found
    return replace(found, iperf3=words_here(IPERF3, "iperf3"), nuttcp=words_here(Nuttcp.tool, "nuttcp"))


def _has(end: End, test: str, file: str) -> bool:
    return end.run(["sh", "-c", f"test {test} {shlex.quote(file)} && echo yes || echo no"]).strip() == b"yes"

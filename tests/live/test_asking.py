"""Above 10 GB on a network that is there a terminal is asked, anything else refused, and nothing is sent."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.testbed.plain import plain_fabric

if TYPE_CHECKING:
    from conftest import Live

# At 20 Mbit/s, of which half as much again is foreseen: 3.75 MB a second, and twice 1.3 times 3000 s of them.
FORESEEN_BYTES = 3.75e6 * 2 * 1.3 * 3000
LONG = ("--full-speed", "3000s", "--connections", "1", "--repeat", "1", "--writes", "64KiB")
QUESTION = "which exceeds the limit of 10GB. Send it anyway? [y/N]:"


@contextmanager
def network_that_is_there() -> Iterator[list[str]]:
    """Bring up two nodes, and give the words of a fingerprint that takes them as it finds them."""
    with own_fabric(plain_fabric(("a", "b"), rate_bps=20_000_000)) as ends:
        near, far = (shlex.join(end.prefix) for end in (ends.near, ends.far))
        yield ["fingerprint", "--near", near, "--far", far, "--to", ends.far.address, *LONG]


class Terminal:
    """A verb with somebody at its terminal."""

    def __init__(self, live: Live, command: list[str]) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [*live.command, *command],
            cwd=live.folder,
            env=live.env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self.said = ""

    def await_words(self, words: str, within_s: float = 60) -> None:
        deadline_s = time.monotonic() + within_s
        while words not in " ".join(self.said.split()):
            assert self._hear(deadline_s), self.said

    def answer(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def await_end(self, within_s: float = 60) -> int:
        deadline_s = time.monotonic() + within_s
        while self._hear(deadline_s):
            pass
        os.close(self._ours)
        return self._process.wait(5)

    def _hear(self, until_s: float) -> bool:
        """Read what is said next; return whether there was anything, until then or the end."""
        if not select.select([self._ours], [], [], max(0.0, until_s - time.monotonic()))[0]:
            return False
        try:
            heard = os.read(self._ours, 1 << 16)
        except OSError:  # Linux says so when nobody has the terminal any more.
            return False
        self.said += heard.decode(errors="replace")
        return True


@pytest.mark.long
def test_on_a_terminal_no_sends_nothing_more(live: Live) -> None:
    with network_that_is_there() as command:
        terminal = Terminal(live, command)
        terminal.await_words(QUESTION)
        terminal.answer("n\n")
        assert terminal.await_end() == 2, terminal.said
    document = json.loads((live.folder / "fingerprint.json").read_text())
    assert "--send-at-most" in document["ended"]
    # What showed the rate: messages of 64 KiB and 1 MiB at most.
    assert document["sent"]["bytes"] < 2e6
    assert document["sent"]["most_bytes"] == 10e9
    assert document["round_trip"]["idle"]["ns"]["p50"] > 0
    assert "bulk" not in document


def test_on_a_terminal_yes_goes_on_with_twice_as_much(live: Live) -> None:
    with network_that_is_there() as command:
        terminal = Terminal(live, command)
        terminal.await_words(QUESTION)
        terminal.answer("y\n")
        terminal.await_words("round trips during a bulk transfer")
    # The network is gone, and with it what went on.
    assert terminal.await_end() == 4, terminal.said
    document = json.loads((live.folder / "fingerprint.json").read_text())
    assert document["sent"]["bytes"] < 2e6
    # The rate of a first message, not quite that of the link, is what was foreseen with.
    assert document["sent"]["most_bytes"] == pytest.approx(2 * FORESEEN_BYTES, rel=0.3)


def test_without_a_terminal_it_is_refused_with_what_would_allow_it(live: Live) -> None:
    with network_that_is_there() as command:
        status, said = live.run(*command)
    assert status == 2, said
    assert "which exceeds the limit of 10GB; allow more with --send-at-most" in said
    assert "Send it all the same" not in said
    document = json.loads((live.folder / "fingerprint.json").read_text())
    assert document["sent"]["bytes"] < 2e6

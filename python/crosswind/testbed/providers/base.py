"""The contract of a provider: what it must implement, and what it gets.

A provider knows nothing of runs: it makes machines, all marked with one tag, and removes what has this tag.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from crosswind.spec.resolved import ResolvedMachine
from crosswind.spec.testbed import DeclaredProvider

# Every tag begins with it. What has such a tag is Crosswind's, on whichever machine it was made.
TAG_PREFIX = "crosswind-"


@dataclass(frozen=True)
class Order:
    """Machines that a run needs.

    Attributes:
        tag: marks everything that is made for it, from the moment when it is made; 18 characters, a-z, 0-9
            and a hyphen.
        machines: their names, with cores where the file says so.
        key: a private key for ssh, made for this run; its public half is in the same place with `.pub`.
        known_hosts: an empty file for the machines' own keys.
        while_running: enters a process that makes machines and does not end with this one, so that nothing is
            removed while it runs.
    """

    tag: str
    machines: tuple[ResolvedMachine, ...]
    key: Path
    known_hosts: Path
    while_running: Callable[[int], AbstractContextManager[None]]


@dataclass(frozen=True)
class Found:
    """One thing that exists at a provider.

    Attributes:
        kind: `server`, `network` and so on, in the provider's own words.
        name: for people.
        id: by which the provider knows it; empty where the name is enough.
    """

    tag: str
    kind: str
    name: str
    id: str = ""


class Provider(DeclaredProvider, ABC):
    """Makes machines, lists and removes them. All three may be called in different processes."""

    @abstractmethod
    def check(self) -> None:
        """Check that the machines can be made, as far as that can be known before.

        Raises: NotHere: they cannot; one sentence that names the thing, the value, the rule and the remedy.
        """

    @abstractmethod
    def up(self, order: Order) -> list[ResolvedMachine]:
        """Make the machines and return them in the order of `order.machines`, with all that ssh needs.

        Where it fails, what exists already is left to `down`. Machines need not answer yet.

        Raises: TestbedError: they cannot be made.
        """

    @abstractmethod
    def down(self, tag: str) -> None:
        """Remove everything with this tag; nothing where there is nothing, so it can be called again.

        Raises: TestbedError: something is left.
        """

    @abstractmethod
    def found(self) -> list[Found]:
        """Return everything that Crosswind made at this provider, of all runs.

        Raises: TestbedError: the provider does not answer.
        """

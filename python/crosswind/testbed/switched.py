"""A fabric without the emulator: other programs carry its packets, in a network namespace of their own.

The agent makes the nodes as ever. The other ends of their veth pairs are in its switch, a further init in
which programs run with all privileges. They end with the agent, and with them everything that they made.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from crosswind.results import Measurement
from crosswind.results.measurement import (
    Carried,
    Change,
    Conservation,
    Decided,
    EmulatorHost,
    Ledger,
    NodeUsage,
    Window,
)
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import RequestedLimits, ResolvedCut
from crosswind.stream import Step
from crosswind.testbed.agent import Agent, Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process
from crosswind.testbed.replies import Reply
from crosswind.testbed.running import RunningFabric

# A script sets up a network of some hundred ports in seconds.
SCRIPT_S = 60.0


class UsedByNodes(Reply):
    """What the agent measures where it has no emulator."""

    ended_ns: int
    nodes: list[NodeUsage]


class SwitchedFabric(RunningFabric):
    """A fabric that a backend carries; a subclass for each.

    Args:
        agent, spec, logs, limits: as of `RunningFabric`.
        folder: a new folder for the backend's own files; it must not exist.
    """

    backend: str

    def __init__(
        self,
        agent: Agent,
        spec: FabricSpec,
        logs: Path,
        limits: Mapping[str, RequestedLimits] | None,
        folder: Path,
    ) -> None:
        super().__init__(agent, spec, logs, limits=limits)
        self._folder = folder
        self._switch = ""
        self._scripts = 0
        self._changes: list[Change] = []
        self._started_ns = 0
        self._version = ""
        self._decided: list[Decided] = []

    def __enter__(self) -> Self:
        switch = self._up({"switch": True}).switch
        assert switch is not None
        self._switch = switch.name
        self._folder.mkdir(mode=0o700)
        self._version = self._make()
        self.set(self._spec.condition)
        return self

    @property
    def decided(self) -> list[Decided]:
        """Which part of the backend decides what, under the condition that is active."""
        return self._decided

    @property
    def version(self) -> str:
        """The version of the backend's programs."""
        return self._version

    def set(self, condition: FabricCondition, at_ns: int | None = None) -> int:
        assert at_ns is None  # Only the emulator changes a condition at an exact instant.
        asked_ns = time.monotonic_ns()
        self._decided = self._apply(condition)
        at_ns = time.monotonic_ns()
        places = condition.as_json().get("places", {})
        change = {
            "at_ns": at_ns,
            "asked_ns": asked_ns,
            "by": "set",
            "condition": condition.name,
            "places": places,
        }
        self._changes.append(Change.model_validate(change))
        return at_ns

    def cut(self, cuts: Sequence[ResolvedCut], at_ns: int | None = None) -> int:
        raise TestbedError(
            f"backend {self.backend}: cut: only the emulator cuts nodes off; write backend: crosswind"
        )

    def measure(self, at_ns: int | None = None) -> int:
        self._changes = self._changes[-1:]
        self._begin_window()
        self._started_ns = super().measure(at_ns)
        return self._started_ns

    def read(self) -> Measurement:
        used = self._agent.request("read", UsedByNodes)
        carried = Carried(
            backend=self.backend, version=self._version, decided=self._decided, faults=self._faults()
        )
        return Measurement(
            window=Window(
                started_ns=self._started_ns,
                ended_ns=used.ended_ns,
                realtime_minus_monotonic_ns=time.time_ns() - time.monotonic_ns(),
            ),
            wait_mode="none",
            domains=0,
            ledger=Ledger(packets=0, early=0, missed=0, bound_ns=0),
            conservation=Conservation(holds=True),
            host=EmulatorHost(),
            changes=self._changes,
            nodes=used.nodes,
            carried=carried,
        )

    def watch(self, listener: Callable[[Step], None]) -> None:
        """Do nothing: there is no emulator that could write steps."""

    @abstractmethod
    def _make(self) -> str:
        """Make what carries packets; return the version of the programs."""

    @abstractmethod
    def _apply(self, condition: FabricCondition) -> list[Decided]:
        """Apply a condition and check that it was accepted; return what decides what."""

    def complaints(self) -> list[str]:
        """Return what the backend wrote into its log although its commands succeeded."""
        return []

    def _begin_window(self) -> None:
        """Note the state of the backend at the begin of a measurement."""

    def _faults(self) -> list[str]:
        """Return what the backend reported in the window that makes the trial void."""
        return []

    def run_in_switch(self, name: str, script: str) -> str:
        """Run a shell script in the switch; return what it printed.

        Raises: TestbedError: it failed; the message has its last lines.
        """
        self._scripts += 1
        name = f"{self._scripts:02}-{name}"
        file = self._folder / f"{name}.sh"
        file.write_text(script)
        process = self._daemon(name, "/bin/sh", "-e", file)
        ended = process.wait(SCRIPT_S)
        if ended != Ended(0, None):
            how = f"still running after {SCRIPT_S:g} s" if ended is None else str(ended)
            raise TestbedError(f"backend {self.backend}: {name}: {how}; {process.last_words()}")
        return process.printed()

    def _daemon(self, name: str, *argv: object, env: Mapping[str, str] | None = None) -> Process:
        """Start a process in the switch, with all privileges."""
        return self.start(
            self._switch, name, argv, cwd=self._folder, env={**self._environment(), **(env or {})}
        )

    def _environment(self) -> Mapping[str, str]:
        return {}

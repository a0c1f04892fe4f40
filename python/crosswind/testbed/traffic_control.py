"""The kernel's traffic control as the backend of a fabric: devices, routes, qdiscs and filters."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

from crosswind.backends.tc.devices import Devices
from crosswind.backends.tc.mapping import control_of
from crosswind.backends.tc.setup import Qdisc
from crosswind.results.measurement import Decided
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import RequestedLimits
from crosswind.testbed.agent import Agent
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.switched import SwitchedFabric

# The kernel stores times in ticks of 64 ns, and shares in 32 bits.
WITHIN = 0.001
_SHOWN = TypeAdapter(list[dict[str, JsonValue]])


class TrafficControlFabric(SwitchedFabric):
    """A fabric whose links are veth pairs with qdiscs, and whose switch is the kernel's routing."""

    backend = "tc"

    def __init__(
        self,
        agent: Agent,
        spec: FabricSpec,
        logs: Path,
        limits: Mapping[str, RequestedLimits] | None,
        folder: Path,
    ) -> None:
        super().__init__(agent, spec, logs, limits, folder)
        self._devices = Devices(spec)

    def _make(self) -> str:
        self.run_in_switch("devices", "\n".join(self._devices.commands()) + "\n")
        printed = self.run_in_switch("version", "tc -V\n").strip()
        return f"Linux {platform.release()}, {printed.removeprefix('tc utility, ')}"

    def _apply(self, condition: FabricCondition) -> list[Decided]:
        control = control_of(self._spec, condition, self._devices)
        (self._folder / "condition.tc").write_text("\n".join(control.commands()) + "\n")
        script = [*self._cleared(), "tc -batch condition.tc"]
        self.run_in_switch("condition", "\n".join(script) + "\n")
        shown = _SHOWN.validate_json(self.run_in_switch("read-back", "tc -j qdisc show\n"))
        if wrong := list(differences(control.qdiscs, shown)):
            raise TestbedError(
                f"backend tc: {condition.name}: the kernel has other settings: {'; '.join(wrong)}"
            )
        return control.decided

    def _cleared(self) -> Iterator[str]:
        for device in self._devices.all:
            for what in ("root", "clsact"):
                yield f"tc qdisc del dev {device} {what} 2>/dev/null || true"
            yield f"tc qdisc add dev {device} clsact"


def differences(asked: list[Qdisc], shown: list[dict[str, JsonValue]]) -> Iterator[str]:
    """Yield what `tc -j qdisc show` answers otherwise than was asked for, a clause for each."""
    there = {(str(each.get("dev")), str(each.get("handle"))): each for each in shown}
    for qdisc in asked:
        found = there.get((qdisc.device, qdisc.handle))
        name = f"{qdisc.device} {qdisc.kind} {qdisc.handle}"
        if found is None or found.get("kind") != qdisc.kind:
            yield f"{name} is not there"
            continue
        options = found.get("options")
        yield from _differing(name, qdisc.shown, options if isinstance(options, dict) else {})


def _differing(name: str, asked: Mapping[str, JsonValue], shown: Mapping[str, JsonValue]) -> Iterator[str]:
    for key, value in asked.items():
        other = shown.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            yield from _differing(f"{name} {key}", value, other)
        elif key == "burst" and _is_near(value, other, shown.get("rate")):
            continue
        elif not _agree(value, other):
            yield f"{name} {key}: asked {json.dumps(value)}, has {json.dumps(other)}"


def _is_near(asked: JsonValue, shown: JsonValue, rate: JsonValue) -> bool:
    """Return whether a bucket is as asked: the kernel has it as the time that its rate takes, in whole us."""
    if not (isinstance(asked, int) and isinstance(shown, int) and isinstance(rate, int)):
        return False
    return abs(asked - shown) <= 2 * rate / 1e6


def _agree(asked: JsonValue, shown: JsonValue) -> bool:
    if isinstance(asked, int | float) and isinstance(shown, int | float):
        # Of small integers the tolerance is a unit.
        return abs(asked - shown) <= max(WITHIN * abs(asked), 1 if isinstance(asked, int) else 1e-7)
    return asked == shown

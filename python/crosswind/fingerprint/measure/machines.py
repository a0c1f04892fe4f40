"""The machines that a measurement is made on: seen before and after, and refused where they are too busy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure import end_cloud, end_facts
from crosswind.fingerprint.measure.ends import MESSAGES_PORT, Ends
from crosswind.fingerprint.measure.messages import serving_messages
from crosswind.spec.quantities import RATE, QuantityError, read_share
from crosswind.text.quantities import rate_text

_SCRIPT = Path(end_facts.__file__)


class TooBusy(CrosswindError):
    """A machine does more than was declared to be tolerable; nothing was measured."""

    exit = Exit.PREFLIGHT


@dataclass(frozen=True)
class Bounds:
    """What a machine may do beside when a measurement begins; None is whatever it does.

    Attributes:
        load_per_core: the load average of a minute.
        memory_share: used, of all, in [0, 1].
        interface_bps: through any interface, either way.
    """

    load_per_core: float | None = None
    memory_share: float | None = None
    interface_bps: float | None = None

    @classmethod
    def read(
        cls, load_at_most: float | None, memory_at_most: str | None, traffic_at_most: str | None
    ) -> Bounds:
        """Return bounds as a user writes them: a number, a share such as `80%`, a rate such as `1Mbit/s`.

        Raises: CrosswindError: one is no share or no rate.
        """
        try:
            memory_share = None if memory_at_most is None else read_share(memory_at_most)
        except QuantityError as error:
            raise CrosswindError(f"memory at most: {error}") from None
        try:
            interface_bps = None if traffic_at_most is None else RATE.read_positive(traffic_at_most)
        except QuantityError as error:
            raise CrosswindError(f"traffic at most: {error}") from None
        return cls(load_at_most, memory_share, interface_bps)

    def replaced_by(self, given: Bounds) -> Bounds:
        """Return these bounds, with those that are given in their place."""
        return replace(self, **{name: bound for name, bound in vars(given).items() if bound is not None})


ANYTHING = Bounds()


def machines(ends: Ends, *, cloud: bool = False) -> dict[str, Any]:
    """Return what both ends are (`end_facts.py`), as `near` and `far`; and as `here` the machine of both.

    Args:
        cloud: whether the metadata service of a cloud is asked too, from each end.
    """
    near = near_facts(ends)
    far = json.loads(ends.far.ask(_SCRIPT.read_text(encoding="utf-8"), ends.near.address))
    found = {"near": near, "far": far}
    if ends.one_machine:
        found["here"] = end_facts.facts("127.0.0.1")
    if cloud:
        question = Path(end_cloud.__file__).read_text(encoding="utf-8")
        near["cloud"], far["cloud"] = (json.loads(end.ask(question)) for end in (ends.near, ends.far))
    return found


def near_facts(ends: Ends) -> dict[str, Any]:
    """Return what the near end is (`end_facts.py`), with a connection to the far one."""
    with serving_messages(ends):
        said = ends.near.ask(_SCRIPT.read_text(encoding="utf-8"), ends.far.address, str(MESSAGES_PORT))
    found: dict[str, Any] = json.loads(said)
    return found


def refuse_busy(seen: Mapping[str, Any], bounds: Bounds) -> None:
    """Check what `machines` returned against bounds.

    Raises: TooBusy: something is above; names everything that is, and where.
    """
    # What is seen in a node of ours is the machine's, but for its interfaces.
    places = [seen["here"]] if "here" in seen else [seen["near"], seen["far"]]
    above = [f"{place['host']}: {what}" for place in places for what in _above(place, bounds)]
    if above:
        raise TooBusy(f"too busy to measure: {'; '.join(above)}; wait, end what runs, or allow more")


def _above(place: Mapping[str, Any], bounds: Bounds) -> list[str]:
    state, found = place["state"], []
    load = state["load_average"][0] / place["cores"]
    if bounds.load_per_core is not None and load > bounds.load_per_core:
        found.append(f"load {load:.2f} a core, above {bounds.load_per_core:g} (--load-at-most)")
    used = 1 - state["memory_available_bytes"] / state["memory_bytes"]
    if bounds.memory_share is not None and used > bounds.memory_share:
        found.append(f"memory {used:.0%} used, above {bounds.memory_share:.0%} (--memory-at-most)")
    for name, rates in state["interfaces_bps"].items():
        rate_bps = max(rates.values())
        if name != "lo" and bounds.interface_bps is not None and rate_bps > bounds.interface_bps:
            allowed = rate_text(bounds.interface_bps)
            found.append(f"{rate_text(rate_bps)} through {name}, above {allowed} (--traffic-at-most)")
    return found

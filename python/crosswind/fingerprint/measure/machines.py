"""The machines at the ends of a measurement: their facts, and a check that they are not too busy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from crosswind.analysis.network.ends import Cloud, EndFacts, EndMachines
from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure import end_cloud, end_facts
from crosswind.fingerprint.measure.ends import MESSAGES_PORT, End, Ends
from crosswind.fingerprint.measure.messages import serving_messages
from crosswind.spec.quantities import RATE, QuantityError, read_share
from crosswind.text.quantities import rate_text

_SCRIPT = Path(end_facts.__file__)


class TooBusy(CrosswindError):
    """A machine is busier than the user allows; nothing was measured."""

    exit = Exit.PREFLIGHT


@dataclass(frozen=True)
class Bounds:
    """Limits of what else a machine may do when a measurement begins; None is no limit.

    Attributes:
        load_per_core: the load average of one minute, divided by the cores.
        memory_share: the share of memory in use, in [0, 1].
        interface_bps: the rate through any interface, in either direction.
    """

    load_per_core: float | None = None
    memory_share: float | None = None
    interface_bps: float | None = None

    @classmethod
    def read(
        cls, load_at_most: float | None, memory_at_most: str | None, traffic_at_most: str | None
    ) -> Bounds:
        """Return bounds as a user writes them: a number, a share such as `80%`, a rate such as `1Mbit/s`.

        Raises: CrosswindError: one is not a share, or not a rate.
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
        """Return these bounds; those that are given replace them."""
        return replace(self, **{name: bound for name, bound in vars(given).items() if bound is not None})


ANYTHING = Bounds()


def machines(ends: Ends, *, cloud: bool = False) -> EndMachines:
    """Return the facts of both ends, and of this machine where both are on it.

    Args:
        cloud: whether each end also queries the metadata service of a cloud.
    """
    near = near_facts(ends)
    far = EndFacts.model_validate_json(ends.far.ask(_SCRIPT.read_text(encoding="utf-8"), ends.near.address))
    if cloud:
        near, far = _with_cloud(ends.near, near), _with_cloud(ends.far, far)
    return (
        EndMachines(near=near, far=far, here=facts_here())
        if ends.one_machine
        else EndMachines(near=near, far=far)
    )


def near_facts(ends: Ends) -> EndFacts:
    """Return the facts of the near end, with a connection to the far one."""
    with serving_messages(ends):
        said = ends.near.ask(_SCRIPT.read_text(encoding="utf-8"), ends.far.address, str(MESSAGES_PORT))
    return EndFacts.model_validate_json(said)


def facts_here(since: end_facts.InterfaceBytes | None = None) -> EndFacts:
    """Return the facts of this machine.

    Args:
        since: when the rates of interfaces begin; None measures them for half a second.
    """
    return EndFacts.model_validate(end_facts.facts("127.0.0.1", since=since))


def _with_cloud(end: End, facts: EndFacts) -> EndFacts:
    said = end.ask(Path(end_cloud.__file__).read_text(encoding="utf-8"))
    return facts.model_copy(update={"cloud": _CLOUD.validate_json(said)})


_CLOUD: TypeAdapter[Cloud | None] = TypeAdapter(Cloud | None)


@dataclass(frozen=True)
class Busy:
    """What a machine does besides; None where it is not known.

    Attributes:
        host: what messages call it.
        load_per_core, memory_share, interfaces_bps: as in `Bounds`; rates by interface, the larger direction.
    """

    host: str
    load_per_core: float | None
    memory_share: float | None
    interfaces_bps: Mapping[str, float] | None

    @classmethod
    def of(cls, facts: EndFacts) -> Busy:
        """Return what the facts of a machine say of it."""
        state = facts.state
        return cls(
            facts.host,
            state.load_average[0] / facts.cores,
            state.memory_used_bytes / state.memory_bytes,
            {name: rates.larger for name, rates in state.interfaces_bps.items()},
        )


def refuse_busy(places: Iterable[Busy], bounds: Bounds) -> None:
    """Check machines against bounds.

    Raises: TooBusy: something is above its bound, or not known; names everything that is, and where.
    """
    above = [f"{place.host}: {what}" for place in places for what in _above(place, bounds)]
    if above:
        raise TooBusy(
            f"too busy to measure: {'; '.join(above)}; wait, end other processes, or raise the limit"
        )


def _above(place: Busy, bounds: Bounds) -> Iterator[str]:
    if bounds.load_per_core is not None:
        load = place.load_per_core
        if load is None:
            yield "its load is not known (--load-at-most)"
        elif load > bounds.load_per_core:
            yield f"load {load:.2f} a core, above {bounds.load_per_core:g} (--load-at-most)"
    if bounds.memory_share is not None:
        used = place.memory_share
        if used is None:
            yield "its memory is not known (--memory-at-most)"
        elif used > bounds.memory_share:
            yield f"memory {used:.0%} used, above {bounds.memory_share:.0%} (--memory-at-most)"
    if bounds.interface_bps is not None:
        if place.interfaces_bps is None:
            yield "what goes through its interfaces is not known (--traffic-at-most)"
            return
        allowed = rate_text(bounds.interface_bps)
        for name, rate_bps in place.interfaces_bps.items():
            if name != "lo" and rate_bps > bounds.interface_bps:
                yield f"{rate_text(rate_bps)} through {name}, above {allowed} (--traffic-at-most)"

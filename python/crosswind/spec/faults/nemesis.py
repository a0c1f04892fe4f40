"""A nemesis: faults that are drawn by a seed, each with its end, written out as steps of the timeline."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.declared import FaultNodes, Tested
from crosswind.spec.faults.keys import IN_A_STEP, FaultKeys, Names
from crosswind.spec.faults.nodes import nodes_of_all
from crosswind.spec.network import Network
from crosswind.spec.quantities import TIME, PositiveDuration, QuantityError, shown
from crosswind.spec.resolved import Answer

Choice = Literal["partition", "isolate", "cut", "pause", "kill", "squeeze"]
# Those that only the network carries out. The others stop what runs on a node.
OF_NETWORK = ("partition", "isolate", "cut")
OF_TWO_NODES = ("partition", "cut")
# What is left of the CPU time of a node that is squeezed.
SQUEEZED_CPUS = 0.1
_END = {"pause": "resume", "kill": "restart", "squeeze": "release"}
# Instants are whole milliseconds where the bounds are, for those who read them.
_STEP_NS = 1_000_000
# More are a typing error: each is a step that the agent holds ready.
FAULTS_MAX = 1000


class Gap(SpecModel):
    """The time from the beginning of one fault to that of the next, drawn evenly between two bounds."""

    between: Annotated[list[PositiveDuration], Field(min_length=2, max_length=2)] = Field(
        description="The shortest and the longest."
    )

    @field_validator("between")
    @classmethod
    def _is_in_order(cls, between: list[int]) -> list[int]:
        if between[0] > between[1]:
            first, last = map(TIME.text, between)
            raise QuantityError(f'"{first}" is above "{last}"; swap them')
        return between


def _gap(value: object) -> object:
    """Return a fixed time as the bounds that it stands for."""
    if isinstance(value, dict | Gap):
        return value
    gap_ns = TIME.read_positive(value)
    return Gap.model_construct(between=[gap_ns, gap_ns])


class Nemesis(SpecModel):
    """Faults drawn by a seed, the same in every trial. Each ends before the next begins."""

    elsewhere = IN_A_STEP

    every: Annotated[Gap, BeforeValidator(_gap, json_schema_input_type=PositiveDuration | Gap)] = Field(
        description="From one fault to the next: a time, or {between: [5s, 15s]}."
    )
    choose: Annotated[list[Choice], Field(min_length=1)] = Field(
        description="What is drawn, with equal chances. A squeezed node has a tenth of a CPU."
    )
    length_ns: PositiveDuration = Field(
        alias="for", description="After it a fault ends: `heal`, `resume`, `restart` or `release`."
    )
    seed: Annotated[int, Field(ge=0)] = Field(1, description="The same seed: the same faults. 1 when absent.")
    nodes: Names | None = Field(
        None, description="Which may be hit; every node that does not measure when absent."
    )
    until_ns: PositiveDuration | None = Field(
        None, alias="until", description="All have ended by then; the end of the measurement when absent."
    )
    answer: Answer | None = Field(None, description="As of `partition`, for faults of the network.")

    @field_validator("choose")
    @classmethod
    def _is_chosen_once(cls, choose: list[Choice]) -> list[Choice]:
        for index, each in enumerate(choose):
            if each in choose[:index]:
                raise QuantityError(f"has {shown(each)} twice; each has the same chance: keep one")
        return choose


@dataclass(frozen=True)
class Targets:
    """The nodes that a nemesis may hit, and the time it has.

    Attributes:
        nodes: in the order of the topology.
        mortal: those that it may kill.
    """

    nodes: Sequence[str]
    mortal: Collection[str]
    until_ns: int


def drawn_faults(nemesis: Nemesis, network: Network, tested: Tested) -> dict[int, FaultKeys]:
    """Return the faults of a nemesis and their ends in a network, by instant, ns."""
    nodes, until_ns = hit_nodes(nemesis, network, tested.faults), nemesis.until_ns or tested.measured_ns
    mortal = nodes if tested.faults is None else tested.faults.restartable
    return faults_of(nemesis, Targets(nodes, mortal, until_ns or 0))


def hit_nodes(nemesis: Nemesis, network: Network, faults: FaultNodes | None) -> list[str]:
    """Return the nodes that a nemesis may hit, in the order of the topology."""
    if nemesis.nodes is not None:
        named = set(nodes_of_all(nemesis.nodes, network))
        return [node for node in network.nodes if node in named]
    measuring = frozenset[str]() if faults is None else faults.measuring or frozenset()
    return [node for node in network.nodes if node not in measuring]


def faults_of(nemesis: Nemesis, hit: Targets) -> dict[int, FaultKeys]:
    """Return the faults of a nemesis and their ends, by instant, ns.

    The same nemesis and nodes always give the same: only `Random.random` is drawn from, which does not
    differ between versions of Python.
    """
    found: dict[int, FaultKeys] = {}
    draw = _Draw(nemesis.seed)
    at_ns = 0
    while True:
        at_ns += draw.between(*nemesis.every.between)
        end_ns = at_ns + nemesis.length_ns
        if end_ns >= hit.until_ns:
            return found
        found[at_ns], found[end_ns] = _pair(nemesis, hit, draw)


def most_faults(nemesis: Nemesis, until_ns: int) -> int:
    """Return how many faults there are at most."""
    return max(0, (until_ns - nemesis.length_ns - 1) // nemesis.every.between[0])


class _Draw:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, count: int) -> int:
        return min(int(self._random.random() * count), count - 1)

    def between(self, low: int, high: int) -> int:
        step = _STEP_NS if low % _STEP_NS == high % _STEP_NS == 0 else 1
        return low + step * self.below((high - low) // step + 1)

    def some(self, items: Sequence[str], count: int) -> list[str]:
        """Return `count` different items, in their order."""
        left, taken = list(items), set[str]()
        while len(taken) < count:
            taken.add(left.pop(self.below(len(left))))
        return [item for item in items if item in taken]


def _pair(nemesis: Nemesis, hit: Targets, draw: _Draw) -> tuple[FaultKeys, FaultKeys]:
    """Draw a fault; return it and its end."""
    kind, answer = nemesis.choose[draw.below(len(nemesis.choose))], nemesis.answer or "silence"
    begin: dict[str, Any]
    if kind == "partition":
        some = draw.some(hit.nodes, 1 + draw.below(len(hit.nodes) - 1))
        groups = [some, [node for node in hit.nodes if node not in some]]
        begin = {"partition": {"groups": groups, "answer": answer}}
    elif kind == "cut":
        (source,) = draw.some(hit.nodes, 1)
        (target,) = draw.some([node for node in hit.nodes if node != source], 1)
        begin = {"cut": {"from": [source], "to": [target], "answer": answer}}
    elif kind == "isolate":
        begin = {"isolate": {"nodes": draw.some(hit.nodes, 1), "answer": answer}}
    else:
        able = [node for node in hit.nodes if node in hit.mortal] if kind == "kill" else hit.nodes
        node = draw.some(able, 1)
        limited = {"nodes": node, "cpus": SQUEEZED_CPUS}
        begin = {kind: limited if kind == "squeeze" else node}
        return FaultKeys.model_validate(begin), FaultKeys.model_validate({_END[kind]: node})
    return FaultKeys.model_validate(begin), FaultKeys.model_validate({"heal": "all"})

"""A network without an experiment, which `crosswind up` builds, and its conditions.

Such a file has a topology, and may have a scale, a `time` and one condition (`none` when absent). An
experiment file works as well: its topology, scale, time and conditions are used, and the first condition is
active.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import Field, JsonValue, TypeAdapter

from crosswind import catalog
from crosswind.errors import CrosswindError
from crosswind.spec.base import SpecModel
from crosswind.spec.catalogue_condition import read_catalogue_condition
from crosswind.spec.checks import conditions_problems, setting_of, time_problems, topology_problems
from crosswind.spec.condition import Condition
from crosswind.spec.dilation import Slowed, Time
from crosswind.spec.document import Document, read_document
from crosswind.spec.draft import items
from crosswind.spec.experiment import ConditionEntry
from crosswind.spec.load import Source, conditions_of, experiment_of, load_catalogue_condition, read
from crosswind.spec.own_nodes import with_own_nodes
from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.quantities import TIME
from crosswind.spec.resolve import named_conditions, resolve_condition, resolve_tcp, resolve_topology
from crosswind.spec.resolved import ResolvedCondition, ResolvedSetup, ResolvedTrials
from crosswind.spec.rules import condition_findings
from crosswind.spec.setting import Setting
from crosswind.spec.topology import AnyTopology, Topology
from crosswind.spec.translate import describe
from crosswind.text.nearest import did_you_mean

_EMPTY = "none"


class SetupFile(SpecModel):
    """A topology, and its first condition."""

    topology: Topology
    scale: float = Field(
        1.0, gt=0, le=1, description="Every rate, buffer, burst and budget is multiplied by it."
    )
    time: Time | None = Field(None, description="How fast time passes in the nodes; real time when absent.")
    condition: ConditionEntry = Field(_EMPTY, description="A name of the catalogue, or `name: condition`.")


@dataclass(frozen=True)
class Setup:
    """A network, and its own conditions, the first of which is active at the start."""

    topology: AnyTopology
    scale: float
    conditions: dict[str, Condition]
    setting: Setting
    network: dict[str, JsonValue]  # Topology and scale as written, for another process to read.
    dilations: Sequence[int] = ()  # Those of the file; none: time passes as fast as it does.

    def dilation(self, given: int | None = None) -> int | None:
        """Return how many times slower time passes, as given or as the file says; None: not slower.

        Raises: CrosswindError: the network cannot be slowed down by that, or the file has several.
        """
        if given is not None:
            limits = resolve_topology(self.topology, self.scale).limits
            return Slowed({node: limit.get("cpus_ppm") for node, limit in limits.items()}).checked(given)
        if len(self.dilations) > 1:
            raise CrosswindError(
                f"time: dilation: the file has several, and a network that is up has one; write one there, "
                f"or give one, such as --dilation {self.dilations[0]}"
            )
        return self.dilations[0] if self.dilations else None

    def resolved(self, seed: int, dilation: int | None = None) -> ResolvedSetup:
        """Return what `fabric_of` needs, with the setup's own conditions.

        Args:
            dilation: of `dilation`; not needed in virtual time.
        """
        return ResolvedSetup(
            scale=self.scale,
            dilation=dilation,
            topology=resolve_topology(self.topology, self.scale),
            tcp=resolve_tcp(self.topology),
            trials=ResolvedTrials(seed=seed),
            conditions=[self._resolve(name, condition) for name, condition in self.conditions.items()],
        )

    def condition(self, text: str, known: Collection[str] = ()) -> ResolvedCondition:
        """Return a resolved condition for this network.

        Args:
            text: one of the setup's own conditions, a name of the catalogue, or a file with one condition.
            known: more names to suggest where `text` is unknown.

        Raises: SpecErrors: it is none of these, or does not fit this network.
        """
        if text in self.conditions:
            return self._resolve(text, self.conditions[text])
        in_catalogue = text in catalog.condition_names()
        if not in_catalogue and not Path(text).exists():
            names = [*self.conditions, *known, *catalog.condition_names()]
            remedy = did_you_mean(text, names, count=3) or "`crosswind conditions` lists the catalogue's"
            raise SpecErrors([Problem(text, 0, 0, f"is neither a condition nor a file; {remedy}")])
        document = read_catalogue_condition(text) if in_catalogue else read_document(text)
        return self.condition_in(document, text if in_catalogue else None)

    def condition_in(self, document: Document, name: str | None = None) -> ResolvedCondition:
        """Return the one condition of a document, resolved for this network.

        Args:
            name: of the condition, in place of the document's.

        Raises: SpecErrors: the document has not exactly one condition, or that does not fit this network.
        """
        named = conditions_of(document)
        if len(named) != 1:
            raise SpecErrors([Problem(document.name, 1, 1, f"has {len(named)} conditions; keep one")])
        ((path, data),) = items(document.data)
        problems = [
            document.problem((*path, *inner), describe((*path, *inner), message))
            for inner, message in condition_findings(data, self.setting)
        ]
        if problems:
            raise SpecErrors(problems)
        ((own_name, condition),) = named.items()
        return self._resolve(name or own_name, condition)

    def _resolve(self, name: str, condition: Condition) -> ResolvedCondition:
        if condition.faults and not (condition.faults.until_ns or self.setting.tested.measured_ns):
            message = "faults needs `until` in a network without an end; add until: 60s"
            raise CrosswindError(f"condition {name}: {message}")
        return resolve_condition(name, condition, self.topology, self.scale, tested=self.setting.tested)


def carried_out(condition: ResolvedCondition) -> ResolvedCondition:
    """Return a resolved condition that the agent can apply by itself.

    Raises: CrosswindError: it needs processes that only a run starts.
    """
    if condition.is_real:
        raise CrosswindError(
            f"condition {condition.name}: `by: iperf3` is interference that only `crosswind run` starts; "
            "write `by: ghost`, or start iperf3 in the nodes yourself"
        )
    for step in condition.timeline:
        for fault in step.nodes:
            by_hand = f", and write `crosswind fault {fault.do} {fault.node}` when it is due"
            raise CrosswindError(
                f"condition {condition.name}: {fault.do} {fault.node} at {TIME.text(step.at_ns)} is a fault "
                "that only `crosswind run` carries out; remove it"
                + ("" if fault.do in ("squeeze", "disk", "release") else by_hand)
            )
    return condition


def load_setup(source: Source, kept: Mapping[str, Path] = MappingProxyType({})) -> Setup:
    """Read a file that has a topology.

    Args:
        kept: copies of files that it names, where the files are no longer beside it.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    return setup_of(read_document(source, kept))


def setup_of(document: Document) -> Setup:
    """As `load_setup`, for a document that has been read."""
    document = with_own_nodes(document)
    network = {str(key): value for (key,), value in items(document.data) if key in ("topology", "scale")}
    if isinstance(document.data, dict) and {"application", "trials", "conditions"} & set(document.data):
        experiment = experiment_of(document)
        conditions = dict(named_conditions(experiment))
        return Setup(
            experiment.topology,
            experiment.scale,
            conditions,
            setting_of(document),
            network,
            _dilations(experiment.time),
        )
    problems: list[Problem] = []
    file = read(TypeAdapter(SetupFile), document, problems)
    problems += [*topology_problems(document), *time_problems(document)]
    problems += conditions_problems(document, [("condition",)])
    if problems or file is None:
        raise SpecErrors(problems)
    entry = file.condition
    conditions = {entry: load_catalogue_condition(entry)} if isinstance(entry, str) else dict(entry)
    setting = setting_of(document)
    return Setup(file.topology, file.scale, conditions, setting, network, _dilations(file.time))


def _dilations(time: Time | None) -> list[int]:
    return [] if time is None else time.dilation

"""The experiment file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, PrivateAttr, Tag

from crosswind.spec.backend import CROSSWIND, BackendEntry
from crosswind.spec.base import SpecModel
from crosswind.spec.condition import Condition
from crosswind.spec.design import CONDITIONS_MAX, Design, Point
from crosswind.spec.dilation import Time
from crosswind.spec.factor import Factor
from crosswind.spec.names import condition_name, name_rule
from crosswind.spec.published import PublishedEntry
from crosswind.spec.testbed import LOCAL, TestbedEntry
from crosswind.spec.topology import Topology
from crosswind.spec.trials import Trials

Name = Annotated[
    str,
    AfterValidator(
        name_rule("an experiment", r"[a-z0-9][a-z0-9._-]*", "of a-z, 0-9, hyphen, dot, underscore", 64)
    ),
]
ConditionName = Annotated[str, AfterValidator(condition_name)]
FactorName = Annotated[
    str,
    AfterValidator(name_rule("a factor", r"[a-z][a-z0-9_]*", "of a-z, 0-9, underscore, a letter first", 32)),
]


def _name_or_inline(value: object) -> str:
    return "inline" if isinstance(value, dict) else "name"


ConditionEntry = Annotated[
    Annotated[str, Tag("name")]
    | Annotated[dict[ConditionName, Condition], Field(min_length=1, max_length=1), Tag("inline")],
    Discriminator(_name_or_inline),
]


class Experiment(SpecModel):
    """Everything that is run and recorded, in one file."""

    name: Name = Field(description="Also the results folder's name.")
    summary: str = Field("", description="One line: the question of the experiment.")
    source: str = Field("", description="Where the set-up comes from.")
    topology: Topology
    testbed: TestbedEntry = Field(
        LOCAL,
        description="Where it runs: `local`, this machine, `ssh` to others, or the name of a provider that "
        "makes them; `local` when absent.",
    )
    backend: BackendEntry = Field(
        CROSSWIND,
        description="What carries the packets: `crosswind`, its emulator; `ovs`, Open vSwitch; `tc`, the "
        "kernel. `crosswind` when absent.",
    )
    overlay: Literal["vxlan"] | None = Field(
        None,
        description="A network on top: `vxlan` puts a VXLAN device into every node, as Docker's overlay "
        "does. Packets are 50 bytes longer, and the MTU is as much smaller. None when absent.",
    )
    scale: float = Field(
        1.0, gt=0, le=1, description="Every rate, buffer, burst and budget is multiplied by it."
    )
    time: Time | None = Field(
        None, description="How fast time passes in the nodes; as everywhere when absent."
    )
    factors: dict[FactorName, Factor] | None = Field(
        None,
        min_length=1,
        description="What varies between conditions: levels, written in a condition as `$name`.",
    )
    design: Design | None = Field(
        None, description="Which combinations of levels become conditions; every one when absent."
    )
    conditions: list[ConditionEntry] = Field(
        min_length=1,
        max_length=CONDITIONS_MAX,
        description="Names of the catalogue, or `name: condition`; one with `$factor` in it stands for many.",
    )
    # Checks cover the number of keys and the name; the application's model reads the rest.
    application: dict[str, object] = Field(
        min_length=1,
        description="One application with its parameters, or with a `size` that fills them in.",
        json_schema_extra={"maxProperties": 1},
    )
    trials: Trials
    published: PublishedEntry | None = Field(
        None,
        description="Published results, shown beside the measured ones: a name of the catalogue, or written "
        "out.",
    )

    # The content of `application`, read by the application's own model; set once the file has no errors.
    _parameters: SpecModel = PrivateAttr()
    _size: str | None = PrivateAttr()
    _points: dict[str, Point] = PrivateAttr(default_factory=dict)

    @property
    def parameters(self) -> SpecModel:
        """The application's parameters."""
        return self._parameters

    @property
    def size(self) -> str | None:
        """The size that filled in the other parameters, if the file names one."""
        return self._size

    @property
    def points(self) -> dict[str, Point]:
        """The levels of conditions, by condition; those without factors are absent."""
        return self._points

    def with_points(self, points: dict[str, Point]) -> Experiment:
        """Return this experiment, whose conditions are written out, with their levels."""
        self._points = points
        return self

    def with_parameters(self, parameters: SpecModel, size: str | None) -> Experiment:
        """Return this experiment with its application's parameters, those of the size included."""
        self._parameters, self._size = parameters, size
        return self

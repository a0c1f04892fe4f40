"""The experiment file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, PrivateAttr, Tag

from crosswind.spec.base import SpecModel
from crosswind.spec.condition import Condition
from crosswind.spec.names import name_rule
from crosswind.spec.topology import Topology
from crosswind.spec.trials import Trials

Name = Annotated[
    str,
    AfterValidator(
        name_rule(
            "an experiment", r"[a-z0-9][a-z0-9._-]{0,63}", "up to 64 of a-z, 0-9, hyphen, dot, underscore"
        )
    ),
]
ConditionName = Annotated[
    str,
    AfterValidator(
        name_rule(
            "a condition",
            r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*",
            "a-z, 0-9, hyphen, dot, underscore, slash",
        )
    ),
]


def _name_or_inline(value: Any) -> str:
    return "inline" if isinstance(value, dict) else "name"


ConditionEntry = Annotated[
    Annotated[str, Tag("name")]
    | Annotated[dict[ConditionName, Condition], Field(min_length=1, max_length=1), Tag("inline")],
    Discriminator(_name_or_inline),
]


class Experiment(SpecModel):
    """Everything that is run and recorded, in one file."""

    name: Name = Field(description="Also the results folder's name.")
    summary: str = Field("", description="One line: what is asked.")
    source: str = Field("", description="Where the set-up comes from.")
    topology: Topology
    scale: float = Field(
        1.0, gt=0, le=1, description="Every rate, buffer, burst and budget is multiplied by it."
    )
    conditions: list[ConditionEntry] = Field(
        min_length=1, description="Names of the catalogue, or `name: condition`."
    )
    application: dict[str, dict[str, Any]] = Field(
        min_length=1,
        max_length=1,
        description="One application with its parameters, or with a `size` that fills them in.",
    )
    trials: Trials

    # What `application` says, read by the application's own model; set once the file is sound.
    _parameters: SpecModel = PrivateAttr()
    _size: str | None = PrivateAttr()

    @property
    def parameters(self) -> SpecModel:
        """The application's parameters."""
        return self._parameters

    @property
    def size(self) -> str | None:
        """The size that filled in the other parameters, if one was named."""
        return self._size

    def with_parameters(self, parameters: SpecModel, size: str | None) -> Experiment:
        """Return this experiment with its application's parameters, those of the size included."""
        self._parameters, self._size = parameters, size
        return self

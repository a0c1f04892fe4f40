"""How fast our load generator goes: as fast as answers come, or at instants fixed in advance."""

from typing import Literal

from pydantic import Field, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import OperationRate


class Pace(SpecModel):
    """What applications with our load generator have in common among their parameters."""

    rate: OperationRate | None = Field(
        None,
        description="Operations per second of all connections together (an open loop); a closed loop when "
        "absent.",
    )
    arrivals: Literal["even", "poisson"] = Field(
        "even",
        description="How operations with a rate follow one another: evenly spaced, or at random and "
        "independently, as those of many users do; even when absent.",
    )

    @model_validator(mode="after")
    def _arrivals_have_a_rate(self) -> "Pace":
        if self.rate is None and "arrivals" in self.model_fields_set:
            raise ValueError(
                "`arrivals` says nothing about a closed loop; add `rate: 1000/s`, or leave it out"
            )
        return self

    @property
    def pace_arguments(self) -> tuple[str, ...]:
        """What `crosswind-load` is told; even arrivals are its own default."""
        if self.rate is None:
            return ()
        arrivals = () if self.arrivals == "even" else ("--arrivals", self.arrivals)
        return ("--rate", f"{self.rate:g}", *arrivals)

"""The pace of our load generator: as fast as answers arrive, or at instants fixed in advance."""

from typing import Literal

from pydantic import Field, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import OperationRate


class Pace(SpecModel):
    """The parameters that all applications with our load generator share."""

    rate: OperationRate | None = Field(
        None,
        description="Operations per second of all connections together (an open loop); a closed loop when "
        "absent.",
    )
    arrivals: Literal["even", "poisson"] = Field(
        "even",
        description="Arrival process of operations with a rate: evenly spaced, or Poisson, like requests of "
        "many independent users; even when absent.",
    )

    @model_validator(mode="after")
    def _arrivals_have_a_rate(self) -> "Pace":
        if self.rate is None and "arrivals" in self.model_fields_set:
            raise ValueError(
                "`arrivals` has no meaning in a closed loop; add `rate: 1000/s`, or leave it out"
            )
        return self

    @property
    def pace_arguments(self) -> tuple[str, ...]:
        """Arguments of `crosswind-load`; even arrivals are its default."""
        if self.rate is None:
            return ()
        arrivals = () if self.arrivals == "even" else ("--arrivals", self.arrivals)
        return ("--rate", f"{self.rate:g}", *arrivals)

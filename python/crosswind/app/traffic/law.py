"""Lengths of messages in the experiment file: a size, or a distribution with its parameters."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import Size

WEB_SEARCH = "web-search"


class Uniform(SpecModel):
    """All sizes of a range, with equal probability."""

    least_bytes: Size = Field(alias="least")
    most_bytes: Size = Field(alias="most")

    @model_validator(mode="after")
    def _is_a_range(self) -> "Uniform":
        if self.least_bytes > self.most_bytes:
            raise ValueError("has `least` above `most`; exchange them")
        return self


class Exponential(SpecModel):
    """Many short messages, few long ones."""

    mean_bytes: Size = Field(alias="mean")


class Pareto(SpecModel):
    """Heavy-tailed: with a shape below 2, the variance is infinite, and no trial shows the mean."""

    mean_bytes: Size = Field(alias="mean")
    shape: Annotated[float, Field(gt=1, le=100)] = Field(description="Tail index, above 1.")


class UniformLaw(SpecModel):
    """Drawn from a uniform distribution."""

    uniform: Uniform

    def __str__(self) -> str:
        return f"uniform:{self.uniform.least_bytes}:{self.uniform.most_bytes}"


class ExponentialLaw(SpecModel):
    """Drawn from an exponential distribution."""

    exponential: Exponential

    def __str__(self) -> str:
        return f"exponential:{self.exponential.mean_bytes}"


class ParetoLaw(SpecModel):
    """Drawn from a Pareto distribution."""

    pareto: Pareto

    def __str__(self) -> str:
        return f"pareto:{self.pareto.mean_bytes}:{self.pareto.shape!r}"


_LAWS = ("uniform", "exponential", "pareto")


def _kind(value: object) -> str:
    if value == WEB_SEARCH:
        return "name"
    for law in _LAWS:
        if hasattr(value, law) or (isinstance(value, dict) and law in value):
            return law
    # The error for an unknown distribution names the keys of the first one.
    return _LAWS[0] if isinstance(value, dict) else "size"


# `str()` of each is an argument of `crosswind-load traffic --size`.
SizeLaw = Annotated[
    Annotated[Size, Tag("size")]
    | Annotated[Literal["web-search"], Tag("name")]
    | Annotated[UniformLaw, Tag("uniform")]
    | Annotated[ExponentialLaw, Tag("exponential")]
    | Annotated[ParetoLaw, Tag("pareto")],
    Discriminator(_kind),
]

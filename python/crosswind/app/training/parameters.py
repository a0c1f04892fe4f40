"""The parameters of a training, and the sizes that follow from them."""

from typing import Annotated

from pydantic import Field

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import PositiveDuration

# Of an element of the gradient, in single precision.
_ELEMENT_BYTES = 4


class TrainingParameters(SpecModel):
    """The network, the batch, and the number of steps."""

    width: Annotated[int, Field(ge=1, le=256)] = Field(
        4,
        description="Channels of the first convolution; the number of parameters is "
        "3186 width^2 + 380 width + 10. 4 (52506 parameters) when absent.",
    )
    batch: Annotated[int, Field(ge=1, le=65_536)] = Field(
        32, description="Samples of each worker in a step; 32 when absent."
    )
    steps: Annotated[int, Field(ge=10, le=10_000_000)] = Field(
        200, description="Measured steps; 200 when absent."
    )
    warm_up_steps: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        20, description="Steps before the measured ones; 20 when absent."
    )
    longest_ns: PositiveDuration = Field(
        1_800_000_000_000,
        alias="longest",
        description="Time limit of a trial, which fails if it takes longer; 30min when absent.",
    )

    @property
    def model_parameters(self) -> int:
        """The number of parameters of the network.

        Convolutions of 5 x 5 from 1 to w and from w to 2w channels; each halves the 28 x 28 pixels; then
        7 x 7 x 2w inputs to 32w and 32w to 10, all with a bias:
        (25 w + w) + (50 w^2 + 2w) + (98 w x 32 w + 32 w) + (320 w + 10).
        """
        return 3186 * self.width**2 + 380 * self.width + 10

    @property
    def gradient_bytes(self) -> int:
        """Bytes of the gradient, which every worker shares in every step."""
        return _ELEMENT_BYTES * self.model_parameters

    def least_sent_bytes(self, workers: int) -> float:
        """Return the bytes that every worker must send in a step so that all know the mean gradient.

        Every part of the gradient must reach one worker and return from it: 2 (n - 1) / n of the gradient.
        Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009, section 3.
        """
        return 2 * (workers - 1) / workers * self.gradient_bytes

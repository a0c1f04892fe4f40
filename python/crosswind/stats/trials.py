"""One value per trial, as every interval needs it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from crosswind.errors import CrosswindError
from crosswind.stats.values import Refused, flat

_TRIALS_MAX = 1_000_000


class NotPerTrial(CrosswindError, TypeError):
    """An interval was requested for values that are not one per trial."""


@dataclass(frozen=True)
class PerTrial:
    """Values of independent trials, one each; `trials[i]` gave `values[i]`.

    Made with `PerTrial.of` from a mapping. Its keys are distinct, so operations of one trial cannot be passed
    as trials.
    """

    trials: tuple[str, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.trials) != len(self.values):
            raise Refused(
                f"{len(self.trials)} trials but {len(self.values)} values; give one value per trial"
            )
        if len(set(self.trials)) != len(self.trials):
            raise NotPerTrial(
                "a trial appears twice: operations of one trial share its network and its time, so they "
                "are one observation; reduce each trial to one value first, for example its own P99"
            )
        for trial, value in zip(self.trials, self.values, strict=True):
            if math.isnan(value):
                raise Refused(f"trial {trial}: NaN has no rank; give None for a trial that failed")

    @classmethod
    def of(cls, values: Mapping[str, float | None], failed: float = math.inf) -> "PerTrial":
        """Return the values of `values`, in its order.

        Args:
            values: trial -> value, any unit; None for a trial that failed.
            failed: the value of a failed trial: the worst possible one (+inf where lower is better, as for a
                latency; -inf where higher is better), so that failures have their rank and are not dropped.
        """
        return cls(
            tuple(values), tuple(failed if value is None else float(value) for value in values.values())
        )

    @classmethod
    def numbered(cls, values: ArrayLike) -> "PerTrial":
        """Return plain numbers as trials 1 to n; the caller is responsible that they are independent.

        Args:
            values: shape (n,), any unit; +inf for a trial that failed.
        Raises:
            NotPerTrial: more than a million values, which cannot be trials.
            Refused: a value is NaN.
        """
        numbers = flat(values)
        if numbers.size > _TRIALS_MAX:
            raise NotPerTrial(
                f"{numbers.size} values: too many for trials, so these are operations; reduce each "
                "trial to one value first, for example its own P99"
            )
        return cls(tuple(str(number) for number in range(1, numbers.size + 1)), tuple(numbers.tolist()))

    def __len__(self) -> int:
        return len(self.values)


def require_per_trial(values: object) -> PerTrial:
    """Return `values` if they are one per trial.

    Raises: NotPerTrial: they are something else; the message has the reason.
    """
    if not isinstance(values, PerTrial):
        raise NotPerTrial(
            f"{type(values).__name__}: an interval needs one value per trial "
            f"(PerTrial.of({{trial: value}})); pooled operations of few trials give intervals many times too "
            "narrow, because operations of one trial are not independent"
        )
    return values

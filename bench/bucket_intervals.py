"""The coverage of intervals of token buckets, on traces in virtual time.

No network is needed. Samples deviate by 5 %, independently or with a correlation of 0.8 from one to the next.
`--rounds` repeats each case with other traces.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from statistics import median

from bench.bucket_traces import SimulatedBucket
from bench.figures import Figure, figure
from crosswind.fingerprint.bucket.token_bucket import identify

TRACES = 200  # of each case and round; the standard error of a share is 1.5 % at 95 %
HELD = "at least 93"
NOISE = 0.05
MEMORIES = (0.0, 0.8)


@dataclass(frozen=True)
class Case:
    """A bucket and its load: seconds on and off, in samples of `sample_s`."""

    name: str
    bucket: SimulatedBucket
    on_off: tuple[tuple[float, float], ...]
    sample_s: float

    def read(self, number: tuple[int, ...]) -> dict[str, tuple[bool, float, float]]:
        """Return for each identified figure whether its interval contains the truth, its width and its error.

        Args:
            number: of the trace.
        """
        bucket = self.bucket
        found = identify(bucket.trace(self.on_off, self.sample_s, number))
        held = bucket.budget if bucket.tokens is None else bucket.tokens
        truth = {"high": bucket.high, "low": bucket.low, "refill": bucket.refill, "budget": held}
        ranges = {
            "high": found.high_bps,
            "low": found.low_bps,
            "refill": found.refill_bps,
            "budget": found.budget_bits,
        }
        return {
            name: (
                of.low <= truth[name] <= of.high,
                (of.high - of.low) / truth[name],
                of.value / truth[name] - 1,
            )
            for name, of in ranges.items()
            if of is not None
        }


CASES = (
    Case("full speed, 120 of 1 s", SimulatedBucket(budget=543.0), ((120, 0),), 1.0),
    Case("10-30, 200 of 1 s", SimulatedBucket(budget=270.0), ((10, 30),) * 20, 1.0),
    Case("5-30, 200 of 0.5 s", SimulatedBucket(budget=90.0), ((5, 30),) * 20, 0.5),
    Case("as a fingerprint, 108 of 50 ms", SimulatedBucket(budget=18.0), ((3.5, 4), (1.9, 0)), 0.05),
    Case("nearly empty, 70 of 1 s", SimulatedBucket(budget=500.0, tokens=40.0), ((60, 30), (10, 0)), 1.0),
    Case("not emptied, 60 of 1 s", SimulatedBucket(), ((60, 0),), 1.0),
    Case("10-30, 30 of 10 s", SimulatedBucket(budget=270.0), ((10, 30),) * 30, 10.0),
)


def bucket_intervals(rounds: int) -> Iterator[Figure]:
    """Yield how often each interval contains the truth, in per cent of the traces with an interval."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for kind, (case, memory) in enumerate(product(CASES, MEMORIES)):
            noisy = replace(case, bucket=replace(case.bucket, noise=NOISE, memory=memory))
            numbers = [(kind, turn, number) for turn in range(rounds) for number in range(TRACES)]
            yield from _shares(noisy, list(pool.map(noisy.read, numbers, chunksize=5)), rounds)


def _shares(case: Case, traces: list[dict[str, tuple[bool, float, float]]], rounds: int) -> Iterator[Figure]:
    for name in ("high", "low", "refill", "budget"):
        turns = [
            [one[name] for one in traces[turn * TRACES : (turn + 1) * TRACES] if name in one]
            for turn in range(rounds)
        ]
        if not all(turns):
            continue
        every = [one for turn in turns for one in turn]
        yield figure(
            f"the interval of the {name} holds the truth: {case.name}, memory {case.bucket.memory:g}",
            "%",
            [100 * sum(held for held, _, _ in turn) / len(turn) for turn in turns],
            HELD,
            traces=len(every),
            width_median=round(median(width for _, width, _ in every), 5),
            error_median=round(median(abs(error) for _, _, error in every), 5),
        )

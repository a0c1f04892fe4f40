"""The plan of a trial: the workload, its size, the cluster, and the files that the driver uses."""

import json
from dataclasses import asdict, dataclass

from .size import SIZES, AnySize


@dataclass(frozen=True)
class Plan:
    """What `crosswind.app.spark.driver` writes as JSON, and the driver reads.

    Args:
        workload: one of `SIZES`.
        master: URL of the cluster.
        workers: the number of executors to wait for.
        executors_wait_s: time limit of that wait, s.
        storage: URI below which inputs and outputs lie.
        warm_up, measured: the sizes of a warm-up run and of the measured one.
        begin: a file that tells the driver to begin, once it exists.
        outcome: the file that the driver writes at its end.
        conf: properties of Spark.
    """

    workload: str
    seed: int
    master: str
    workers: int
    executors_wait_s: float
    storage: str
    warm_up_runs: int
    warm_up: AnySize
    measured: AnySize
    begin: str
    outcome: str
    conf: dict[str, str]

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def read(text: str) -> "Plan":
        """Return the plan that `text` wrote."""
        values = json.loads(text)
        size = SIZES[values["workload"]]
        sizes = {key: size(**values[key]) for key in ("warm_up", "measured")}
        return Plan(**{**values, **sizes})

"""The least resources that a trial needs, as far as they follow from an application's parameters."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Demand:
    """Memory and disk space of all nodes together; 0 if the parameters determine nothing worth checking.

    Attributes:
        memory_bytes: memory.
        work_bytes: disk space for the files of the running trial.
        kept_bytes: disk space for data that are made once and used by every trial; needed until they exist.
        remedy: what to change on a smaller machine, such as `write fewer records`.
    """

    memory_bytes: int = 0
    work_bytes: int = 0
    kept_bytes: int = 0
    remedy: str = "reduce the parameters"

"""What a trial takes of a machine at the least, as far as an application's parameters say it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Demand:
    """Memory and disk, of all nodes together; 0 where the parameters say nothing worth checking.

    Attributes:
        memory_bytes: of memory.
        work_bytes: of disk, for the files of the trial in progress.
        kept_bytes: of disk, for what is made once and kept for every trial; asked for until it is there.
        remedy: what to write instead on a smaller machine, such as `write fewer records`.
    """

    memory_bytes: int = 0
    work_bytes: int = 0
    kept_bytes: int = 0
    remedy: str = "ask for less"

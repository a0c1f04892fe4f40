"""A workload: an input that the seed determines, a measured run, an output that is checked."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from pyspark.sql import SparkSession

from .outcome import Checked, Part
from .size import Size

SizeT = TypeVar("SizeT", bound=Size)


class NotValid(Exception):
    """The output is wrong."""


class Job(ABC, Generic[SizeT]):
    """A workload of one size; all of its files lie below `folder`, a URI.

    Attributes:
        parts: those parts of the run that have a time of their own.
    """

    def __init__(self, spark: SparkSession, folder: str, seed: int, size: SizeT) -> None:
        self.spark = spark
        self.seed = seed
        self.size = size
        self.input = f"{folder}/input"
        self.output = f"{folder}/output"
        self.parts: list[Part] = []

    @abstractmethod
    def make_input(self) -> None:
        """Write the input, which depends only on seed and size."""

    @abstractmethod
    def run(self) -> None:
        """Run the workload once."""

    @abstractmethod
    def validate(self) -> Checked:
        """Check the output, and return what was checked.

        Raises: NotValid: the output is wrong.
        """

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure the time of a part of the run, and mark its stages in the event log."""
        self.spark.sparkContext.setLocalProperty("crosswind.part", name)
        started_ns = time.monotonic_ns()
        yield
        self.parts.append(Part(name, time.monotonic_ns() - started_ns))
        self.spark.sparkContext.setLocalProperty("crosswind.part", None)


def check(holds: bool, what: str) -> None:
    """Raise NotValid with `what` unless it holds."""
    if not holds:
        raise NotValid(what)

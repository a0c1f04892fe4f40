"""A user's load: its warm-up, its measured phase, and reading its output."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from crosswind.app.base import Load, LoadOutcome
from crosswind.app.command.measured import NS_PER_S, MeasuredParameters
from crosswind.app.command.metric import VALUE, OwnMetric
from crosswind.app.command.result import NoResult, column_of, from_json, from_regex, statistics_of
from crosswind.app.written import Facts
from crosswind.results.measurement import LoadConnection
from crosswind.results.rows import Metric
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process
from crosswind.testbed.outputs import HEAD_BYTES, TAIL_BYTES

# The first line of a file of operations: contracts.md, section 4.
_OPERATIONS = "operation,connection,intended_ns,started_ns,finished_ns,ok,measured"
_CONNECTIONS = "connection,local,remote"
# Limit for a file that is searched as one text; a file of numbers is read line by line, without a limit.
_TEXT_BYTES_MAX = 64 << 20
_NAMES_SHOWN = 12


class OwnFacts(Facts):
    """The facts of a trial.

    Attributes:
        command: the load, with its variables filled in.
        elapsed_ns: from the end of the warm-up to the end of the load.
        connections: of the load; empty if it does not write them.
    """

    command: list[str]
    elapsed_ns: int
    connections: list[LoadConnection]


class OwnLoad(Load):
    """A load that parameters describe.

    Args:
        parameters: its phases and metrics.
        start: starts the load.
        start_warm_up: starts the warm-up command, which runs to its end before the load; None without one.
        folder: the working folder of the load.
        command: of the load, for the facts.
    """

    def __init__(
        self,
        parameters: MeasuredParameters,
        start: Callable[[], Process],
        start_warm_up: Callable[[], Process] | None,
        folder: Path,
        command: list[str],
    ) -> None:
        self.longest_s = parameters.longest_s * (1 if start_warm_up is None else 2)
        self._parameters = parameters
        self._start = start
        self._folder = folder
        self._command = command
        self._warms_up_first = start_warm_up is not None
        self.process = (start_warm_up or start)()
        self._began_ns = self.process.started_ns

    def await_measured_phase(self) -> None:
        if self._warms_up_first:
            warm_up, longest_s = self.process, self._parameters.longest_s
            ended = warm_up.wait(longest_s)
            if ended is None:
                warm_up.stop(1)
                raise TestbedError(f"{warm_up}: still running after {longest_s:g} s; {warm_up.last_words()}")
            if ended != Ended(0, None):
                raise TestbedError(f"{warm_up}: {ended}; {warm_up.last_words()}")
            self.process = self._start()
            self._began_ns = self.process.started_ns
        else:
            self.process.wait(self._parameters.warm_up_ns / NS_PER_S)
            self._began_ns += self._parameters.warm_up_ns

    def outcome(self) -> LoadOutcome:
        ended = self.process.ended
        assert ended is not None
        assert ended.at_ns is not None
        elapsed_ns = ended.at_ns - self._began_ns
        if elapsed_ns <= 0:
            raise TestbedError(
                f"{self.process}: ended during its warm-up of {self._parameters.warm_up_ns / NS_PER_S:g} s, "
                "so nothing was measured; let it run longer, or shorten `warm_up`"
            )
        metrics = [
            Metric(self.process.node, name, metric.base_unit, statistic, value)
            for name, metric in self._parameters.metrics.items()
            for statistic, value in self._read(name, metric, elapsed_ns).items()
        ]
        operations = self._parameters.operations
        return LoadOutcome(
            None if operations is None else self._operations(operations.file),
            tuple(metrics),
            OwnFacts(
                command=self._command,
                parameters={"rate": None if operations is None else operations.rate},
                elapsed_ns=elapsed_ns,
                connections=self._connections(),
            ),
        )

    def _read(self, name: str, metric: OwnMetric, elapsed_ns: int) -> dict[str, float]:
        """Return the statistics of a metric, in its base unit."""
        if metric.unit is None:
            return {VALUE: float(elapsed_ns)}
        source = metric.samples or metric.file
        where = f"{self.process}: metric {name}: {source or 'its output'}"
        left_out = ""
        try:
            if metric.samples is not None:
                with self._file(metric.samples, where).open("rb") as lines:
                    return statistics_of(column_of(lines, metric.column), metric.unit)
            if metric.file is not None:
                text = self._text(metric.file, where)
            else:
                own = self.process.output()
                text = own.text
                if own.left_out_bytes:
                    left_out = (
                        f"; {own.left_out_bytes} bytes in its middle were left out, as it is longer than "
                        f"{(HEAD_BYTES + TAIL_BYTES) >> 20} MiB: write the result to a file (`in: FILE`)"
                    )
            if metric.json_path is not None:
                return {VALUE: from_json(text, metric.json_path, metric.unit)}
            assert metric.regex is not None
            return {VALUE: from_regex(text, metric.regex, metric.unit)}
        except NoResult as error:
            raise TestbedError(f"{where}: {error}{left_out}") from None

    def _text(self, file: str, where: str) -> str:
        path = self._file(file, where)
        size = path.stat().st_size
        if size > _TEXT_BYTES_MAX:
            raise TestbedError(f"{where}: has {size} bytes; at most {_TEXT_BYTES_MAX} are read; write less")
        return path.read_text(errors="replace")

    def _operations(self, file: str) -> Path:
        where = f"{self.process}: operations: {file}"
        path = self._file(file, where)
        with path.open(errors="replace") as lines:
            header = lines.readline(1 + len(_OPERATIONS)).rstrip("\n")
        if header != _OPERATIONS:
            raise TestbedError(f'{where}: begins with "{header}"; its first line must be {_OPERATIONS}')
        return path

    def _connections(self) -> list[LoadConnection]:
        """Return the ends of its connections; empty if the load does not write them."""
        operations = self._parameters.operations
        if operations is None or operations.connections is None:
            return []
        where = f"{self.process}: connections: {operations.connections}"
        header, *lines = self._text(operations.connections, where).splitlines() or [""]
        if header != _CONNECTIONS:
            raise TestbedError(f'{where}: begins with "{header}"; its first line must be {_CONNECTIONS}')
        rows = [line.split(",") for line in lines]
        for number, row in enumerate(rows, start=2):
            if len(row) != 3 or not row[0].isdecimal():
                raise TestbedError(f"{where}:{number}: must look like 0,10.77.0.4:40001,10.77.0.1:5432")
        return [LoadConnection(connection=int(n), local=local, remote=remote) for n, local, remote in rows]

    def _file(self, name: str, where: str) -> Path:
        """Return a file that the load wrote, but not one outside its folder that a link leads to."""
        path = self._folder / name
        with suppress(FileNotFoundError):
            self.process.wrote(path)
        if not path.is_file():
            found = sorted(entry.name for entry in self._folder.iterdir())[:_NAMES_SHOWN]
            raise TestbedError(
                f"{where}: the load has not written it; its folder has {', '.join(found) or 'no files'}"
            )
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise TestbedError(f"{where}: is a link that leads out of its folder; write the file itself")
        return path

"""The file of all pairs over days: JSON lines that are appended while they are measured.

The first line says what is measured. A line for each sitting, a run of the command, says when it began. A
line for each ordered pair has its figures, and is on disk as soon as the pair is measured. So a killed run
loses only the pairs that it was measuring, and the same command continues with what its round still lacks.

Format: docs/reference/contracts.md, section 9.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from crosswind.analysis.network.part import problem_of
from crosswind.fingerprint.between.document import BetweenMachine, PairFigures
from crosswind.fingerprint.between.schedule import Pair
from crosswind.fingerprint.regime.appended import AppendedLines, RegimeFileError
from crosswind.fingerprint.regime.points import RegimePart

SCHEMA = 1
# A line whose numbers all have the greatest length, and a reason.
LINE_BYTES = 800


class RoundsHeader(RegimePart):
    """What is measured; a file is only continued with the same.

    Attributes:
        pattern: seconds for which each machine sends to each other one, and of the rest after a round.
        provenance: of the machine that measures, before the first pair.
    """

    schema_version: int = Field(SCHEMA, alias="schema")
    pattern: str = Field(alias="pairs_regime")
    machines: list[BetweenMachine]
    connections: int
    provenance: dict[str, JsonValue]

    def differences(self, other: RoundsHeader) -> list[str]:
        """Return in what another header differs, without the machine's state."""
        found = []
        if self.pattern != other.pattern:
            found.append(f"pattern {self.pattern} in the file, {other.pattern} now")
        names = [[machine.name for machine in header.machines] for header in (self, other)]
        if names[0] != names[1]:
            found.append(f"machines {', '.join(names[0])} in the file, {', '.join(names[1])} now")
        return found


class PairSitting(RegimePart):
    """The line of a sitting: when it began, date and time in UTC."""

    sitting: str


class PairMeasured(RegimePart):
    """The line of an ordered pair.

    Attributes:
        round: from 1.
        at: when it had been measured, date and time in UTC.
        after_s: the same since the sitting began, on a clock that nobody sets.
        sent_bytes: payload.
    """

    round: int
    at: str
    after_s: float
    sent_bytes: int
    figures: PairFigures


_LINE: TypeAdapter[PairSitting | PairMeasured] = TypeAdapter(PairSitting | PairMeasured)


@dataclass(frozen=True)
class RoundsRecord:
    """The content of a file.

    Attributes:
        sittings_s: how long each sitting measured, until its last pair.
    """

    header: RoundsHeader
    sittings_s: tuple[float, ...] = ()
    measured: tuple[PairMeasured, ...] = ()

    @property
    def measured_s(self) -> float:
        """Of all sittings, without the gaps between them."""
        return sum(self.sittings_s)

    def next_round(self) -> tuple[int, list[Pair]]:
        """Return the number of the round that is measured next, and the pairs that it already has."""
        last = self.measured[-1].round if self.measured else 1
        names = [machine.name for machine in self.header.machines]
        order = {name: number for number, name in enumerate(names)}
        directions = {
            (line.figures.source, line.figures.target) for line in self.measured if line.round == last
        }
        # A pair is measured again where only one of its directions was stored.
        done = [
            pair
            for pair in sorted(directions)
            if pair[::-1] in directions and order[pair[0]] < order[pair[1]]
        ]
        if len(done) == len(names) * (len(names) - 1) // 2:
            return last + 1, []
        return last, done


def is_rounds(content: bytes) -> bool:
    """Return whether a file begins like one of all pairs over days."""
    try:
        first = json.loads(content.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "pairs_regime" in first


def read_rounds(content: bytes) -> RoundsRecord:
    """Return the content of a file, as far as it is complete. Pure.

    Raises: ValueError: a line is wrong; names it.
    """
    first, *lines = content.split(b"\n")[:-1] or [b""]
    sittings_s: list[float] = []
    measured: list[PairMeasured] = []
    number = 1  # Of the line that is being read, for messages.
    try:
        header = RoundsHeader.model_validate_json(first)
        if header.schema_version != SCHEMA:
            raise ValueError(f"schema {header.schema_version}; this crosswind reads {SCHEMA}")
        names = {machine.name for machine in header.machines}
        for line in lines:
            number += 1
            match _LINE.validate_json(line):
                case PairSitting():
                    sittings_s.append(0.0)
                case PairMeasured() as pair:
                    if not {pair.figures.source, pair.figures.target} <= names or not sittings_s:
                        raise ValueError("it is of no machine, or before the first sitting")
                    sittings_s[-1] = max(sittings_s[-1], pair.after_s)
                    measured.append(pair)
    except ValidationError as error:
        raise ValueError(f"line {number}: is no line of all pairs over days ({problem_of(error)})") from None
    except ValueError as error:
        raise ValueError(f"line {number}: is no line of all pairs over days ({error})") from None
    return RoundsRecord(header, tuple(sittings_s), tuple(measured))


class RoundsRecorder:
    """The file, open for appending.

    Attributes:
        before: what it had.
    """

    def __init__(self, file: AppendedLines, before: RoundsRecord) -> None:
        self._file = file
        self.before = before

    @classmethod
    @contextmanager
    def open(cls, path: Path, header: RoundsHeader) -> Iterator[Self]:
        """Create a file, or continue it.

        Raises: RegimeFileError: it holds something else, another process writes it, or the disk is full.
        """
        pairs = len(header.machines) * (len(header.machines) - 1)
        with AppendedLines.open(path, _line(header), pairs * LINE_BYTES) as file:
            before = RoundsRecord(header)
            if file.content is not None:
                try:
                    before = read_rounds(file.content)
                except ValueError as error:
                    raise RegimeFileError(f"{path}: {error}; give another --out") from None
                if differences := before.header.differences(header):
                    raise RegimeFileError(
                        f"{path}: holds another measurement ({'; '.join(differences)}); give the same "
                        "options, or another --out"
                    )
            yield cls(file, before)

    def sit(self, began: str) -> None:
        """Begin a sitting."""
        self._file.append(_line(PairSitting(sitting=began)))

    def add(self, pair: PairMeasured) -> None:
        """Append a pair."""
        self._file.append(_line(pair))


def _line(part: RegimePart) -> bytes:
    return json.dumps(part.model_dump(by_alias=True)).encode() + b"\n"

"""`crosswind fingerprint --testbed FILE`: measure the network between all machines of a testbed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.fingerprint.between.all_pairs import PairExtent
    from crosswind.fingerprint.between.document import BetweenDocument, BetweenMachine
    from crosswind.testbed import MachineAt

FOLDER, ROUNDS = Path("between"), Path("between.jsonl")


class PairsMissing(CrosswindError):
    """Some pairs were not measured; the table has said why."""

    exit = Exit.TRIALS


@dataclass(frozen=True)
class ReachedTestbed:
    """The machines of a testbed: how each is reached, and what is stored of it."""

    places: list[MachineAt]
    machines: list[BetweenMachine]

    @property
    def names(self) -> list[str]:
        """The names of the machines."""
        return [place.name for place in self.places]


@contextmanager
def reached(file: Path) -> Iterator[ReachedTestbed]:
    """Give the machines of a testbed's file; those of a provider are there while the block runs.

    Raises: CrosswindError: the file has errors, or fewer than two machines, or one has no address.
    """
    from crosswind.fingerprint.between.document import BetweenMachine
    from crosswind.spec.testbed_file import load_testbed
    from crosswind.testbed import MachineAt
    from crosswind.testbed.at_once import at_once
    from crosswind.testbed.providers.up import provided_machines
    from crosswind.testbed.ssh import SshTransport

    named = load_testbed(file)
    if named is None or len(named.machines) < 2:
        raise CrosswindError(f"{file}: a network is between two machines; list at least two")
    with provided_machines(named) as testbed:
        transports = [SshTransport.of(machine, ("between",)) for machine in testbed.machines]
        ways = list(zip(testbed.machines, transports, strict=True))
        addresses = at_once(lambda way: way[0].address or way[1].address(), ways)
        yield ReachedTestbed(
            [
                MachineAt(machine.name, transport, address)
                for (machine, transport), address in zip(ways, addresses, strict=True)
            ],
            [
                BetweenMachine(
                    name=machine.name,
                    address=address,
                    host=machine.labels.get("host"),
                    tenant=machine.labels.get("tenant"),
                )
                for machine, address in zip(testbed.machines, addresses, strict=True)
            ],
        )


def measure_testbed(file: Path, extent: PairExtent, out: Path | None, most_bytes: int, seed: int) -> None:
    """Measure all pairs into a folder, and print their figures.

    Args:
        out: the folder; a new one or an empty one.
        most_bytes: limit of the payload to send.
    Raises: PairsMissing: some pairs were not measured.
    """
    with reached(file) as testbed:
        found = _measure_into(FOLDER if out is None else out, testbed, extent, most_bytes, seed)
    missing = sum(pair.ended is not None for pair in found.pairs)
    if missing:
        raise PairsMissing(f"{missing} of {len(found.pairs)} ordered pairs were not measured; see above why")


def _measure_into(
    folder: Path, testbed: ReachedTestbed, extent: PairExtent, most_bytes: int, seed: int
) -> BetweenDocument:
    from rich.console import Console

    from crosswind.cli._output import console
    from crosswind.fingerprint.between.all_pairs import MeasuringMachines, measure_all
    from crosswind.fingerprint.between.document import PairFigures
    from crosswind.fingerprint.between.folder import make_folder, write_between, write_direction
    from crosswind.fingerprint.between.placement_table import print_placements
    from crosswind.fingerprint.between.schedule import schedule
    from crosswind.fingerprint.between.table import print_between
    from crosswind.fingerprint.measure.sent_bytes import SentBytes
    from crosswind.machine.provenance import provenance

    make_folder(folder, testbed.names)
    before = provenance(Path.cwd(), seed, {}).as_json()
    sent, pairs, rounds = SentBytes(most_bytes), list[PairFigures](), len(schedule(testbed.names))
    order = {name: number for number, name in enumerate(testbed.names)}
    with MeasuringMachines(testbed.places) as machines, Console(stderr=True).status("") as status:
        try:
            for found in measure_all(machines, extent, sent, status.update):
                pairs.append(write_direction(folder, found, before))
        finally:
            # What was measured until an interruption counts.
            pairs.sort(key=lambda pair: (order[pair.source], order[pair.target]))
            document = write_between(folder, testbed.machines, rounds, pairs, sent, before)
            status.stop()
            print_between(document, console())
            print_placements(document, console())
            click.echo(f"folder: {folder}")
    return document


def measure_over_days(
    file: Path, regime: str, wanted_ns: int | None, out: Path | None, most_bytes: int, seed: int
) -> None:
    """Measure all pairs in rounds into a file, or continue one, and print how the figures varied.

    Args:
        regime: seconds of each transfer, and of the rest after a round, such as 1-300.
        wanted_ns: total length, rests included.
        most_bytes: limit of the payload in the file.
    """
    from rich.console import Console

    from crosswind.cli._output import console
    from crosswind.fingerprint.between.all_pairs import CONNECTIONS, MeasuringMachines, PairExtent
    from crosswind.fingerprint.between.over_days import measure_rounds
    from crosswind.fingerprint.between.rounds import RoundsHeader, RoundsRecorder, read_rounds
    from crosswind.fingerprint.between.rounds_table import print_rounds
    from crosswind.fingerprint.measure.sent_bytes import SentBytes
    from crosswind.fingerprint.regime.pattern import Pattern
    from crosswind.machine.provenance import provenance

    if wanted_ns is None:
        raise CrosswindError("--regime: has no length; add --for, such as --for 24h")
    try:
        pattern = Pattern.read(regime)
    except ValueError as error:
        raise CrosswindError(f"--regime: {error}") from None
    if pattern.on_s is None:
        raise CrosswindError(
            f"--regime {regime}: pairs of machines take turns, so none sends all the time; write seconds of "
            "each transfer and of the rest after a round, such as 1-300"
        )
    path, wanted_s = ROUNDS if out is None else out, wanted_ns / 1e9
    if path.is_dir():
        raise CrosswindError(f"--out {path}: is a folder; name a file")
    sent = SentBytes(most_bytes)
    with reached(file) as testbed:
        header = RoundsHeader(
            pattern=str(pattern),
            machines=testbed.machines,
            connections=CONNECTIONS[0],
            provenance=provenance(Path.cwd(), seed, {}).as_json(),
        )
        with RoundsRecorder.open(path, header) as recorder, Console(stderr=True).status("") as status:
            sent.add(sum(line.sent_bytes for line in recorder.before.measured))
            if recorder.before.measured_s + pattern.off_s < wanted_s:
                extent = PairExtent(duration_s=pattern.on_s)
                with MeasuringMachines(testbed.places) as machines:
                    measure_rounds(machines, extent, recorder, wanted_s, pattern.off_s, sent, status.update)
    print_rounds(read_rounds(path.read_bytes()), console())
    click.echo(f"regime: {path}")

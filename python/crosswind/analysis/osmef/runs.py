"""Read the runs of OSMeF: a folder of JSON files for each scenario.

Every file is read, or refused by name; none is skipped.

Source: OSMeF (github.com/bigfootproject/OSMEF), the results of its study below `output/paper`. One file is
one run: `btc` has `conn_1`, `conn_2` ..., each the output of nuttcp at the receiver (`rx`) and the sender
(`tx`). `concurrent` is their number, `time` the start. `state_receiver` and `state_sender`, if present,
describe the machines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from crosswind.analysis.columns import BadSamples
from crosswind.analysis.osmef.file import end_of, number_of

_KB_IN_MB = 1024  # nuttcp's KB are 1024 bytes, and the report's MB are 1024 KB
_FILE_BYTES_MAX = 4 << 20  # 50 connections take 100 kB
_PROBLEMS_MAX = 10
_LATEST_S = 1e11  # of a `time`: the year 5138


@dataclass(frozen=True)
class OsmefTransfer:
    """One connection of a run, as nuttcp reports it."""

    rate_mb_s: float  # of the receiver, over its own time
    megabytes: float
    lasts_s: float
    rx_cpu_percent: float  # of one core, as nuttcp printed it: whole numbers
    tx_cpu_percent: float


@dataclass(frozen=True)
class OsmefRun:
    """One run: parallel transfers."""

    file: str  # its name, without the folder
    began_s: float
    machine: str  # describes the machines; empty where the file does not
    transfers: tuple[OsmefTransfer, ...]  # in the order of the file, which is the order in which they ended


def is_osmef(folder: Path) -> bool:
    """Return whether the first JSON file in a folder, or directly below it, is one of OSMeF."""
    if not folder.is_dir():
        return False
    first = next((file for files in _scenario_files(folder).values() for file in files), None)
    if first is None or first.stat().st_size > _FILE_BYTES_MAX:
        return False
    try:
        read = json.loads(first.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(read, dict) and "btc" in read


def read_osmef(folder: Path) -> dict[str, list[OsmefRun]]:
    """Return scenario -> its runs in the order of time; a scenario is named like its folder.

    Args:
        folder: of one scenario, or of several, a folder each.
    Raises: BadSamples: a file is no complete result; names the first ten.
    """
    scenarios: dict[str, list[OsmefRun]] = {}
    problems: list[str] = []
    for scenario, files in _scenario_files(folder).items():
        runs = []
        for file in files:
            try:
                runs.append(_run(file))
            except OSError as error:
                problems.append(f"{file}: cannot be read: {error.strerror}")
            except ValueError as error:
                problems.append(f"{file}: {error}")
        scenarios[scenario] = sorted(runs, key=lambda run: run.began_s)
    if len(problems) > _PROBLEMS_MAX:
        problems[_PROBLEMS_MAX:] = [f"{folder}: and {len(problems) - _PROBLEMS_MAX} more such files"]
    if problems:
        raise BadSamples("\n".join(problems))
    return scenarios


def _scenario_files(folder: Path) -> dict[str, list[Path]]:
    """Return scenario -> its JSON files, sorted by name."""
    folders = [folder, *sorted(inside for inside in folder.iterdir() if inside.is_dir())]
    files = {inside.resolve().name: sorted(inside.glob("*.json")) for inside in folders}
    return {scenario: of_it for scenario, of_it in files.items() if of_it}


def _run(file: Path) -> OsmefRun:
    if file.stat().st_size > _FILE_BYTES_MAX:
        raise ValueError(
            f"has more than {_FILE_BYTES_MAX >> 20} MiB, the limit for a run of OSMeF; remove the file"
        )
    try:
        read = json.loads(file.read_bytes())
    except RecursionError:
        raise ValueError("is nested too deeply to be a result of OSMeF") from None
    except ValueError as error:
        raise ValueError(f"is no whole JSON ({error}); remove the file") from None
    transfers = read.get("btc") if isinstance(read, dict) else None
    if not isinstance(transfers, dict) or not transfers:
        raise ValueError("has no transfers under `btc`, so it is no result of OSMeF; remove the file")
    if read.get("concurrent") != len(transfers):
        raise ValueError(
            f"concurrent: is {read.get('concurrent')!r}, but `btc` has {len(transfers)} transfers; "
            "remove the file"
        )
    began_s = read.get("time")
    if not isinstance(began_s, int | float) or not 0 <= began_s < _LATEST_S:
        raise ValueError(f"time: {began_s!r} is no number of seconds; without it runs have no order")
    states = [read.get(side) for side in ("state_receiver", "state_sender")]
    return OsmefRun(
        file.name,
        float(began_s),
        _machine(state for state in states if isinstance(state, dict)),
        tuple(_transfer(name, transfer) for name, transfer in transfers.items()),
    )


def _machine(states: Iterable[Mapping[str, JsonValue]]) -> str:
    """Return what stays the same on a machine while it is up: its memory and kernel.

    Equal descriptions of sender and receiver appear once, since some versions record only one.
    """
    texts = {
        ", ".join(
            text
            for text in (
                f"{state['mem_total']} kB of memory" if "mem_total" in state else "",
                f"Linux {state['kernel_version']}" if "kernel_version" in state else "",
            )
            if text
        )
        for state in states
    }
    return " and ".join(sorted(text for text in texts if text))


def _transfer(name: str, transfer: JsonValue) -> OsmefTransfer:
    rx, tx = end_of(transfer, "rx"), end_of(transfer, "tx")
    rate, megabytes, lasts_s = (
        _figure(name, "rx", rx, key) for key in ("rate_KBps", "megabytes", "real_seconds")
    )
    if not (rate and megabytes and lasts_s):
        raise ValueError(f"{name}: nothing arrived, so the transfer failed; remove the file")
    return OsmefTransfer(
        rate / _KB_IN_MB,
        megabytes,
        lasts_s,
        _figure(name, "rx", rx, "cpu"),
        _figure(name, "tx", tx, "cpu"),
    )


def _figure(name: str, end: str, said: Mapping[str, JsonValue], key: str) -> float:
    text = said.get(key)
    found = number_of({key: text.removesuffix("%") if isinstance(text, str) else text}, key)
    if found is None:
        raise ValueError(f"{name}: {end}.{key} is {text!r}, not a number; remove the file")
    return found

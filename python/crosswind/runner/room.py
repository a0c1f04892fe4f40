"""Whether this machine has the memory and the disk space that an experiment needs, before it starts."""

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from crosswind.app import Application
from crosswind.app.demand import Demand
from crosswind.testbed.errors import NotHere
from crosswind.testbed.folders import cache_folder, work_folder_root
from crosswind.text.quantities import memory_text


@dataclass(frozen=True)
class Disk:
    """A file system: a folder on it, and its free space in bytes."""

    folder: Path
    free_bytes: int


@dataclass(frozen=True)
class Room:
    """The memory and the disk space of a machine.

    `work` has the files of a trial, `kept` the prepared data. Both may be one file system, and are then the
    same object.
    """

    memory_bytes: int
    work: Disk
    kept: Disk


def lack_of_room(
    application: Application, nodes: Collection[str], *, nodes_are_here: bool = True
) -> list[str]:
    """Return what this machine has too little of for a trial, one sentence each; empty if it has enough.

    Args:
        nodes_are_here: they take no memory of this machine where they are on other ones.
    """
    demand = application.demand(nodes)
    if demand.kept_bytes and _is_prepared(application, nodes):
        demand = replace(demand, kept_bytes=0)
    if not nodes_are_here:
        demand = replace(demand, memory_bytes=0)
    return [] if demand == Demand() else list(lacking(demand, application.name, _room_here()))


def lacking(demand: Demand, name: str, room: Room) -> Iterator[str]:
    """Yield what a machine lacks, one sentence each.

    Args:
        name: of the application.
    """
    if demand.memory_bytes > room.memory_bytes:
        yield (
            f"memory: {name} takes {memory_text(demand.memory_bytes)} at least, and this machine has "
            f"{memory_text(room.memory_bytes)}; {demand.remedy}, or use a machine with more memory"
        )
    disks = {room.work: demand.work_bytes, room.kept: demand.kept_bytes}
    if room.work is room.kept:
        disks = {room.work: demand.work_bytes + demand.kept_bytes}
    for disk, needed_bytes in disks.items():
        if needed_bytes > disk.free_bytes:
            yield (
                f"disk: {name} writes {memory_text(needed_bytes)} at least below {disk.folder}, and "
                f"{memory_text(disk.free_bytes)} are free there; {demand.remedy}, free some, or set "
                "CROSSWIND_WORK_DIR and CROSSWIND_CACHE_DIR to folders on a larger disk"
            )


def _is_prepared(application: Application, nodes: Collection[str]) -> bool:
    try:
        return application.is_prepared(nodes)
    except NotHere:
        return False  # Its programs are missing.


def _room_here() -> Room:
    work, kept = (
        Disk(folder, shutil.disk_usage(folder).free) for folder in (work_folder_root(), cache_folder())
    )
    if work.folder.stat().st_dev == kept.folder.stat().st_dev:
        kept = work
    return Room(psutil.virtual_memory().total, work, kept)

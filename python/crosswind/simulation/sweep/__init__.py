"""Simulate the trials of many conditions on many CPUs, and say which conditions deserve a real trial."""

from crosswind.simulation.sweep.folder import SweepFolder
from crosswind.simulation.sweep.ranking import Ranking, rank
from crosswind.simulation.sweep.sweeping import Progress, sweep
from crosswind.simulation.sweep.workers import KINDS, Workers, workers_of

__all__ = [
    "KINDS",
    "Progress",
    "Ranking",
    "SweepFolder",
    "Workers",
    "rank",
    "sweep",
    "workers_of",
]

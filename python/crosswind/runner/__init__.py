"""Run experiments: trial after trial, each in a fresh fabric, each stored as it ends.

What is run comes from `crosswind.plan`, and is stored by `crosswind.results`; what runs is an application of
`crosswind.app`. No statistics are made here beyond the question whether another block is needed.
"""

from crosswind.runner.outcome import Outcome
from crosswind.runner.progress import Progress, Silent, progress_for
from crosswind.runner.runs import resume, run

__all__ = ["Outcome", "Progress", "Silent", "progress_for", "resume", "run"]

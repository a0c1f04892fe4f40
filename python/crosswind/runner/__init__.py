"""Run experiments trial by trial: each gets a fresh fabric, and is stored when it ends.

`crosswind.plan` says which trials run, `crosswind.app` runs the application, and `crosswind.results` stores
the results. The only statistics here decide whether another block is needed.
"""

from crosswind.runner.outcome import RunOutcome
from crosswind.runner.runs import resume, run
from crosswind.runner.steering import Steering

__all__ = ["RunOutcome", "Steering", "resume", "run"]

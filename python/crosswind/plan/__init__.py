"""Plan a run without touching the machine: trials, their order, the time they take, what will be done."""

from crosswind.plan.outline import Outline, outline
from crosswind.plan.trials import Trial, block_of, next_block, planned

__all__ = ["Outline", "Trial", "block_of", "next_block", "outline", "planned"]

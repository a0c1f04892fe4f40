"""Plan a run without touching the machine: trials, their order and duration, and what the run does."""

from crosswind.plan.adaptive import next_conditions
from crosswind.plan.fingerprint import planned_fingerprint
from crosswind.plan.outline import Outline, outline
from crosswind.plan.selection import as_selected, selected
from crosswind.plan.trials import Trial, block_of, chosen_blocks, next_block, planned

__all__ = [
    "Outline",
    "Trial",
    "as_selected",
    "block_of",
    "chosen_blocks",
    "next_block",
    "next_conditions",
    "outline",
    "planned",
    "planned_fingerprint",
    "selected",
]

"""Which trials run, in which order, with which seed: a pure function of the resolved experiment.

Trials come in complete blocks: every condition once per block. The order within a block is drawn from the
seed, so that slow drifts of the machine fall on all conditions alike.

The order never changes, because it uses no random generator, whose stream a library could change. The
conditions of a block are sorted by SHA-256 of (seed, block, name) alone. A block's order does not depend on
the number of blocks, and leaving out a condition does not reorder the others.

All trials of a block have the same seed. Conditions of one block then have the same interference and the same
requests (engine and load key their streams by name), so they can be compared as pairs. Blocks have different
ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from crosswind.plan.adaptive import first_conditions
from crosswind.spec import Resolved

SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Trial:
    """One execution of the application under one condition."""

    id: str
    block: int  # From 0.
    position: int  # Place in the run, from 0.
    condition: str
    seed: int  # In [0, 2^63).

    def as_dict(self) -> dict[str, object]:
        """Return the trial as plain values."""
        return asdict(self)


def block_of(
    resolved: Resolved, block: int, chosen: Sequence[str] | None = None, first: int | None = None
) -> list[Trial]:
    """Return the trials of one block, in the order to run them.

    Args:
        resolved: as `crosswind.spec.resolve` returns it.
        block: from 0; may be beyond `at_most`.
        chosen: the conditions of the block; all when absent.
        first: the position of its first trial; absent where every block before it has the same size.
    """
    names = list(chosen or (condition.name for condition in resolved.conditions))
    base_seed = resolved.trials.seed
    if resolved.trials.order != SEQUENTIAL:
        names.sort(key=lambda name: _digest("order", base_seed, block, name))
    seed = int.from_bytes(_digest("seed", base_seed, block)[:8], "big") >> 1
    first = block * len(names) if first is None else first
    return [
        Trial(_id(block, first + place, name), block, first + place, name, seed)
        for place, name in enumerate(names)
    ]


def planned(resolved: Resolved) -> list[Trial]:
    """Return the trials that always run: `at_least` blocks; of an adaptive design its first points."""
    chosen = first_conditions(resolved) if resolved.design is not None else None
    return [
        trial
        for block in range(resolved.trials.repeat.at_least)
        for trial in block_of(resolved, block, chosen)
    ]


def chosen_blocks(resolved: Resolved, chosen: Sequence[str], blocks: int, trials: int) -> list[Trial]:
    """Return the blocks of conditions that an adaptive design chose next, repeated as `repeat` says.

    Args:
        blocks, trials: the numbers of those before.
    """
    return [
        trial
        for index in range(resolved.trials.repeat.at_least if chosen else 0)
        for trial in block_of(resolved, blocks + index, chosen, trials + index * len(chosen))
    ]


def next_block(resolved: Resolved, blocks_done: int) -> list[Trial]:
    """Return the block after `blocks_done` blocks, or an empty list when `at_most` have run.

    The caller decides whether the block is needed.
    """
    return block_of(resolved, blocks_done) if blocks_done < resolved.trials.repeat.at_most else []


def _digest(*parts: str | int) -> bytes:
    # The text has a version: another rule would get another version, and old runs would keep theirs.
    return hashlib.sha256("\0".join(["crosswind trial order 1", *map(str, parts)]).encode()).digest()


def _id(block: int, position: int, condition: str) -> str:
    """Return a name for folders and tables; the position makes it unique, the condition makes it readable."""
    short = re.sub(r"[^A-Za-z0-9._-]", "-", condition.rsplit("/", 1)[-1])
    return f"b{block:02d}-p{position:02d}-{short}"

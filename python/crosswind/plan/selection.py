"""A part of an experiment: some of its conditions, or one trial of each."""

from __future__ import annotations

from collections.abc import Sequence

from crosswind.errors import CrosswindError
from crosswind.spec.dilation import slowed, under_each
from crosswind.spec.resolved import Resolved, ResolvedDesign, ResolvedRepeat, Selection
from crosswind.text.nearest import did_you_mean

_NOTHING = Selection(only=[], once=False)


def as_selected(resolved: Resolved, part: Selection | None) -> Resolved:
    """Return an experiment as the command line of a run chose it.

    Args:
        resolved: as `crosswind.spec.resolve` returns it.
        part: of the run; None where the whole experiment is run.
    Raises: CrosswindError: the experiment has changed, so that this part of it cannot be run.
    """
    if part is None:
        return resolved
    chosen = selected(slowed(resolved, part.dilation), part.only, part.once)
    return under_each(chosen, part.dilations) if part.dilations else chosen


def selected(resolved: Resolved, only: Sequence[str] = (), once: bool = False) -> Resolved:
    """Return a resolved experiment that runs only a part of its trials.

    The selection is recorded, so that the run is continued with the same part.

    Args:
        resolved: as `crosswind.spec.resolve` returns it.
        only: the conditions to run, by name; all when empty. An adaptive design then chooses no others.
        once: one trial of each condition; of an adaptive design, of each of its first points.
    Raises: CrosswindError: `only` names a condition that the experiment does not have.
    """
    if not only and not once:
        return resolved
    chosen = (resolved.selection or _NOTHING).model_copy(update={"only": list(only), "once": once})
    part = resolved.model_copy(update={"selection": chosen})
    if only:
        known = [condition.name for condition in resolved.conditions]
        for name in only:
            if name not in known:
                remedy = did_you_mean(name, known) or f"it has {', '.join(known)}"
                raise CrosswindError(f'--only: the experiment has no condition "{name}"; {remedy}')
        conditions = [condition for condition in resolved.conditions if condition.name in only]
        part = part.model_copy(update={"conditions": conditions, "design": None})
    if once:
        repeat = ResolvedRepeat(at_least=1, at_most=1, until=None)
        part = part.model_copy(update={"trials": part.trials.model_copy(update={"repeat": repeat})})
        if part.design is not None:
            first = part.design.adaptive.model_copy(update={"at_most": part.design.adaptive.start})
            part = part.model_copy(update={"design": ResolvedDesign(adaptive=first)})
    return part

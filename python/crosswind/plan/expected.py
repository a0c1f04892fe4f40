"""How long trials will take, as far as that is known before the first one."""

from __future__ import annotations

from crosswind.spec import Resolved, applications


def trial_s(resolved: Resolved) -> float | None:
    """Return the seconds that one trial takes with its rest; None when that is unknown before the first.

    A run replaces this estimate by the duration of its own trials.
    """
    application, rest_s = resolved.application, resolved.trials.rest_s
    expected_s = applications.expected_s(application.name, application.parameters)
    return None if expected_s is None or rest_s is None else expected_s + rest_s


def planned_s(resolved: Resolved) -> float | None:
    """Return the seconds that the trials take that always run; None when that is unknown before the first."""
    one_s = trial_s(resolved)
    trials = resolved.trials.repeat.at_least * len(resolved.conditions)
    return None if one_s is None else one_s * trials

"""How long trials will take, as far as it is known before the first."""

from __future__ import annotations

from crosswind.spec import Resolved, applications


def trial_s(resolved: Resolved) -> float | None:
    """Return the seconds that one trial takes with its rest; None when only the first one will tell.

    An estimate for the first look; a run replaces it by what its own trials took.
    """
    application, rest_s = resolved.application, resolved.trials.rest_s
    expected_s = applications.expected_s(application.name, application.parameters)
    return None if expected_s is None or rest_s is None else expected_s + rest_s


def planned_s(resolved: Resolved) -> float | None:
    """Return the seconds that the trials take which run in any case; None when only the first will tell."""
    one_s = trial_s(resolved)
    trials = resolved.trials.repeat.at_least * len(resolved.conditions)
    return None if one_s is None else one_s * trials

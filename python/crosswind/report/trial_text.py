"""One trial of a run in words: how it ended, and the time that the others will take."""

from crosswind.stream import TrialEnded
from crosswind.text.units import quantity


def verdict(ended: TrialEnded) -> str:
    """Return how an attempt ended, in one line, such as `P99 206 ms, P50 2.00 ms, faithful`."""
    if ended.status == "failed":
        return f"failed: {ended.reason}"
    if ended.status == "interrupted":
        return str(ended.reason)
    figures = ", ".join(f"{figure.name} {quantity(figure.value, figure.unit)}" for figure in ended.figures)
    # A plain terminal shows the spaces of a page as question marks.
    figures = figures.replace("\u00a0", " ").replace("\u202f", "")
    doubt = f" ({ended.fidelity_reason})" if ended.fidelity_reason else ""
    return f"{figures}, {ended.fidelity}{doubt}"


def left(seconds: float) -> str:
    """Return the time left in one unit, such as `5 min left`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"{round(seconds / 60)} min left"
    return f"{seconds / 3600:.1f} h left"

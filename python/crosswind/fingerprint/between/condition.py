"""A condition with the delays and losses of every ordered pair, from the folder of a measurement."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from crosswind.fingerprint.between.document import PairFigures, read_between
from crosswind.fingerprint.fit.fitted import NoFit, choose
from crosswind.fingerprint.fit.fitted_condition import Made, delay_models, require_model
from crosswind.fingerprint.trace.delay_trace import delays_of_fingerprint
from crosswind.spec.read_file import read_file
from crosswind.spec.topology.names import as_name

_HEADER = """\
The condition has the whole delay, so use it with zones that have nearly none: `zones: {delay: 1us}`.
Or use the matrices beside the measurement: `topology.yaml` there has median, jitter, loss and rate."""


def condition_between(folder: Path, name: str, model: str | None) -> Made:
    """Return a condition at `wan` for the pairs that were measured, each with the simplest model that fits.

    Args:
        name: of the condition.
        model: of all delays; None for the first that fits each.
    Raises: NotAFingerprint: the folder has none. NoFit: no model fits a pair, or the given one does not.
    """
    document = read_between(folder)
    pairs = [pair for pair in document.pairs if pair.ended is None and pair.file is not None]
    if not pairs:
        raise NoFit(f"{folder}: no pair was measured completely; measure again")
    body, models = [], []
    for pair in pairs:
        link = f"{as_name(pair.source)}->{as_name(pair.target)}"
        chosen, elements = _elements(folder, pair, model)
        models.append(f"{link} {chosen}")
        body += [f"    {link}:", *(f"    {line}" for line in elements)]
    header = [
        f"Models: delays and losses between {len(document.machines)} machines, measured into {folder.name}.",
        "Source: measured.",
        f"Models of delays: {', '.join(models)}.",
        *_HEADER.splitlines(),
    ]
    comment = [f"# {part}" for line in header for part in wrap(line, 116, break_on_hyphens=False)]
    summary = f"delays and losses of {len(pairs)} ordered pairs of machines, as measured"
    return Made("\n".join([*comment, "", f"{name}:", f"  summary: {summary}", "  wan:", *body]), [])


def _elements(folder: Path, pair: PairFigures, model: str | None) -> tuple[str, list[str]]:
    """Return the name of the model of a pair's delays, and its elements as lines of a list."""
    assert pair.file is not None, "it was measured"
    source = str(folder / pair.file)
    trace = delays_of_fingerprint(source, read_file(folder / pair.file))
    models = delay_models(trace)
    require_model(models, model)
    choice = choose(source, models, model)
    # Its first line is the place of a single condition.
    lines = choice.taken.elements.splitlines()[1:]
    if pair.loss:
        lines.append(f"  - lose: {100 * pair.loss:.6g}%")
    return choice.name, lines

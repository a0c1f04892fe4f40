"""Turn the file of a measurement into the text of a condition."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.errors import CrosswindError
from crosswind.fingerprint.bucket.token_bucket import identify
from crosswind.fingerprint.fit.bucket_rates import credit_bucket
from crosswind.fingerprint.fit.delays import constant_delay, histogram_delay, normal_delay
from crosswind.fingerprint.fit.drawn_rates import constant_rate, five_quantiles
from crosswind.fingerprint.fit.empirical_rates import resampled_rates
from crosswind.fingerprint.fit.fitted import ChosenModel, Models, choose, condition_text
from crosswind.fingerprint.fit.floor import Floor
from crosswind.fingerprint.fit.rates import Rates
from crosswind.fingerprint.trace.delay_trace import DelayTrace, delays_of_fingerprint, is_delays, read_delays
from crosswind.fingerprint.trace.trace_file import WINDOW_S, read_trace
from crosswind.text.nearest import did_you_mean
from crosswind.text.quantities import rate_text, time_text


@dataclass(frozen=True)
class Made:
    """A file with one condition, and notes to print, one line each."""

    text: str
    notes: list[str]


def condition_from(
    source: str,
    content: bytes,
    name: str,
    *,
    model: str | None = None,
    window_s: float = WINDOW_S,
    back: bool = False,
    refill_bps: int | None = None,
    of_delays: bool = False,
    floor: Floor | None = None,
) -> Made:
    """Return the simplest condition that fits a measurement, or that of the given model.

    Args:
        source: the file, for the header and for messages.
        name: of the condition.
        model: the name of a model; None for the first that fits.
        window_s, back: as in `read_trace`.
        refill_bps: of the token bucket, where it is known.
        of_delays: whether a fingerprint's one-way delays are used instead of its rates.
        floor: the delay that the emulating machine itself adds.
    Raises:
        TraceFileError: the file cannot be read.
        NoFit: no model fits, or the given one does not.
    """
    if of_delays or is_delays(content):
        delays = delays_of_fingerprint(source, content) if of_delays else read_delays(source, content)
        seen = _delays_seen(delays)
        if floor is not None:
            delays = replace(delays, delay_ns=floor.taken_off(delays.delay_ns))
            seen = f"{seen}, less {floor}"
        return _made(source, name, seen, delay_models(delays), model, [])
    if floor is not None:
        raise CrosswindError(
            f"--floor: {source} has rates, and only delays have a floor; leave the option out"
        )
    trace, complaint = read_trace(source, content, window_s=window_s, back=back)
    notes = [f"{source}: {complaint}"] if complaint else []
    return _made(source, name, _rates_seen(trace), _rate_models(trace, refill_bps), model, notes)


def _rate_models(trace: TrafficTrace, refill_bps: int | None) -> Models:
    rates = Rates.of(trace)
    return {
        "constant": lambda: constant_rate(rates),
        "bucket": lambda: credit_bucket(trace, identify(trace, refill_bps=refill_bps)),
        "quantiles": lambda: five_quantiles(rates),
        "empirical": lambda: resampled_rates(rates),
    }


def delay_models(trace: DelayTrace) -> Models:
    """Return the models of delays, the simplest first."""
    return {
        "constant": lambda: constant_delay(trace),
        "normal": lambda: normal_delay(trace),
        "histogram": lambda: histogram_delay(trace),
    }


def require_model(models: Models, model: str | None) -> None:
    """Refuse the name of a model that there is not.

    Raises: CrosswindError: it has a similar one, or all.
    """
    if model is not None and model not in models:
        raise CrosswindError(
            f"--as {model}: {did_you_mean(model, list(models)) or 'no such model'}; the models of this file "
            f"are {', '.join(models)}"
        )


def _made(source: str, name: str, seen: str, models: Models, model: str | None, notes: list[str]) -> Made:
    require_model(models, model)
    choice: ChosenModel = choose(source, models, model)
    others = [f"{other}: {words}" for other, words in choice.others.items()]
    return Made(condition_text(name, source.split("/")[-1], seen, choice), [*notes, *others])


def _rates_seen(trace: TrafficTrace) -> str:
    length_s = float(trace.end_s[-1] - trace.begin_s[0])
    mean_bps = trace.bits.sum() / (trace.end_s - trace.begin_s).sum()
    return f"{trace.bits.size} samples of {time_text(1e9 * length_s)}, {rate_text(mean_bps)} on average"


def _delays_seen(trace: DelayTrace) -> str:
    apart = "" if trace.step_s is None else f", {time_text(1e9 * trace.step_s)} apart"
    return f"{trace.delay_ns.size} delays{apart}"

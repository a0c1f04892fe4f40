"""Find which warnings of the catalogue apply to a run."""

from collections import Counter
from collections.abc import Iterator

from crosswind.analysis.cautions.catalogue import Caution, CautionKind, caution, sentences
from crosswind.analysis.cautions.setting import setting_cautions
from crosswind.analysis.cautions.stragglers import straggler_cautions
from crosswind.analysis.measure import QUANTILE_NAMES
from crosswind.analysis.moved import faithful_for, widened
from crosswind.analysis.summary import Summary, TrialSummary
from crosswind.spec.resolved.perceived_time import TcpClock
from crosswind.stats import GUARD_TRIALS_MIN, NeedsTrials, RefusedInterval, modes
from crosswind.text.units import count, quantity, short_names

# Of many nodes, enough to see which kind they are.
NODES_NAMED = 4
# Linux's TCP_RTO_MAX.
RTO_MAX_S = 120
# Below that many packets over RTT^1.5 (in s), CUBIC grows as Reno does, without a clock. Where the average
# windows of both are equal: 1.054 (RTT / p)^0.75 = 1.225 / p^0.5 (RFC 9438, section 5.1).
CUBIC_OWN_PACKETS = 1.65


def cautions(summary: Summary) -> list[Caution]:
    """Return the warnings that apply to `summary`, serious ones first."""
    found = [
        *_trials(summary), *_backend(summary), *_ranges(summary), *_unknown(summary), *_rest(summary),
        *_repetitions(summary), *_modes(summary),
        *_intervals(summary), *_operations(summary), *straggler_cautions(summary),
        *setting_cautions(summary), *_loop(summary),
        *_scale(summary), *_slowed(summary), *_declared(summary), *_pictures(summary),
    ]  # fmt: skip
    return sorted(found, key=lambda caution: caution.level != "serious")


def _trials(summary: Summary) -> list[Caution]:
    found = []

    def place(trial: TrialSummary) -> tuple[int, int]:
        return trial.row.block, trial.row.position

    done = {place(trial) for trial in summary.trials if trial.counted}
    short = short_names(condition.name for condition in summary.conditions)

    def where(kind: str) -> str:
        return ", ".join(f"{short[c.name]} ({c.count(kind)})" for c in summary.conditions if c.count(kind))

    def repeated(kind: str) -> str:
        places = {place(trial) for trial in summary.trials if kind in (trial.row.status, trial.row.fidelity)}
        if not (again := len(places & done)):
            return ""
        return f" Of {_many(len(places), 'trial')}; {again} succeeded on a later attempt."

    kinds = {
        "failed": CautionKind.TRIALS_FAILED,
        "void": CautionKind.TRIALS_VOID,
        "degraded": CautionKind.TRIALS_DEGRADED,
    }
    for name, kind in kinds.items():
        if many := summary.count(name):
            again = repeated(name) if name != "degraded" else _faithful_for(summary)
            title = f"{_many(many, 'trial' if name == 'degraded' else summary.counts)} {name}"
            found.append(caution(kind, title, f"{where(name)}.{again}"))
    tried = {place(trial) for trial in summary.trials if trial.row.status in ("done", "failed")}
    if pending := len({place(trial) for trial in summary.trials} - tried):
        found.append(caution(CautionKind.TRIALS_MISSING, f"{_many(pending, 'trial')} missing"))
    return found


def _faithful_for(summary: Summary) -> str:
    """Return for which figures degraded trials are faithful, such as ` Faithful for P50: 20.`."""
    many = Counter(
        measure.label
        for condition in summary.conditions
        for trial in condition.trials
        if trial.row.fidelity == "degraded"
        for measure in faithful_for(condition, trial, summary.ranged)
    )
    named = ", ".join(f"{label} ({trials})" for label, trials in many.items())
    return f" Faithful all the same: {named}." if named else ""


def _backend(summary: Summary) -> list[Caution]:
    """Warn that the emulator did not carry the packets, and say which program decided what."""
    before = summary.provenance.before
    facts = None if before is None else before.backend
    if facts is None:
        return []
    decided = {f"{each.element} at {each.place}": each.by for of in facts.decided.values() for each in of}
    checks = sum(len(each) for each in facts.checks.values())
    text = [f"{what}: {by}" for what, by in sorted(decided.items())]
    text.append(f"{count(checks)} probes before the first trial were as declared")
    return [caution(CautionKind.OTHER_BACKEND, f"{facts.version} carried the packets", sentences(text))]


def _ranges(summary: Summary) -> list[Caution]:
    """Warn of intervals that the ranges of trials widen."""
    short = short_names(condition.name for condition in summary.conditions)
    found = {}
    for measure in summary.ranged:
        wider = {
            short[condition.name]: known
            for condition in summary.conditions
            if (known := widened(condition, measure)) is not None
        }
        if wider:
            named = ", ".join(
                f"{name}: {quantity(known.low, measure.unit)} to {quantity(known.high, measure.unit)}"
                for name, known in wider.items()
            )
            found[measure.label] = named
    if not found:
        return []
    text = " ".join(f"{label}: {named}." for label, named in found.items())
    return [caution(CautionKind.RANGES_WIDEN, f"The machine may have moved {', '.join(found)}", text)]


def _unknown(summary: Summary) -> list[Caution]:
    """Warn of counted trials without a value of a measure: the estimate leaves them out."""
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    lacking = {
        measure.label: sum(measure.key not in trial.values for trial in counted)
        for measure in summary.measures
    }
    return [
        caution(CautionKind.VALUE_MISSING, f"{_many(many, 'trial')} without {label}", f"Of {len(counted)}.")
        for label, many in lacking.items()
        if many
    ]


def _repetitions(summary: Summary) -> list[Caution]:
    """Warn of series that the guard refused, and of intervals that more trials did not narrow."""
    found = []
    short = short_names(condition.name for condition in summary.conditions)
    primary = summary.primary
    grown: dict[str, list[str]] = {}  # warning -> conditions
    for condition in summary.conditions:
        seen = condition.guards[primary.key]
        if seen.refused:
            levels = [quantity(level, primary.unit) for level in seen.levels]
            change = f": {levels[0]} before, {levels[1]} after" if levels else ""
            found.append(
                Caution(
                    CautionKind.INTERVAL_REFUSED,
                    f"Interval refused under {short[condition.name]}",
                    f"The trials are not independent in {primary.label}: {seen.reason}{change}. An interval "
                    f"over them would not hold. Remedy: {seen.remedy}.",
                )
            )
        elif seen.warning:
            grown.setdefault(seen.warning, []).append(short[condition.name])
    found += [
        Caution(
            CautionKind.INTERVAL_GREW,
            f"More trials did not help under {', '.join(names)}",
            f"In {primary.label} {warning}. {CautionKind.INTERVAL_GREW.remedy}",
        )
        for warning, names in grown.items()
    ]
    beside = {
        measure.label: sum(isinstance(c.estimates[measure.key], RefusedInterval) for c in summary.conditions)
        for measure in summary.measures
        if measure != primary
    }
    if any(beside.values()):
        named = ", ".join(f"{label} ({many})" for label, many in beside.items() if many)
        found.append(
            Caution(
                CautionKind.OTHER_INTERVALS_REFUSED,
                "Intervals of other figures refused",
                f"Number of conditions: {named}. Their trials depend on time or on earlier trials. "
                f"{CautionKind.OTHER_INTERVALS_REFUSED.remedy}",
            )
        )
    return found


def _rest(summary: Summary) -> list[Caution]:
    """Warn of rests that should have restored budgets and did not."""
    if summary.resolved.trials.rest_s is not None:
        return []
    short = short_names(condition.name for condition in summary.conditions)
    return [
        caution(
            CautionKind.REST_TOO_SHORT,
            f"The rest was too short under {short[condition.name]}",
            f"{fault[0].upper()}{fault[1:]}.",
        )
        for condition in summary.conditions
        for fault in [next(filter(None, (bucket.fault() for bucket in condition.buckets)), None)]
        if fault
    ]


def _modes(summary: Summary) -> list[Caution]:
    """Warn of trials that cluster around two values."""
    found = []
    short = short_names(condition.name for condition in summary.conditions)
    for condition in summary.conditions:
        values = condition.per_trial(summary.primary.key).values
        if len(split := modes(values) if values else ()) == 2:
            low, high = (f"{quantity(mode.median, summary.primary.unit)} ({mode.n} trials)" for mode in split)
            found.append(
                caution(
                    CautionKind.BIMODAL,
                    f"Two modes under {short[condition.name]}",
                    f"{summary.primary.title} is around {low} or around {high}.",
                )
            )
    return found


def _intervals(summary: Summary) -> list[Caution]:
    missing = {
        condition.name: estimate
        for condition in summary.conditions
        if isinstance(estimate := condition.estimates[summary.primary.key], NeedsTrials)
    }
    if not missing:
        if len(summary.conditions) < 3:
            return []
        return [
            caution(
                CautionKind.MANY_COMPARISONS,
                "Each interval holds by itself",
                f"This report has {len(summary.conditions) - 1} comparisons.",
            )
        ]
    fewest = min(answer.n for answer in missing.values())
    needed = max(answer.needed for answer in missing.values())
    count = f"{len(missing)} of {len(summary.conditions)} conditions have"
    which = "every condition has" if len(missing) == len(summary.conditions) else count
    return [
        Caution(
            CautionKind.TOO_FEW_TRIALS,
            "Too few trials for an interval",
            f"A 95 % interval for the median over trials needs {needed}; {which} fewer (the fewest: "
            f"{fewest}). Runs of the same set-up often differ by 10 to 20 %, so ignore smaller "
            f"differences, and add trials (repeat: {{at least: {needed}}}).{_guard_needs(fewest)}",
        )
    ]


def _guard_needs(trials: int) -> str:
    few = f" A test of independence needs {GUARD_TRIALS_MIN} trials."
    return few if trials < GUARD_TRIALS_MIN else ""


def _operations(summary: Summary) -> list[Caution]:
    found = []
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    fewest = min((trial.operations for trial in counted if trial.operations is not None), default=None)
    tails = any(measure.of_operations for measure in summary.measures)
    if tails and fewest is not None and fewest < 10_000:
        quantile, limit = ("p99", 1000) if fewest < 1000 else ("p999", 10_000)
        found.append(
            Caution(
                CautionKind.FEW_OPERATIONS,
                f"{QUANTILE_NAMES[quantile]} rests on few operations",
                f"The shortest trial has {count(fewest)} operations: fewer than ten lie beyond its "
                f"{QUANTILE_NAMES[quantile]}, which needs {count(limit)}. "
                f"{CautionKind.FEW_OPERATIONS.remedy}",
            )
        )
    errors = sum(trial.errors or 0 for trial in counted)
    if errors:
        total = errors + sum(trial.operations or 0 for trial in counted)
        failed = f"{count(errors)} operations failed"
        found.append(caution(CautionKind.OPERATIONS_FAILED, failed, f"Of {count(total)}."))
    if late := sum(trial.not_started or 0 for trial in counted):
        found.append(
            caution(CautionKind.OPERATIONS_NEVER_SENT, f"{count(late)} operations were due and never sent")
        )
    if lost := summary.slow.lost_records:
        found.append(caution(CautionKind.PACKET_RECORDS_LOST, f"{count(lost)} packet records were lost"))
    return found


def _loop(summary: Summary) -> list[Caution]:
    if summary.open_loop or not summary.has_operations:
        return []
    return [caution(CautionKind.CLOSED_LOOP, "A closed loop hides stalls")]


def _scale(summary: Summary) -> list[Caution]:
    scale = summary.resolved.scale
    if scale is None or scale == 1:
        return []
    preserved = summary.resolved.preserved
    kept = f"Preserved are: {', '.join(preserved)}." if preserved else "No ratio is declared as preserved."
    return [caution(CautionKind.SCALED, f"Run at scale {scale:g}", kept)]


def _slowed(summary: Summary) -> list[Caution]:
    """Warn that time is slowed down, and what that does to CPUs and to timers of the kernel."""
    resolved = summary.resolved
    factors = [factor for factor in resolved.dilations if factor is not None and factor > 1]
    if not factors:
        return []
    factor = max(factors)
    limits = resolved.topology.limits
    free = [node for node in resolved.topology.nodes if limits.get(node, {}).get("cpus_ppm") is None]
    named = ", ".join(free[:NODES_NAMED]) + (", ..." if len(free) > NODES_NAMED else "")
    text = [f"nodes without a limit of CPUs look {factor} times as fast: {named}"] if free else []
    text.append(f"acknowledgements that the kernel delays by 40 ms come after {40 / factor:g} ms")
    text.extend(_real_tcp(summary, factor))
    up_to = "up to " if len(resolved.dilations) > 1 else ""
    return [caution(CautionKind.SLOWED, f"Time passes {up_to}{factor} times slower", sentences(text))]


def _slowed_tcp(summary: Summary) -> set[TcpClock]:
    """Return which clocks of the kernel's TCP were slowed down in every trial."""
    times = [trial.time for trial in summary.trials if trial.counted and trial.time and trial.time.factor > 1]
    slowed = [set(time.tcp) for time in times]
    return set.intersection(*slowed) if slowed else set()


def _real_tcp(summary: Summary, factor: int) -> Iterator[str]:
    """Yield what of the kernel's TCP is real at this dilation, and how that looks."""
    slowed = _slowed_tcp(summary)
    if "handshake" not in slowed:
        yield (
            f"a lost SYN is sent again after {1000 / factor:g} ms, because the machine lacks what slows that "
            "(root, and control groups of version 2)"
        )
    elif factor > RTO_MAX_S:
        yield f"a lost SYN is sent again after {1000 * RTO_MAX_S / factor:.0f} ms, 120 s of the kernel's"
    if "cubic" not in slowed and summary.resolved.tcp.congestion_control in (None, "cubic"):
        near, far = (CUBIC_OWN_PACKETS / (factor * rtt_s) ** 1.5 for rtt_s in (0.001, 0.01))
        yield (
            "CUBIC has the kernel's clock, because the machine lacks what slows it (root, Linux 6.4, BTF): "
            f"it grows faster where a window has more than {near:,.0f} packets at a round trip of 1 ms, or "
            f"{far:,.0f} at 10 ms"
        )


def _declared(summary: Summary) -> list[Caution]:
    """Return the notes of the experiment; those about a `durability` have a warning of their own."""
    durability = summary.resolved.application.parameters.get("durability")
    texts = summary.resolved.warnings
    weak = [text for text in texts if durability and str(durability) in text.split()]
    others = [text for text in texts if text not in weak]
    title = "w=0 never meets the network" if durability == "w=0" else "Writes are confirmed early"
    found = [Caution(CautionKind.WRITES_UNCONFIRMED, title, text) for text in weak]
    return [
        *found,
        *([Caution(CautionKind.DECLARED, "From the experiment", sentences(others))] if others else []),
    ]


def _pictures(summary: Summary) -> list[Caution]:
    if not summary.has_operations:
        return []
    return [caution(CautionKind.POOLED_PICTURES, "Pictures pool operations")]


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"

"""What a caution is, and the catalogue of them: id, how much it weighs, what it means and what to try.

The ids are stable: scripts may look for them in `crosswind report --json`, and docs/reference/cautions.md is
made from this list. Which of them apply to a run is found in `cautions`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

Level = Literal["serious", "note"]


class Kind(Enum):
    """`serious`: numbers may mislead as they stand. `note`: how to read them."""

    def __init__(self, level: Level, meaning: str, remedy: str) -> None:
        self.level = level
        self.meaning = meaning
        self.remedy = remedy

    @property
    def id(self) -> str:
        """The name that never changes, such as `closed-loop`."""
        return self.name.lower().replace("_", "-")

    TRIALS_FAILED = (
        "serious",
        "Left out of every number, so a condition that makes trials fail looks better than it is.",
        "The reasons stand in the trial tables; `crosswind resume` tries such trials again.",
    )
    TRIALS_VOID = (
        "serious",
        "The emulation was not what the condition says: left out of every number.",
        "If they recur, end other work on the machine, take more processors, or lower the rates (`scale`).",
    )
    TRIALS_MISSING = ("serious", "The run is not complete.", "Continue it with `crosswind resume`.")
    TRIALS_DEGRADED = (
        "note",
        "Counted, but differences as small as the ledger error mean nothing.",
        "Compare large differences only, or run on a quieter machine.",
    )
    VALUE_MISSING = (
        "serious",
        "Counted trials that have no value of a number are left out of its medians, which are those of the "
        "others.",
        "Their logs may say why it is missing.",
    )
    TOO_FEW_TRIALS = (
        "serious",
        "An exact interval takes a least number of trials: six for a median at 95 %. Sessions of one set-up "
        "easily differ by 10 to 20 %.",
        "Read smaller differences as none, and add trials (`repeat`).",
    )
    INTERVAL_REFUSED = (
        "serious",
        "The trials are not independent, so an interval over them would not hold: a bucket "
        "held less and less, their level changed, they drift, or neighbours resemble each other.",
        "Bring the system to the same state before every trial, rest longer, or block by session; the "
        "caution says what was seen, after which trial, and what helps.",
    )
    OTHER_INTERVALS_REFUSED = (
        "serious",
        "The same, of figures that are not the first: their trials differ with time or with the trials "
        "before them.",
        "Look at the dots of these figures: the first trial is on top of its row, the last at the bottom.",
    )
    REST_TOO_SHORT = (
        "serious",
        "`rest: auto` waits until credit buckets hold what they held at first, and some trial found another "
        "level: one before it was killed and left it unknown, or `initial` is less than the budget.",
        "Run the experiment again without interruption, or write a rest of your own.",
    )
    INTERVAL_GREW = (
        "note",
        "More trials made the interval wider, not narrower: the later ones differ from the earlier ones.",
        "Look at its dots: the first trial is on top of its row, the last at the bottom.",
    )
    BIMODAL = (
        "serious",
        "Trials gather around two values. The median lies in one of them, or between them where no trial "
        "was.",
        "Quote both, and look for what decides.",
    )
    STRAGGLER = (
        "serious",
        "A node whose token bucket had run dry was held at its low rate while most of its equals were not. "
        "Whoever waits for all of them waits for it.",
        "Unless this is what you study, let every bucket fill up before a trial, or give all one budget.",
    )
    MANY_COMPARISONS = (
        "note",
        "Intervals hold at 95 % one by one; among many comparisons one in twenty misses on average. What is "
        "called better or worse is corrected for all comparisons (Holm), so an interval can leave 1 out and "
        "not be called either.",
        "Confirm a single small difference with a run of its own.",
    )
    ONE_SESSION = (
        "note",
        "All trials ran within one session of one machine. The interval covers what varies from trial to "
        "trial, not what varies from day to day or from machine to machine.",
        "Run it again on another day, and set the two side by side with `crosswind compare`.",
    )
    MIXED_MACHINES = (
        "serious",
        "The machine or a tool was not the same at the end of the run as at its beginning: earlier and later "
        "trials are not repetitions of one experiment.",
        "Start a new run, and leave the machine as it is until it has ended.",
    )
    MACHINE_REMARK = (
        "note",
        "What was known of the machine before the first trial, and was no reason to refuse the run.",
        "`crosswind doctor` measures what this machine honours; `crosswind plan` names what lies beyond it.",
    )
    TCP_DEFAULTS_DIFFER = (
        "note",
        "The nodes' TCP is what the experiment declares, and this machine's own default is another. What was "
        "measured outside Crosswind may stand for another TCP.",
        "Declare `tcp` in the topology as it is where the results are to hold.",
    )
    FEW_OPERATIONS = (
        "note",
        "Fewer than ten operations of a trial lie beyond a quantile that is shown.",
        "Make trials longer.",
    )
    OPERATIONS_FAILED = (
        "serious",
        "A failed operation has no latency, so the tails shown are those of the others.",
        "The first error stands in the load's summary of each trial (`monitors/*.json`).",
    )
    OPERATIONS_NEVER_SENT = (
        "serious",
        "The offered rate was more than the application could take: a queue grew until the end, and latency "
        "would have gone on growing.",
        "Read throughput as the capacity, and lower the rate to measure latency.",
    )
    GENERATOR_SATURATED = (
        "serious",
        "The load generator was busy all the time, or late although its connection was free: what is shown "
        "as the application's is partly its own.",
        "Lower the rate or the number of clients, or give the machine more processors.",
    )
    STAGGERED_WINDOWS = (
        "serious",
        "Several clients measured in windows that only partly overlap. Sums and averages over them count "
        "moments in which some had the network to themselves.",
        "Let the clients run for the same time, or use an application with one common window (`traffic`).",
    )
    CLOSED_LOOP = (
        "note",
        "Each client sends its next operation when the last one has ended, so a stall of 200 ms is one slow "
        "operation and not the thousand that a steady stream of users would have felt (coordinated "
        "omission). Throughput shows the loss that quantiles hide.",
        "Give the workload a rate to measure what users feel.",
    )
    WRITES_UNCONFIRMED = (
        "serious",
        "The store confirms a write before the network that is emulated could have delayed it; with w=0 no "
        "write meets the network at all.",
        "Choose a `durability` that waits for the replicas.",
    )
    PACKET_RECORDS_LOST = (
        "serious",
        "More packets were dropped or sent again than could be recorded. Counters are complete; curves of "
        "drops over time and the causes of slow operations are not.",
        "Make trials shorter.",
    )
    SCALED = (
        "note",
        "Rates and buffers are multiplied by the scale. Everything else, CPU time and timers such as TCP's "
        "retransmission timeout among it, is not.",
        "Compare conditions with one another, not with a machine at full scale.",
    )
    DECLARED = (
        "note",
        "What the experiment, its application or its conditions say of themselves.",
        "Read it before comparing with what the experiment is after.",
    )
    POOLED_PICTURES = (
        "note",
        "Boxes describe all operations of a condition together. They carry no interval: operations of one "
        "trial are not independent, and an interval from them would be many times too narrow.",
        "Do not read an interval into a box.",
    )


@dataclass(frozen=True)
class Caution:
    """A caution that applies to a run; `text` has what was found in it and what to try."""

    kind: Kind
    title: str
    text: str

    @property
    def id(self) -> str:
        """The id of its kind."""
        return self.kind.id

    @property
    def level(self) -> Level:
        """The weight of its kind."""
        return self.kind.level

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"id": self.id, "level": self.level, "title": self.title, "text": self.text}


def caution(kind: Kind, title: str, found: str = "") -> Caution:
    """Return a caution whose text is what was found, what its kind means, and what to try."""
    return Caution(kind, title, " ".join(part for part in (found, kind.meaning, kind.remedy) if part))


def sentences(texts: Iterable[str]) -> str:
    """Return texts that began and ended as they liked, as sentences."""
    return " ".join(f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in texts)

"""The catalogue of warnings about a run: id, level, meaning, and remedy.

The ids are stable: scripts may look for them in `crosswind report --json`, and docs/reference/cautions.md is
made from this list. `of_run` finds which of them apply to a run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from pydantic import JsonValue

Level = Literal["serious", "note"]


class CautionKind(Enum):
    """`serious`: numbers may mislead. `note`: how to read them."""

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
        "Failed trials are left out of every number. A condition that makes trials fail looks better than "
        "it is. Where a reason begins with a stall of the emulator, the machine made the trial fail, and not "
        "the condition.",
        "The trial tables give the reasons; `crosswind resume` runs these trials again.",
    )
    TRIALS_VOID = (
        "serious",
        "The emulation did not match the condition, or somebody moved the network by hand. These trials are "
        "left out of every number.",
        "The trial tables give the reasons. If the machine was the reason and it recurs, stop other work on "
        "it, use more CPUs, or lower the rates (`scale`).",
    )
    TRIALS_MISSING = (
        "serious",
        "The run is not complete.",
        "Continue it with `crosswind resume`.",
    )
    TRIALS_DEGRADED = (
        "note",
        "These trials count, but differences as small as the ledger error, or the stall, are meaningless.",
        "Read each trial's reason under Conditions and trials. A figure that the machine cannot have moved "
        "by more than 1 % of its interval is faithful all the same, and the trial tables name it. Of the "
        "others, compare large differences only.",
    )
    OTHER_BACKEND = (
        "serious",
        "Another program than the emulator carried the packets, and nobody timed or counted each of them. "
        "There is no ledger, no drop has a reason, slow operations have no cause, and figures have no range. "
        "Probe traffic showed rates and marks before the first trial; nothing shows the network during one.",
        "Read what the application measured. For what the network did to packets, run the same file with "
        "`backend: crosswind`.",
    )
    RANGES_WIDEN = (
        "note",
        "Each figure of a trial has a range: what it may have been without this machine's disturbances. "
        "Over the trials, these ranges add more than a tenth to the interval, which is from the measured "
        "values alone.",
        "Use the wider interval, or run on a quieter machine.",
    )
    VALUE_MISSING = (
        "serious",
        "Some counted trials lack a value. They are left out of its median.",
        "Their logs may say why it is missing.",
    )
    TOO_FEW_TRIALS = (
        "serious",
        "An exact interval needs a minimum number of trials: six for a median at 95 %. Runs of the same "
        "set-up often differ by 10 to 20 %.",
        "Ignore smaller differences, and add trials (`repeat`).",
    )
    INTERVAL_REFUSED = (
        "serious",
        "The trials are not independent, so no interval over them would hold. A token bucket emptied, the "
        "level changed, the values drift, or consecutive trials are correlated.",
        "Bring the system to the same state before every trial, rest longer, or block by session. The "
        "warning says what was found, after which trial, and what helps.",
    )
    OTHER_INTERVALS_REFUSED = (
        "serious",
        "The same holds for other figures than the first: their trials depend on time or on earlier trials.",
        "Look at the dots of these figures: the first trial is at the top of its row, the last at the "
        "bottom.",
    )
    REST_TOO_SHORT = (
        "serious",
        "`rest: auto` waits until token buckets are back at their first level. Some trial started at "
        "another level: an earlier trial was killed, or `initial` is less than the budget.",
        "Run the experiment again without interruption, or set a rest yourself.",
    )
    INTERVAL_GREW = (
        "note",
        "More trials made the interval wider, not narrower: later trials differ from earlier ones.",
        "Look at the dots: the first trial is at the top of its row, the last at the bottom.",
    )
    BIMODAL = (
        "serious",
        "Trials cluster around two values. The median lies in one cluster, or between them where no trial "
        "was.",
        "Quote both values, and find what selects between them.",
    )
    STRAGGLER = (
        "serious",
        "A node with an empty token bucket ran at its low rate while most of its peers did not. An "
        "operation that needs all nodes waits for it.",
        "Unless you study this, refill every bucket before a trial, or give all nodes the same budget.",
    )
    MANY_COMPARISONS = (
        "note",
        "Each interval holds at 95 % by itself. Among many comparisons, one in twenty misses on average. "
        "The words better and worse are corrected for all comparisons (Holm), so an interval can exclude 1 "
        "without either word.",
        "Confirm a single small difference with a separate run.",
    )
    ONE_SESSION = (
        "note",
        "All trials ran in one session on the same machines. The interval covers variation between trials, "
        "not between days or machines.",
        "Run it again on another day, and compare both runs with `crosswind compare`.",
    )
    MIXED_MACHINES = (
        "serious",
        "The machine or a tool changed during the run. Earlier and later trials do not measure the same "
        "system.",
        "Start a new run, and do not change the machine until it ends.",
    )
    DATAGRAMS_LOST = (
        "serious",
        "The real network between the machines lost packets, and trials in which it did are void.",
        "Find out where: a full socket or queue, a switch, or a firewall that ends flows. Use a network of "
        "your own between the machines, or lower the rates (`scale`).",
    )
    DATAGRAMS_FORGED = (
        "serious",
        "Datagrams arrived that no machine of the run has made. They were left out, but somebody sends to "
        "the agents.",
        "Let only the machines of the testbed reach the agents: their ports (`port` in the testbed), or, "
        "with `network: native`, their Ethernet.",
    )
    MACHINE_REMARK = (
        "note",
        "This was known about the machine before the first trial, and was no reason to refuse the run.",
        "`crosswind doctor` measures how exact this machine is; `crosswind plan` names what exceeds it.",
    )
    TCP_DEFAULTS_DIFFER = (
        "note",
        "The nodes use the TCP settings of the experiment, which differ from this machine's defaults. "
        "Results measured outside Crosswind may use other settings.",
        "Declare `tcp` in the topology as on the system that you want to predict.",
    )
    FEW_OPERATIONS = (
        "note",
        "Fewer than ten operations of a trial lie beyond a quantile that is shown.",
        "Make trials longer.",
    )
    OPERATIONS_FAILED = (
        "serious",
        "A failed operation has no latency, so the tail shows only the others.",
        "The load's summary of each trial has the first error (`monitors/*.json`).",
    )
    OPERATIONS_NEVER_SENT = (
        "serious",
        "The offered rate exceeded the application's capacity. A queue grew until the end, and latency "
        "would have kept growing.",
        "Read throughput as the capacity, and lower the rate to measure latency.",
    )
    GENERATOR_SATURATED = (
        "serious",
        "The load generator was busy all the time, or late although its connection was free. Part of the "
        "measured latency is its own.",
        "Lower the rate or the number of clients, or add CPUs.",
    )
    STAGGERED_WINDOWS = (
        "serious",
        "Several clients measured in windows that overlap only partly. Sums and averages include moments in "
        "which some clients had the network to themselves.",
        "Let all clients run for the same time, or use an application with one common window (`traffic`).",
    )
    CLOSED_LOOP = (
        "note",
        "Each client sends its next operation when the last one has ended. So a stall of 200 ms is one slow "
        "operation, not the thousand that a steady stream of users would have seen (coordinated omission). "
        "Throughput shows the loss that quantiles hide.",
        "Set a rate to measure what users experience.",
    )
    WRITES_UNCONFIRMED = (
        "serious",
        "The store confirms a write before the emulated network could delay it. With w=0, no write crosses "
        "the network.",
        "Choose a `durability` that waits for the replicas.",
    )
    PACKET_RECORDS_LOST = (
        "serious",
        "More packets were dropped or retransmitted than could be recorded. Counters are complete; curves "
        "of drops over time and causes of slow operations are not.",
        "Make trials shorter.",
    )
    SCALED = (
        "note",
        "Rates and buffers are multiplied by the scale. CPU time and timers, such as TCP's retransmission "
        "timeout, are not.",
        "Compare conditions with each other, not with a machine at full scale.",
    )
    SLOWED = (
        "note",
        "Time is slowed down in the nodes, and all figures are perceived ones. Some clocks of the kernel are "
        "not slowed down: a delayed acknowledgement is held for less time, which changes how many operations "
        "wait for a timeout where packets are lost. TCP's timers are finer, and without root a lost SYN is "
        "sent again sooner and CUBIC grows faster on long fat paths. Disks and memory look faster, too.",
        "Limit the CPUs of nodes (`cpus`) to those of machines that you know. Where CUBIC is not slowed down "
        "and its windows grow for seconds between losses, use `congestion_control: reno`. Run it again at "
        "twice the dilation: a result that stays the same does not depend on this machine's speed.",
    )
    DECLARED = (
        "note",
        "Notes from the experiment, its application or its conditions.",
        "Read them before you compare with the original study.",
    )
    POOLED_PICTURES = (
        "note",
        "Boxes describe all operations of a condition together. They have no interval: operations of one "
        "trial are not independent, and an interval from them would be far too narrow.",
        "Do not read a box as an interval.",
    )


@dataclass(frozen=True)
class Caution:
    """A warning that applies to a run; `text` says what was found and what to try."""

    kind: CautionKind
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

    def as_json(self) -> dict[str, JsonValue]:
        """Return the warning as plain data."""
        return {"id": self.id, "level": self.level, "title": self.title, "text": self.text}


def caution(kind: CautionKind, title: str, found: str = "") -> Caution:
    """Return a warning whose text says what was found, what it means, and what to try."""
    return Caution(kind, title, " ".join(part for part in (found, kind.meaning, kind.remedy) if part))


def sentences(texts: Iterable[str]) -> str:
    """Return the texts as sentences, each with a capital and a full stop."""
    return " ".join(f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in texts)

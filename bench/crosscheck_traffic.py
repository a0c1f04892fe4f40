"""`traffic` beside iperf3 on the same fabric: two tools that count the same bytes must say the same."""

from collections.abc import Iterator, Mapping

from bench.figures import Figure, Skipped, figure, skipped
from crosswind.app import Application, Stage, find
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.spec import FabricSpec
from crosswind.testbed import Agent, Ended, RunningFabric, TestbedError, WorkFolder
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

RATES_BPS = (100_000_000, 1_000_000_000)
# One connection each: with several, `traffic` has a thread for each and iperf3 3.12 one for all, and on a
# busy machine the scheduler's shares would be compared.
ASKED: dict[str, Mapping[str, object]] = {
    "iperf3": {"streams": 1, "duration": "3s", "warm_up": "1s"},
    "traffic": {"connections": 1, "duration": "3s", "warm_up": "1s"},
}
# Payload of a segment in what it takes on the wire, with timestamps.
TCP_SHARE = 1448 / 1538


def crosscheck_traffic(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the ratio of what both measure of one connection at each rate, in turns."""
    if IPERF3.missing():
        yield skipped("traffic beside iperf3", "iperf3 is missing; run `crosswind apps install iperf3`")
        return
    for rate_bps in RATES_BPS:
        goodput_bps: dict[str, list[float]] = {name: [] for name in ASKED}
        spec = plain_fabric(("client", "server"), rate_bps=rate_bps, delay_ns=500_000, buffer_bytes=256 << 10)
        for number in range(rounds):
            # Who goes first changes from round to round, so that a machine that warms up or fills favours
            # none.
            for name in sorted(ASKED, reverse=bool(number % 2)):
                goodput_bps[name].append(measured(spec, find(name)))
        pairs = zip(goodput_bps["traffic"], goodput_bps["iperf3"], strict=True)
        yield figure(
            f"goodput of traffic by that of iperf3, link of {rate_text(rate_bps)}",
            "ratio",
            [traffic / iperf3 for traffic, iperf3 in pairs],
            "0.95 to 1.05",
            of_ceiling={
                name: [round(each / rate_bps / TCP_SHARE, 4) for each in values]
                for name, values in goodput_bps.items()
            },
        )


def measured(spec: FabricSpec, kind: type[Application]) -> float:
    """Run an application once; return its goodput in bit/s."""
    application = kind(kind.Parameters.model_validate(ASKED[kind.name]))
    with WorkFolder() as work, Agent() as agent, RunningFabric(agent, spec, work.path / "logs") as fabric:
        stage = Stage(fabric, work.fresh("trial", *fabric.application_account), seed=1)
        application.start(stage)
        load = application.load(stage)
        if load.process.wait(load.longest_s) != Ended(0, None):
            raise TestbedError(f"{load.process}: {load.first_error() or load.process.last_words()}")
        metrics = load.outcome().metrics
        application.stop(stage)
    (goodput_bps,) = (metric.value for metric in metrics if metric.metric == "goodput")
    return goodput_bps

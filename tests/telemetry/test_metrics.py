"""Metrics say what the stream said, in a format that other tools read, and to this machine alone."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from events import BEGUN, NETWORK, SO_FAR, begun, change, ended, fault, operations, row, step
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from crosswind.errors import CrosswindError
from crosswind.spec.resolved import ResolvedCut
from crosswind.stream import Credit, Event, Lateness, Note, Stall, Step, Stream, TrialReached
from crosswind.telemetry import Metrics

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class Served:
    """Metrics of a stream of the test."""

    def __init__(self, stream: Stream[Event], metrics: Metrics[Event]) -> None:
        self.stream = stream
        self.metrics = metrics
        self.port = int(metrics.url.split(":")[2].split("/")[0])

    def ask(
        self, path: str = "/metrics", method: str = "GET", **headers: str
    ) -> tuple[int, str, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest(method, path, skip_host=True)
        for name, value in ({"Host": f"127.0.0.1:{self.port}"} | headers).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer

    def samples(self, *events: Event) -> Samples:
        """Publish events; return what is served once the last of them is counted."""
        for event in events:
            self.stream.publish(event)
        deadline = time.monotonic() + 10
        while self.metrics._events._waiting and time.monotonic() < deadline:
            time.sleep(0.001)
        with self.metrics._reading:  # The last event may have been taken and not yet counted.
            pass
        time.sleep(0.01)
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(self.ask()[1])
            for sample in family.samples
        }


@contextmanager
def serving(waiting_max: int = 600) -> Iterator[Served]:
    stream = Stream[Event]()
    with Metrics(NETWORK, stream.subscribe(waiting_max), 0) as metrics:
        yield Served(stream, metrics)
        stream.end()


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as served:
        yield served


def of(samples: Samples, name: str, **labels: str) -> float | None:
    """Return the value of the one sample with this name and, among others, these labels."""
    found = [
        value
        for (sample, has), value in samples.items()
        if sample == f"crosswind_{name}" and {*labels.items()} <= {*has}
    ]
    assert len(found) < 2, found
    return found[0] if found else None


def test_rows_add_up_by_element_and_class(served: Served) -> None:
    police = "h0/switch.ingress/0:police"
    samples = served.samples(
        step(rows=(row(police, arrived_bytes=10, departed_bytes=7, dropped_packets=2, dropped_bytes=3),)),
        step(
            rows=(
                row(police, arrived_bytes=5, departed_bytes=5),
                row(police, "ghost", arrived_bytes=100, dropped_packets=1),
            )
        ),
        step(domain=1, rows=(row("h1/uplink", arrived_bytes=1),)),
    )
    at: dict[str, str] = {"element": police, "place": "switch.ingress", "link": "h0->s0", "class": "real"}
    assert of(samples, "element_arrived_bytes_total", **at) == 15
    assert of(samples, "element_departed_bytes_total", **at) == 12
    assert of(samples, "element_dropped_packets_total", **at) == 2
    assert of(samples, "element_dropped_bytes_total", **at) == 3
    assert of(samples, "element_arrived_bytes_total", **(at | {"class": "ghost"})) == 100
    assert of(samples, "element_arrived_bytes_total", element="h1/uplink") == 1
    assert of(samples, "steps_total") == 3


@pytest.mark.parametrize(
    ("element", "place", "link"),
    [
        ("h0/uplink", "uplink", "h0->s0"), ("h0/downlink", "downlink", "s0->h0"),
        ("s0->s1/wire", "wire", "s0->s1"), ("s0->s1/wan/0:delay", "wan", "s0->s1"),
        ("db/host.egress/0:credit", "host.egress", "h0->s0"),
        ("h1/host.ingress/1:queue", "host.ingress", "s1->h1"),
        ("h1/switch.egress/0:fifo", "switch.egress", "s1->h1"),
        ("h0/link.down/0:delay", "link.down", "s0->h0"),
        ("h0/link/0:lose", "link", ""), ("s0<->s1/wan", "wan", ""), ("unknown", "", ""),
    ],
)  # fmt: skip
def test_an_element_has_its_place_and_its_link(served: Served, element: str, place: str, link: str) -> None:
    samples = served.samples(step(rows=(row(element, arrived_bytes=1),)))
    named = {"element": element, "place": place, "link": link}
    assert of(samples, "element_arrived_bytes_total", **named) == 1


def test_the_counters_of_links_begin_at_zero(served: Served) -> None:
    samples = served.samples()
    for link in NETWORK.link:
        assert of(samples, "element_departed_bytes_total", link=link) == 0


def test_what_waits_is_of_both_classes_and_goes_with_its_condition(served: Served) -> None:
    both = (row("h0/uplink", queued_bytes=9), row("h0/uplink", "ghost", queued_bytes=9))
    fifo = row("h0/switch.egress/0:fifo", queued_bytes=4)
    credit = (Credit(element="db/host.egress/0:credit", left_bits=7),)
    samples = served.samples(step(rows=(*both, fifo), credit=credit))
    assert of(samples, "element_queued_bytes", element="h0/uplink") == 9
    assert of(samples, "credit_bits", element="db/host.egress/0:credit", link="h0->s0") == 7
    samples = served.samples(step(rows=both, changes=(change("none"),)))
    assert of(samples, "element_queued_bytes", element="h0/uplink") == 9
    assert of(samples, "element_queued_bytes", element=fifo.element) is None
    assert of(samples, "credit_bits") is None
    # What was counted stays.
    assert of(samples, "element_arrived_bytes_total", element=fifo.element) == 0


def test_the_active_condition_is_named(served: Served) -> None:
    samples = served.samples(step(changes=(change("far", "up"),)), step(1, changes=(change("far", "up"),)))
    assert of(samples, "condition_info", condition="far", by="up") == 1
    assert of(samples, "condition_changes_total", by="up") == 1
    timeline = step(changes=(change("near", "set"), change("near", "timeline"), change("near", "timeline")))
    samples = served.samples(timeline)
    assert [dict(labels)["by"] for name, labels in samples if name == "crosswind_condition_info"] == [
        "set",
        "timeline",
    ]
    assert of(samples, "condition_changes_total", by="timeline") == 2


def test_each_cut_that_is_active_is_named(served: Served) -> None:
    silent, reset = (
        ResolvedCut(sources=["a", "b"], targets=["z"]),
        ResolvedCut(sources=["c"], targets=["z"], answer="reset"),
    )
    cuts = (change("c", "timeline", [silent]), change("c", "cut", [reset]))
    samples = served.samples(step(changes=(change("c", "up"), *cuts)))
    assert of(samples, "cut", **{"from": "a b"}, to="z", answer="silence", by="timeline") == 1
    assert of(samples, "cut", **{"from": "c"}, to="z", answer="reset", by="cut") == 1
    assert of(samples, "condition_info", by="cut") is None
    samples = served.samples(step(changes=(change("c", "timeline", []), change("c", "cut", []))))
    assert not [name for name, _ in samples if name == "crosswind_cut"]


def test_each_fault_of_a_node_that_lasts_is_named_and_each_is_counted(served: Served) -> None:
    samples = served.samples(fault("pause", "a", "b"), fault("squeeze", "a", by="timeline"))
    assert of(samples, "node_fault", node="a", fault="pause", by="hand") == 1
    assert of(samples, "node_fault", node="b", fault="pause") == 1
    assert of(samples, "node_fault", node="a", fault="squeeze", by="timeline") == 1
    samples = served.samples(fault("resume", "a"), fault("kill", "b"), fault("restart", "b"))
    assert [dict(labels) for name, labels in samples if name == "crosswind_node_fault"] == [
        {"node": "a", "fault": "squeeze", "by": "timeline"}
    ]
    # One that began and ended between two scrapes is seen in its counter.
    assert of(samples, "node_faults_total", node="b", fault="kill", by="hand") == 1
    samples = served.samples(BEGUN, begun("t1"), ended("t1"))
    assert of(samples, "node_fault") is None
    assert of(samples, "node_faults_total", fault="squeeze") == 1


def test_restarts_count_from_zero_so_that_prometheus_sees_the_first_increase(served: Served) -> None:
    # Of a node that runs nothing else shows it.
    samples = served.samples(BEGUN)
    assert of(samples, "node_faults_total", node="db", fault="restart", by="timeline") == 0
    samples = served.samples(fault("restart", "db", by="timeline"))
    assert of(samples, "node_faults_total", node="db", fault="restart", by="timeline") == 1
    assert of(samples, "node_faults_total", node="db", fault="restart", by="hand") == 0
    assert of(samples, "node_fault") is None


def test_lateness_counts_on_where_a_window_begins_anew(served: Served) -> None:
    def late(domain: int, window: int, packets: int, missed: int, max_ns: int) -> Step:
        lateness = Lateness(packets=packets, early=1, missed=missed, max_ns=max_ns)
        return step(domain, window, lateness=lateness)

    samples = served.samples(
        late(0, 1, 10, 2, 5_000), late(1, 1, 20, 0, 9_000), late(0, 1, 15, 2, 5_000),
        # A new window: 30 packets of its own, more than the 15 before.
        late(0, 2, 30, 1, 1_000),
    )  # fmt: skip
    assert of(samples, "departed_packets_total") == 15 + 20 + 30
    assert of(samples, "late_packets_total") == 2 + 0 + 1
    assert of(samples, "early_packets_total") == 1 + 1 + 1
    assert of(samples, "lateness_max_seconds") == 9e-6


def test_stalls_and_what_was_left_out_are_counted(served: Served) -> None:
    stalls = (Stall(at_ns=1, length_ns=5_000_000), Stall(at_ns=2, length_ns=1_000_000_000))
    samples = served.samples(
        step(stalls=stalls, left_out=3, made_ns=10**9), step(left_out=5, made_ns=2 * 10**9)
    )
    assert of(samples, "stalls_total") == 2
    assert of(samples, "stall_seconds_total") == pytest.approx(1.005)
    assert of(samples, "steps_left_out_total") == 5
    assert of(samples, "report_seconds_total") == 2


def test_what_the_reader_of_events_lost_is_counted() -> None:
    stream = Stream[Event]()
    metrics = Metrics(NETWORK, stream.subscribe(waiting_max=2), 0)
    for _ in range(5):
        stream.publish(step())
    with metrics:
        samples = Served(stream, metrics).samples()
    assert of(samples, "events_lost_total") == 3
    assert of(samples, "steps_total") == 2


def test_a_run_has_its_progress_and_its_trial(served: Served) -> None:
    samples = served.samples(
        BEGUN, Note(text="a note"), begun("t1"), TrialReached(trial="t1", step="prepared")
    )
    assert of(samples, "run_info", experiment="try", application="rpc", baseline="none") == 1
    assert of(samples, "run_trials") == 4
    assert of(samples, "run_trials_ended") == 1
    assert of(samples, "run_left_seconds") == 12.5
    labels = {"trial": "t1", "attempt": "2", "block": "3", "condition": "far", "step": "prepared"}
    assert of(samples, "trial_info", **labels) == 1
    samples = served.samples(
        ended("t1"), begun("t2", 2), ended("t2", fidelity="void"), begun("t2-a2", 2),
        ended("t2-a2", "failed", None, explored=True), begun("t3", 2), ended("t3", "failed", None),
    )  # fmt: skip
    assert of(samples, "trial_info") is None
    assert of(samples, "run_trials_ended") == 3
    assert of(samples, "attempts_total", condition="far", status="done", fidelity="faithful") == 1
    assert of(samples, "attempts_total", status="done", fidelity="void") == 1
    assert of(samples, "attempts_total", status="failed", fidelity="") == 2
    assert of(samples, "trial_figure_value", condition="far", figure="P99", unit="s") == 2e-3
    assert of(samples, "trial_figure_value", condition="far", figure="sent", unit="B") == 7


def test_figures_so_far_have_intervals_where_there_are_enough_trials(served: Served) -> None:
    samples = served.samples(BEGUN, SO_FAR)
    assert of(samples, "figure_value", condition="none", figure="P99", unit="s") == 2e-3
    assert of(samples, "figure_low", condition="none") == 1e-3
    assert of(samples, "figure_high", condition="none") == 3e-3
    assert of(samples, "figure_value", condition="far") == 9e-3
    assert of(samples, "figure_low", condition="far") is None
    assert of(samples, "condition_trials", condition="none") == 6
    assert of(samples, "condition_trials_needed", condition="none") is None
    assert of(samples, "condition_trials_needed", condition="far") == 3
    assert of(samples, "run_blocks") == 2
    assert of(samples, "run_blocks_planned") == 6


def test_operations_are_counted_and_their_latencies_are_those_of_now(served: Served) -> None:
    samples = served.samples(BEGUN, begun("t1"), operations(10, 1), operations(30, median_ns=2_000_000))
    assert of(samples, "operations_total", application="rpc") == 40
    assert of(samples, "operations_failed_total", application="rpc") == 1
    assert of(samples, "operation_latency_seconds", quantile="0.5") == 2e-3
    assert of(samples, "operation_latency_seconds", quantile="0.99") == 4e-3
    assert of(samples, "operation_latency_seconds", quantile="1") == 6e-3
    samples = served.samples(operations(0, median_ns=None))
    assert of(samples, "operation_latency_seconds") is None
    samples = served.samples(operations(5), ended("t1"))
    assert of(samples, "operations_total", application="rpc") == 45
    assert of(samples, "operation_latency_seconds") is None


def test_counters_grow_over_the_networks_of_a_run(served: Served) -> None:
    def network(packets: int, left_out: int) -> Step:
        return step(
            rows=(row("h0/uplink", arrived_bytes=10, queued_bytes=5),),
            changes=(change("far", "up"),),
            left_out=left_out,
            made_ns=1000,
            lateness=Lateness(packets=packets, early=0, missed=0, max_ns=1),
        )

    samples = served.samples(BEGUN, begun("t1"), network(7, 4), ended("t1"))
    # Between trials there is no network.
    assert of(samples, "element_queued_bytes") is None
    assert of(samples, "condition_info") is None
    assert of(samples, "lateness_max_seconds") is None
    # The next one counts from zero, and has done more than the one before.
    samples = served.samples(begun("t2"), network(9, 6))
    assert of(samples, "departed_packets_total") == 16
    assert of(samples, "steps_left_out_total") == 10
    assert of(samples, "element_arrived_bytes_total", element="h0/uplink") == 20
    assert of(samples, "element_queued_bytes") == 5


def test_names_are_those_of_the_convention(served: Served) -> None:
    served.samples(BEGUN, begun("t1"), ended("t1"), step(rows=(row("h0/uplink"),)))
    families = [*text_string_to_metric_families(served.ask()[1])]
    assert len(families) > 20
    for family in families:
        assert family.name.startswith("crosswind_")
        assert family.documentation.endswith(".")
        words = family.name.split("_")
        assert family.unit == (words[-1] if words[-1] in ("bytes", "bits", "packets", "seconds") else "")
    assert (
        served.ask()[2]
        .getheader("Content-Type", "")
        .startswith("application/openmetrics-text; version=1.0.0")
    )


@pytest.mark.parametrize("name", ['say "no"', "back\\slash", "two\nlines", "\u00fc\u0001", "{}=,", ""])
def test_any_name_of_a_condition_is_read_back(served: Served, name: str) -> None:
    samples = served.samples(step(changes=(change(name),)))
    assert of(samples, "condition_info", condition=name) == 1


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "[::1]:{port}", ""])
def test_a_foreign_host_is_refused(served: Served, host: str) -> None:
    status, said, _ = served.ask(Host=host.format(port=served.port))
    assert status == 403
    assert "crosswind_" not in said


def test_another_page_is_refused_and_nothing_else_is_served(served: Served) -> None:
    assert served.ask(Origin="http://evil.example")[0] == 403
    status, _, answer = served.ask()
    assert status == 200
    assert answer.getheader("Access-Control-Allow-Origin") is None
    assert served.ask("/")[0] == 401
    assert served.ask("/api/network")[0] == 401
    assert served.ask(method="POST")[0] == 401
    # What a scraper may add.
    assert served.ask("/metrics?x=1")[0] == 200


def test_a_taken_port_is_an_error_in_one_line(served: Served) -> None:
    with pytest.raises(CrosswindError, match=f"--metrics {served.port}: Address already in use; choose"):
        Metrics(NETWORK, served.stream.subscribe(), served.port)


def test_the_end_of_the_stream_leaves_the_last_values(served: Served) -> None:
    served.stream.publish(step(rows=(row("h0/uplink", arrived_bytes=3),)))
    served.stream.end()
    assert of(served.samples(), "element_arrived_bytes_total", element="h0/uplink") == 3

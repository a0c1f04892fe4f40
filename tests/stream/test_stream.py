"""A stream hands every event to every reader in order, and waits for none."""

import threading
import time

from crosswind.stream import Event, Note, RunEnded, Step, Stream

N = 10_000


def numbered(number: int) -> Event:
    return Event(event=str(number))


def test_every_reader_gets_every_event_in_order() -> None:
    stream = Stream[Event]()
    readers = [stream.subscribe(N) for _ in range(3)]
    for number in range(N):
        stream.publish(numbered(number))
    stream.end()
    for reader in readers:
        assert [event.event for event in reader] == [str(number) for number in range(N)]
        assert (reader.lost, reader.ended) == (0, True)


def test_a_slow_reader_loses_the_oldest_and_learns_how_many() -> None:
    stream = Stream[Event]()
    slow, fast = stream.subscribe(waiting_max=3), stream.subscribe(N)
    for number in range(10):
        stream.publish(numbered(number))
    stream.end()
    assert [event.event for event in slow] == ["7", "8", "9"]
    assert slow.lost == 7
    assert len(list(fast)) == 10


def test_publishing_waits_for_no_reader() -> None:
    stream = Stream[Event]()
    readers = [stream.subscribe(10) for _ in range(20)]  # Nobody reads.
    event = numbered(0)
    began = time.monotonic()
    for _ in range(1000):
        stream.publish(event)
    # 20,000 events handed over; a publisher that waited for one reader would never end.
    assert time.monotonic() - began < 20
    assert {reader.lost for reader in readers} == {990}


def test_all_readers_see_the_events_of_many_threads_in_one_order() -> None:
    stream = Stream[Event]()
    readers = [stream.subscribe(N) for _ in range(2)]

    def publish(thread: int) -> None:
        for number in range(500):
            stream.publish(Event(event=f"{thread} {number}"))

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.end()
    first, second = ([event.event for event in reader] for reader in readers)
    assert first == second
    assert len(first) == 2000
    of_one = [name for name in first if name.startswith("2 ")]
    assert of_one == [f"2 {number}" for number in range(500)]


def test_a_reader_that_waits_is_woken_by_an_event_and_by_the_end() -> None:
    stream = Stream[Event]()
    seen: list[str] = []
    reader = stream.subscribe()
    thread = threading.Thread(target=lambda: seen.extend(event.event for event in reader))
    thread.start()
    stream.publish(numbered(1))
    stream.end()
    thread.join(10)
    assert not thread.is_alive()
    assert seen == ["1"]


def test_a_closed_reader_gets_nothing_more_and_one_after_the_end_ends_at_once() -> None:
    stream = Stream[Event]()
    with stream.subscribe() as reader:
        stream.publish(numbered(1))
    stream.publish(numbered(2))
    assert [event.event for event in reader] == ["1"]
    stream.end()
    assert list(stream.subscribe()) == []


def test_nothing_comes_in_time() -> None:
    assert Stream[Event]().subscribe().take(timeout_s=0.01) is None


def test_a_step_is_read_as_the_agent_writes_it() -> None:
    row = {"at_ns": 1, "element": "h0/uplink", "class": "real", "arrived_bytes": 2, "departed_bytes": 3,
           "dropped_packets": 4, "dropped_bytes": 5, "queued_bytes": 6}  # fmt: skip
    change = {"at_ns": 1, "asked_ns": 1, "by": "set", "condition": "slow", "places": {"link": []}}
    step = {"event": "step", "domain": 0, "at_ns": 1, "window_started_ns": 0,
            "rows": [row], "changes": [change],
            "credit": [{"element": "a/host.egress/0:credit", "left_bits": 7}],
            "stalls": [{"at_ns": 1, "length_ns": 2}],
            "lateness": {"packets": 9, "early": 0, "missed": 1, "max_ns": 8},
            "left_out": 0, "made_ns": 10}  # fmt: skip
    read = Step.model_validate(step)
    assert (read.rows[0].packet_class, read.changes[0].condition) == ("real", "slow")
    assert read.model_dump(by_alias=True, mode="json") == step


def test_a_reader_takes_only_the_kinds_that_it_names_and_the_stream_knows_which_are_taken() -> None:
    stream = Stream[Event]()
    assert not stream.wants(Note)
    with stream.subscribe(kinds=(Note,)) as notes:
        assert stream.wants(Note)
        assert not stream.wants(RunEnded)
        with stream.subscribe():
            assert stream.wants(RunEnded)
        for event in (Note(text="one"), RunEnded(exit=0, remarks=()), Note(text="two")):
            stream.publish(event)
        stream.end()
        assert list(notes) == [Note(text="one"), Note(text="two")]

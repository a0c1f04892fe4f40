"""What a user moves by hand is a condition in the form of a file, and all moves are one with a timeline."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import crosswind
from crosswind.console.moves import BY_HAND, Hand, Move, Moved, Place, Slider, Values, words_of
from crosswind.spec.document import document_of
from crosswind.spec.kinds import check_file

STAR = {
    "hosts": 3,
    "uplink": {"rate": "100Mbit/s", "delay": "1ms", "buffer": "256KiB"},
    "nodes": {"a": "h0", "b": "h1"},
}
GRAPH = {
    "switches": ["left", "right"],
    "hosts": {"h0": "left", "h1": "right"},
    "links": [{"ends": ["left", "right"], "rate": "1Gbit/s", "delay": "2ms", "buffer": "1MiB"}],
    "uplink": {"rate": "100Mbit/s", "delay": "50us", "buffer": "256KiB"},
    "nodes": {"a": "h0", "b": "h1"},
}
NOW = datetime(2026, 11, 24, tzinfo=UTC)


def moved(slider: Slider, value: int | None, on: str | None = None, place: Place = "hosts") -> Moved:
    return Moved(place=place, on=on, slider=slider, value=value)


def hand(topology: dict[str, object]) -> Hand:
    return Hand(crosswind.Fabric(topology).graph)


def after(hand: Hand, *moves: Moved) -> dict[str, object]:
    for each in moves:
        hand.values = hand.with_moved(each)
    return hand.places(hand.values)


def test_nothing_moved_is_nothing_done() -> None:
    assert after(hand(STAR)) == {"host.egress": [], "link": [], "switch.egress": []}


def test_values_of_all_links_name_none() -> None:
    places = after(
        hand(STAR),
        moved("delay_us", 20_000),
        moved("jitter_us", 1500),
        moved("loss_ppm", 10_000),
        moved("rate_bps", 10_000_000),
        moved("buffer_bytes", 64_000),
    )
    queue = [{"queue": {"buffer": "64kB"}}]
    assert places == {
        "host.egress": queue,
        "link": [
            {"delay": {"time": "20ms", "jitter": "1500us"}},
            {"lose": {"bernoulli": "1%"}},
            {"capacity": {"steps": {"0s": "10Mbit/s"}}},
        ],
        "switch.egress": queue,
    }


def test_what_one_host_has_takes_the_place_of_what_all_have() -> None:
    places = after(hand(STAR), moved("delay_us", 20_000), moved("delay_us", 0, on="h1"))
    assert places["link"] == [{"delay": {"time": "20ms", "on": ["h0", "h2"]}}]
    places = after(hand(STAR), moved("delay_us", 20_000), moved("delay_us", 5, on="h1"))
    assert places["link"] == [
        {"delay": {"time": "20ms", "on": ["h0", "h2"]}},
        {"delay": {"time": "5us", "on": ["h1"]}},
    ]


def test_a_slider_goes_back_to_what_is_declared() -> None:
    places = after(hand(STAR), moved("rate_bps", 10**6), moved("rate_bps", None))
    assert places["link"] == []


ALL: tuple[tuple[Slider, int], ...] = (
    ("delay_us", 123), ("jitter_us", 45), ("loss_ppm", 7), ("rate_bps", 123_457), ("buffer_bytes", 20_001),
)  # fmt: skip


@pytest.mark.parametrize(
    ("topology", "places"),
    [(STAR, [("hosts", None), ("hosts", "h1")]),
     (GRAPH, [("hosts", None), ("hosts", "h0"), ("trunks", None), ("trunks", "left->right")])],
)  # fmt: skip
def test_what_is_saved_is_valid_and_says_what_was_done(
    topology: dict[str, object], places: list[tuple[Place, str | None]], tmp_path: Path
) -> None:
    own = hand(topology)
    at_ns = 5_000_000_000
    for place, on in places:
        for slider, value in ALL:
            each = moved(slider, value, on, place)
            own.values = own.with_moved(each)
            own.note(Move(at_ns, words_of(each), own.places(own.values), (place, on, slider)))
            at_ns += 1_234_567_890
    file = tmp_path / "by-hand.yaml"
    file.write_text(own.saved(NOW))
    assert check_file(str(file))[0] == "file of conditions"
    net = crosswind.Fabric(topology, condition=str(file))
    condition = net._setup.condition(str(file))
    assert condition.name == BY_HAND
    # The condition begins with the first move; a value for one that all have already changes nothing.
    changes = sum(on is None for _, on in places) * len(ALL)
    assert len(condition.timeline) == changes - 1
    assert condition.timeline[0].at_ns == 1_234_000_000
    # What the last step leaves is what the sliders say: places that a step does not name stay.
    last = dict(condition.places)
    for step in condition.timeline:
        last |= step.places
    now = net._setup.condition_in(document_of({BY_HAND: own.places(own.values)}, BY_HAND))
    assert {place: found for place, found in last.items() if found} == {
        place: found for place, found in now.places.items() if found
    }


def test_moves_of_one_slider_in_a_second_are_one() -> None:
    own = hand(STAR)
    for number in range(20):
        own.note(Move(number * 10**8, f"delay {number}", {}, ("link", None, "delay_us")))
    own.note(Move(2 * 10**9, "loss", {}, ("link", None, "loss_ppm")))
    own.note(Move(2 * 10**9 + 1, "delay again", {}, ("link", None, "delay_us")))
    assert [move.words for move in own.moves] == ["delay 19", "loss", "delay again"]


def test_a_named_condition_begins_what_is_saved_anew() -> None:
    own = hand(STAR)
    own.note(Move(1, "delay", {"link": [{"delay": {"time": "1s"}}]}, ("link", None, "delay_us")))
    own.note(Move(2, "condition none"))
    own.note(Move(3, "loss", {"link": [{"lose": {"bernoulli": "1%"}}]}, ("link", None, "loss_ppm")))
    assert "delay" not in own.saved(NOW)
    assert "link: [{lose: {bernoulli: 1%}}]" in own.saved(NOW)


def test_moves_in_words() -> None:
    assert words_of(moved("delay_us", 20_000)) == "delay of all links of hosts: 20 ms"
    assert words_of(moved("loss_ppm", 1, on="h0")) == "loss of h0: 0.0001 %"
    assert words_of(moved("rate_bps", 0)) == "rate of all links of hosts: none"
    assert words_of(moved("buffer_bytes", None, on="h0")) == "buffer of h0: as all"
    assert (
        words_of(moved("delay_us", None, place="trunks"))
        == "delay of all links between switches: as declared"
    )


def test_values_over_others() -> None:
    assert Values(delay_us=1).over(Values(delay_us=2, loss_ppm=3)) == Values(delay_us=1, loss_ppm=3)

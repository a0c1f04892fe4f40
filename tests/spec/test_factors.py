"""Factors become conditions: grids, ranges, Latin hypercubes, with some combinations more or less."""

import json

import pytest

from crosswind.spec import SpecErrors, resolve
from crosswind.spec.factor import LevelRange
from crosswind.spec.level import read_level
from crosswind.spec.load import parse_experiment

FILE = """\
name: surface
topology:
  hosts: 2
  uplink: {rate: 10Gbit/s, delay: 2us, buffer: 512KiB}
  nodes: {server: h0, client: h1}
factors:
  bandwidth: %s
  delay: %s
%s
conditions: %s
application:
  rpc: {size: small}
trials: {repeat: 3, seed: 7}
"""
TEMPLATE = """\

  - none
  - $bandwidth-$delay:
      summary: $bandwidth and $delay more
      link: [{shape: {rate: $bandwidth, burst: 75kB, buffer: 512KiB}}, {delay: {time: $delay}}]"""


def resolved(
    bandwidth: str = "[1Gbit/s, 2Gbit/s]",
    delay: str = "[50us, 1ms]",
    design: str = "",
    conditions: str = TEMPLATE,
):
    text = FILE % (bandwidth, delay, f"design: {design}" if design else "", conditions)
    return resolve(parse_experiment(text.encode(), "surface.yaml")).as_json()


def names(found) -> list[str]:
    return [condition["name"] for condition in found["conditions"]]


def points(found) -> list[dict[str, float]]:
    return [condition["factors"] for condition in found["conditions"] if "factors" in condition]


def test_a_grid_has_every_combination_in_the_order_of_the_file_beside_what_needs_no_factor() -> None:
    found = resolved()
    assert names(found) == ["none", "1gbit-50us", "1gbit-1ms", "2gbit-50us", "2gbit-1ms"]
    assert points(found)[1] == {"bandwidth": 1_000_000_000, "delay": 1_000_000}
    assert found["conditions"][2]["summary"] == "1Gbit/s and 1ms more"
    assert found["conditions"][2]["places"]["link"] == [
        {"shape": {"rate_bps": 1_000_000_000, "burst_bytes": 75_000, "buffer_bytes": 524_288}},
        {"delay": {"time_ns": 1_000_000}},
    ]
    assert found["factors"]["delay"] == {"unit": "ns", "spacing": None, "levels": ["50us", "1ms"]}
    assert json.loads(json.dumps(found)) == found


def test_an_experiment_without_factors_resolves_to_what_it_did_before_there_were_any() -> None:
    text = FILE.replace("factors:\n  bandwidth: %s\n  delay: %s\n%s\n", "") % "[none]"
    assert "factors" not in resolve(parse_experiment(text.encode(), "plain.yaml")).as_json()


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        ("{from: 1us, to: 1ms, levels: 4, spacing: log}", ["1us", "10us", "100us", "1ms"]),
        # Ratios of 10^(3/4): 5.62, 31.6, 178.
        ("{from: 1us, to: 1ms, levels: 5, spacing: log}", ["1us", "5.62us", "31.6us", "178us", "1ms"]),
        ("{from: 0us, to: 1ms, levels: 3}", ["0us", "500us", "1ms"]),
        ("{from: 0.05ms, to: 2s, levels: 2}", ["0.05ms", "2s"]),
    ],
)
def test_a_range_keeps_its_ends_and_rounds_what_lies_between(written: str, texts: list[str]) -> None:
    assert resolved(delay=written)["factors"]["delay"]["levels"] == texts


@pytest.mark.parametrize(
    ("begin", "end", "middle"),
    [("1Gbit/s", "4Gbit/s", "2.5Gbit/s"), ("15kB", "64KiB", "40.3kB"), ("0%", "5%", "2.5%"), (1, 9, "5")],
)
def test_a_range_of_any_quantity_has_levels_in_units_that_suit(begin, end, middle: str) -> None:
    read = LevelRange.model_validate({"from": begin, "to": end, "levels": 3})
    assert read.levels()[1].text == middle


def test_a_latin_hypercube_has_one_point_in_every_part_of_every_factor() -> None:
    found = points(
        resolved("{from: 1Gbit/s, to: 9Gbit/s}", "{from: 100us, to: 900us}", "{latin hypercube: 8}")
    )
    for name, step in (("bandwidth", 10**9), ("delay", 10**5)):
        assert sorted((point[name] - step) // step for point in found) == list(range(8))
    # The middles of the parts, and no two factors in step.
    assert {point["delay"] % 10**5 for point in found} == {50_000}
    assert found == points(
        resolved("{from: 1Gbit/s, to: 9Gbit/s}", "{from: 100us, to: 900us}", "{latin hypercube: 8}")
    )


def test_a_latin_hypercube_uses_listed_levels_equally_often() -> None:
    found = points(resolved(delay="{from: 100us, to: 900us}", design="{latin hypercube: 6}"))
    assert [point["bandwidth"] for point in found].count(10**9) == 3


def test_combinations_are_left_out_and_added_whatever_unit_they_are_written_in() -> None:
    design = (
        "{exclude: [{bandwidth: 1000Mbit/s, delay: 1000us}], include: [{bandwidth: 4Gbit/s, delay: 2ms}]}"
    )
    assert names(resolved(design=design)) == ["none", "1gbit-50us", "2gbit-50us", "2gbit-1ms", "4gbit-2ms"]


def test_a_condition_that_names_some_factors_varies_with_these_alone() -> None:
    slow, far = (
        "s-$bandwidth: {link: [{pace: {rate: $bandwidth}}]}",
        "d-$delay: {link: [{delay: {time: $delay}}]}",
    )
    found = resolved(conditions=f"[{{{slow}}}, {{{far}}}]")
    assert names(found) == ["s-1gbit", "s-2gbit", "d-50us", "d-1ms"]
    assert points(found)[0] == {"bandwidth": 10**9}


def test_levels_can_be_names_of_the_catalogue_and_words() -> None:
    found = resolved(
        "[a, b-corrected]", "[1ms]", conditions="[ballani-$bandwidth, {$delay: {summary: after $delay}}]"
    )
    assert names(found)[0] == "ballani-a"
    assert points(found)[0] == {"bandwidth": "a"}
    assert found["factors"]["bandwidth"]["unit"] is None


def test_what_is_no_quantity_makes_all_levels_of_a_factor_names() -> None:
    found = resolved("[1Gbit/s, unlimited]", "[1ms]")
    assert points(found) == [
        {"bandwidth": "1Gbit/s", "delay": 10**6},
        {"bandwidth": "unlimited", "delay": 10**6},
    ]
    assert names(found)[1:] == ["1gbit-1ms", "unlimited-1ms"]


def test_no_delay_is_a_level_of_delay() -> None:
    found = resolved(delay="[0us, 1ms]")
    assert [len(condition["places"]["link"]) for condition in found["conditions"][1:]] == [1, 2, 1, 2]


def test_too_many_combinations_are_refused_before_they_are_made() -> None:
    many = "{from: 1us, to: 1ms, levels: 100}\n  third: {from: 1%, to: 9%, levels: 100}"
    with pytest.raises(SpecErrors, match="make 1000000 combinations; at most 20000"):
        resolved("{from: 1Mbit/s, to: 9Gbit/s, levels: 100}", many, conditions="[$bandwidth-$delay-$third]")


def test_the_same_quantity_is_the_same_level() -> None:
    assert read_level("1ms").same_as(read_level("1000us"))
    assert not read_level("1ms").same_as(read_level("1kB"))
    assert [read_level(text).word for text in ("10Gbit/s", "0.5%", "Cubic", "1 ms")] == [
        "10gbit", "0.5pct", "cubic", "1ms",
    ]  # fmt: skip

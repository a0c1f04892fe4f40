"""Compare two networks by their fingerprints: what is the same, what differs, and what is undecided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from documents import document, fingerprint, machines, spread, transfer

from crosswind.analysis.network.comparison import FingerprintComparison
from crosswind.analysis.network.comparison import compare_fingerprints as compare_documents
from crosswind.analysis.network.document import NotAFingerprint, read_fingerprint, text_of
from crosswind.analysis.network.figures import AtLeast
from crosswind.cli._main import run
from crosswind.errors import Exit


def compare_fingerprints(base: list[dict[str, Any]], other: list[dict[str, Any]]) -> FingerprintComparison:
    """Compare what files have."""
    return compare_documents(list(map(document, base)), list(map(document, other)))


def verdicts(found: FingerprintComparison) -> dict[str, str]:
    return {each.figure.key: each.verdict for each in found.figures}


def test_one_network_measured_twice_is_the_same_in_every_figure() -> None:
    found = compare_fingerprints([fingerprint(1)], [fingerprint(2)])
    assert set(verdicts(found).values()) == {"same"}, verdicts(found)
    assert {"delay-p50", "goodput", "budget", "refill", "low-rate"} <= set(verdicts(found))
    assert found.exit is Exit.DONE
    assert not found.notes


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"delay_ns": 1.5e6}, {"delay-p50", "delay-p90", "delay-p99"}),
        ({"rate_bps": 120e6}, {"goodput", "high-rate"}),
        ({"budget_bits": 140e6}, {"budget", "until-empty"}),
        ({"low_bps": 15e6}, {"low-rate", "refill"}),
    ],
)
def test_a_network_that_changed_differs_in_what_changed(change: dict[str, float], keys: set[str]) -> None:
    found = compare_fingerprints([fingerprint(1)], [fingerprint(2, **change)])
    assert keys <= {key for key, verdict in verdicts(found).items() if verdict == "different"}
    assert found.exit is Exit.NOT_COMPARABLE


def test_few_packets_bound_no_tail_and_leave_it_undecided() -> None:
    found = compare_fingerprints([fingerprint(1, packets=100)], [fingerprint(2, packets=100)])
    assert verdicts(found)["delay-p50"] == "same"
    assert verdicts(found)["delay-p99"] == "undecided"  # 368 packets are needed
    assert found.exit is Exit.UNDECIDED


def test_a_bucket_that_lasted_longer_than_the_others_budget_is_different() -> None:
    found = compare_fingerprints([fingerprint(1)], [fingerprint(2, budget_bits=None)])
    (until_empty,) = (each for each in found.figures if each.figure.key == "until-empty")
    assert isinstance(until_empty.other, AtLeast)
    assert until_empty.verdict == "different"
    assert verdicts(found)["budget"] == "undecided"
    assert "token bucket: bucket and not emptied" in found.notes


def test_a_bound_below_the_others_budget_decides_nothing() -> None:
    found = compare_fingerprints([fingerprint(1)], [fingerprint(2, budget_bits=None, on_s=0.8)])
    assert verdicts(found)["until-empty"] == "undecided"


def test_buckets_that_nobody_emptied_are_the_same_as_far_as_both_went() -> None:
    found = compare_fingerprints([fingerprint(1, budget_bits=None)], [fingerprint(2, budget_bits=None)])
    assert verdicts(found)["until-empty"] == "same"
    assert "budget" not in verdicts(found)
    assert found.exit is Exit.DONE


def test_a_figure_that_moved_in_one_side_is_anywhere_between() -> None:
    before, after = fingerprint(1), fingerprint(2, delay_ns=1.3e6)
    assert verdicts(compare_fingerprints([before, after], [after]))["delay-p50"] == "undecided"
    assert verdicts(compare_fingerprints([before], [after]))["delay-p50"] == "different"


def test_each_size_of_writes_and_each_number_of_connections_is_a_figure() -> None:
    def wide(seed: int, message_ns: float) -> dict[str, Any]:
        one = fingerprint(seed)
        each_ns = one["delay"]["each_ns"]
        return one | {
            "round_trip": {"idle": {"each_ns": each_ns}, "loaded": {"each_ns": []}},
            "writes": [
                {
                    "write_bytes": 65536,
                    "stream": one["bulk"],
                    "message_ns": [each + message_ns for each in each_ns],
                }
            ],
            "capacity": [
                {
                    "connections": 8,
                    "goodput_bps": spread(one["bulk"]["goodput_bps"]),
                    "jain": spread(1.0),
                    "repetitions": [one["bulk"], one["bulk"]],
                }
            ],
        }

    found = compare_fingerprints([wide(1, 1e6)], [wide(2, 2e6)])
    told = verdicts(found)
    assert told["message-65536"] == "different"
    assert (told["goodput-8"], told["round-trip-p50"]) == ("same", "same")
    assert "loaded-p50" not in told
    assert verdicts(compare_fingerprints([wide(1, 1e6)], [fingerprint(2)]))["goodput-8"] == "undecided"


def in_blocks(jain: list[float], cost: list[float], numbers: tuple[int, ...] = (1, 10, 50)) -> dict[str, Any]:
    """Return a fingerprint with a block for each Jain's index and CPU time; one connection is fair."""
    return fingerprint(1) | {
        "capacity": [
            {
                "connections": number,
                "goodput_bps": spread(90e6),
                "jain": spread(jain[0]),
                "repetitions": [
                    transfer(90e6, jain=fair if number > 1 else 1.0, cpu_s_per_gb=number * spent)
                    for fair, spent in zip(jain, cost, strict=True)
                ],
            }
            for number in numbers
        ]
    }


def test_fairness_and_cpu_time_are_compared_by_their_blocks() -> None:
    base = in_blocks([0.90, 0.91, 0.89], [1.0, 1.02, 0.98])
    told = verdicts(compare_fingerprints([base], [in_blocks([0.91, 0.90, 0.90], [1.05, 1.0, 1.02])]))
    figures = ("jain", "sender-processor-time", "receiver-processor-time")
    assert [told[key] for key in figures] == ["same"] * 3
    changed = compare_fingerprints([base], [in_blocks([0.70, 0.72, 0.68], [2.0, 2.1, 1.9])])
    assert [verdicts(changed)[key] for key in figures] == ["different"] * 3
    (spent,) = (each for each in changed.figures if each.figure.key == "sender-processor-time")
    # The geometric mean of 1, 10 and 50 s/GB, whose logarithms are all as much longer or shorter in a block.
    assert spent.base is not None
    assert not isinstance(spent.base, AtLeast)
    assert spent.base.value == pytest.approx(500 ** (1 / 3), rel=0.001)
    assert spent.figure.title == "CPU time of the sender, 1 to 50 connections"


def test_a_block_in_which_the_machine_was_busy_leaves_cpu_time_undecided() -> None:
    base = in_blocks([0.9, 0.9, 0.9], [1.0, 1.02, 0.98])
    told = verdicts(compare_fingerprints([base], [in_blocks([0.9, 0.9, 0.9], [1.0, 1.02, 3.0])]))
    assert (told["jain"], told["sender-processor-time"]) == ("same", "undecided")


def test_fairness_is_told_over_the_numbers_of_connections_that_both_have() -> None:
    base = in_blocks([0.9, 0.91, 0.89], [1.0, 1.0, 1.0])
    found = compare_fingerprints([base], [in_blocks([0.9, 0.9, 0.9], [1.0, 1.0, 1.0], (1, 10))])
    (fair,) = (each for each in found.figures if each.figure.key == "jain")
    assert (fair.figure.title, fair.verdict) == ("Jain's index, 10 connections", "same")


def test_one_block_has_no_interval_and_nothing_is_said_of_its_fairness() -> None:
    one = in_blocks([0.9], [1.0])
    assert not {"jain", "sender-processor-time"} & verdicts(compare_fingerprints([one], [one])).keys()


def test_another_machine_is_a_note() -> None:
    found = compare_fingerprints([fingerprint(1)], [fingerprint(2, cpu="y")])
    assert found.notes == ["CPU: x and y"]


def test_ends_with_other_interfaces_are_noted_where_they_differ() -> None:
    def between(mtu_bytes: int, far_cpu: str) -> dict[str, Any]:
        interface = {"name": f"c{mtu_bytes}", "mtu_bytes": mtu_bytes, "offloads": {"tso": True}}
        facts = machines()["near"] | {"interface": interface}
        ends = {"near": facts | {"cpu": "x"}, "far": facts | {"cpu": far_cpu}}
        return fingerprint(1) | {"machines": {"before": ends}}

    found = compare_fingerprints([between(1500, "x")], [between(9001, "y")])
    mtu = "interface.mtu_bytes: 1500 and 9001"
    assert found.notes == [f"near end, {mtu}", "far end, cpu: x and y", f"far end, {mtu}"]


def test_what_is_no_fingerprint_is_refused_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for text, why in (
        ('{"schema": 1', "is the file cut off"),
        ("[]", "is no fingerprint"),
        ('{"schema": 99, "between": []}', "schema 99"),
    ):
        file.write_text(text)
        with pytest.raises(NotAFingerprint, match=why):
            read_fingerprint(file)
    for edited, place in (
        ({"delay": {"each_ns": ["soon"], "packets": 1, "lost": 0}}, r"delay\.each_ns\.0"),
        ({"capacity": [3]}, r"capacity\.0"),
        ({"trace": [[0, 1, 2], [0.5, 2, 3]]}, "sample 1 begins before"),
    ):
        file.write_text(json.dumps(fingerprint(1) | edited))
        with pytest.raises(NotAFingerprint, match=f"{place}.*was the file edited"):
            read_fingerprint(file)


def test_the_verb_compares_files_for_people_and_for_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (("a", fingerprint(1)), ("b", fingerprint(2)), ("c", fingerprint(3, low_bps=15e6))):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    a, b, c = (str(tmp_path / f"{name}.json") for name in "abc")
    assert run(["compare", a, b]) == 0
    assert "The same: all of 10 figures" in capsys.readouterr().out
    assert run(["compare", a, c, "--json"]) == 7
    printed = json.loads(capsys.readouterr().out)
    (low,) = (figure for figure in printed["figures"] if figure["key"] == "low-rate")
    assert low["verdict"] == "different"
    assert low["change"]["interval"]["low"] > low["change"]["most"]
    assert run(["compare", a, str(tmp_path)]) == 2
    assert "write two results folders, or two fingerprints" in capsys.readouterr().err
    assert run(["compare", a, b, "--force"]) == 2


@pytest.mark.parametrize(
    "older",
    [
        # Schema 1 had no single delays and no tenths of a second, and no more measurements.
        {
            "schema": 1,
            "delay": {"packets": 400, "lost": 0, "one_way_ns": {"p0": 1e6, "p50": 1e6, "p100": 2e6}},
            "bulk": {"goodput_bps": 95e6, "each_bps": [95e6], "jain": 1.0, "retransmits": 0},
        },
        # Schema 2 did not say what the path is, or that a fingerprint ended early.
        {"schema": 2, "round_trip": {"idle": {"messages": 400, "failed": 0, "ns": {}, "each_ns": [2000000]}}},
    ],
)
def test_documents_of_older_versions_are_read_and_have_fewer_figures(
    tmp_path: Path, older: dict[str, Any]
) -> None:
    file = tmp_path / "older.json"
    file.write_text(json.dumps(fingerprint(1) | older))
    found = read_fingerprint(file)
    assert (found.ended, found.way, found.machines.before) == (None, None, None)
    assert verdicts(compare_documents([found], [found]))["budget"] == "same"


def test_a_document_is_written_as_it_was_read() -> None:
    content = fingerprint(1) | {"ended": None, "machines": {"before": machines()}, "later": {"key": 1}}
    assert json.loads(text_of(document(content))) == json.loads(json.dumps(content))

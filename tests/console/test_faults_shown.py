"""What the page takes for broken, and since when: its own module, run by node."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no node here: apt-get install nodejs")

FAULTS = resources.files("crosswind.console") / "static" / "faults.js"
CUT = {"from": ["a"], "to": ["b"]}


def change(at_ns: int, by: str, cuts: list[Any] | None = None) -> dict[str, Any]:
    return {"at_ns": at_ns, "by": by, "cuts": cuts}


def hit(at_ns: int, kind: str, *nodes: str, due_ns: int | None = None) -> dict[str, Any]:
    due_ns = at_ns if due_ns is None else due_ns
    return {
        "at_ns": at_ns, "due_ns": due_ns, "kind": kind, "nodes": nodes, "words": f"{kind} {' '.join(nodes)}"
    }  # fmt: skip


def told(happened: list[dict[str, Any]], known: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return what is shown after something has happened.

    Args:
        known: what holds when the page is opened.
    """
    script = f"""
import {{ Faults, cutWords }} from "{FAULTS}";
const isHit = (each) => "kind" in each;
const [known, happened] = {json.dumps([known or [], happened])};
const faults = new Faults(known.filter((each) => !isHit(each)), known.filter(isHit));
for (const each of happened) {{
  if (isHit(each)) faults.hit(each);
  else if (each.by === "end") faults.end(each.at_ns);
  else faults.change(each);
}}
faults.forget(0);
console.log(JSON.stringify({{
  cut: cutWords(faults.cut), hit: faults.hitWords,
  bands: faults.bands.map(({{ kind, at_ns, until_ns }}) => [kind, at_ns, until_ns]),
  states: faults.statesOf("a"), isCutOff: faults.isCutOff("a"),
}}));
"""
    done = subprocess.run(
        ["node", "--input-type=module", "-"], input=script, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_fault_is_a_band_from_its_begin_to_its_end() -> None:
    found = told(
        [hit(1, "pause", "a", "b"), hit(2, "squeeze", "a"), hit(3, "resume", "b"), hit(4, "resume", "a")]
    )
    assert found["bands"] == [["pause", 1, 4], ["squeeze", 2, None]]
    assert (found["hit"], found["states"]) == ("a squeezed", ["squeezed"])
    found = told([hit(1, "pause", "a"), hit(2, "kill", "a", "b"), hit(3, "restart", "b")])
    assert found["bands"] == [["pause", 1, 2], ["kill", 2, None]]
    assert found["hit"] == "a killed"


def test_a_restart_of_a_node_that_runs_is_a_band_for_as_long_as_it_takes() -> None:
    found = told([hit(9, "restart", "a", "b", due_ns=4)])
    assert (found["bands"], found["hit"]) == ([["restart", 4, 9]], "")
    # One that ends another fault is its end, as in the report.
    found = told([hit(1, "pause", "b"), hit(9, "restart", "a", "b", due_ns=4)])
    assert found["bands"] == [["pause", 1, 9]]


def test_all_cuts_are_a_band_while_they_stay_as_they_are() -> None:
    found = told(
        [
            change(1, "set", []),
            change(2, "timeline", [CUT]),
            change(3, "timeline"),
            change(4, "cut", [{"from": ["b"], "to": ["a"]}]),
            change(5, "timeline", []),
        ]
    )
    assert found["bands"] == [["cut", 2, 4], ["cut", 4, 5], ["cut", 5, None]]
    assert (found["cut"], found["isCutOff"]) == ("b \u2192 a", True)


def test_a_page_that_is_opened_late_has_what_holds_and_then_the_last_minute_again() -> None:
    known = [change(30, "cut", [CUT]), hit(20, "pause", "a")]
    again = [hit(10, "pause", "a"), hit(12, "resume", "a"), hit(20, "pause", "a"), change(30, "cut", [CUT])]
    found = told(again, known)
    assert found["bands"] == [["cut", 30, None], ["pause", 10, 12], ["pause", 20, None]]
    assert (found["cut"], found["hit"]) == ("a \u2192 b", "a paused")


def test_what_is_broken_ends_with_its_network() -> None:
    found = told([change(1, "timeline", [CUT]), hit(2, "kill", "a"), change(7, "end")])
    assert found["bands"] == [["cut", 1, 7], ["kill", 2, 7]]
    assert (found["cut"], found["hit"], found["states"], found["isCutOff"]) == ("", "", [], False)


def test_of_many_nodes_some_are_named() -> None:
    nodes = [f"n{number}" for number in range(10)]
    assert told([hit(1, "kill", *nodes)])["hit"] == "n0 n1 n2 n3 n4 n5 n6 n7 and 2 more killed"

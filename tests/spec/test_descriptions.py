"""What elements.json describes is known everywhere: an element and a drop policy that nobody has heard of."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import crosswind

ROOT = Path(__file__).parents[2]

THROTTLE: dict[str, Any] = {
    "kind": "throttle",
    "about": "Slows down what is urgent.",
    "page": "Throttle. An element of this test.",
    "file": "crates/engine/src/throttle.rs",
    "where": "anywhere",
    "queues": True,
    "limits_rate": "rate",
    "adds_delay": "pause",
    "short": {"key": "rate", "example": "5Mbit/s"},
    "parameters": [
        {
            "key": "rate",
            "name": "rate_bps",
            "about": "IP bits per second.",
            "presence": "required",
            "scale": True,
            "type": {"quantity": "rate", "min": 1},
        },
        {
            "key": "peak",
            "name": "peak_bps",
            "about": "At most; the rate when absent.",
            "presence": {"as": "rate"},
            "scale": True,
            "type": {"quantity": "rate", "min": 1},
        },
        {
            "key": "buffer",
            "name": "buffer",
            "about": "What may wait.",
            "presence": "optional",
            "scale": True,
            "type": {"named": "buffer", "rate": "rate"},
        },
        {
            "key": "burst",
            "name": "burst_bytes",
            "about": "At least one packet.",
            "presence": {"default": "15kB"},
            "scale": True,
            "type": {"quantity": "size", "min": 1, "packet": True},
        },
        {
            "key": "pause",
            "name": "pause_ns",
            "about": "From packet to packet.",
            "presence": {"default": "1ms"},
            "type": {"quantity": "duration", "min": 1000, "max": 10**9},
        },
        {
            "key": "urgent",
            "name": "urgent",
            "about": "Which packets are.",
            "presence": {"default": ["EF"]},
            "type": {"list": {"quantity": "dscp"}, "min_items": 1, "unique": True},
        },
        {
            "key": "strict",
            "name": "strict",
            "about": "Whether others pass as well.",
            "presence": {"implied": False},
            "type": {"flag": True},
        },
        {
            "key": "tell",
            "name": "tell",
            "about": "Who is told.",
            "presence": {"implied": "nobody"},
            "type": {
                "title": "Telling",
                "about": "A word, or a mapping with one.",
                "choice": [
                    {"word": "nobody", "about": "Nobody."},
                    {
                        "word": "some",
                        "title": "Some",
                        "about": "A share.",
                        "parameters": [
                            {
                                "key": "share",
                                "name": "share_ppb",
                                "about": "Of the packets.",
                                "presence": "required",
                                "type": {"quantity": "share", "min": 1},
                            }
                        ],
                    },
                ],
            },
        },
    ],
    "rules": [
        {
            "rule": "at_least",
            "key": "peak",
            "other": "rate",
            "message": "{peak} is below rate {rate}; give at least that",
        }
    ],
}
PIE = {
    "word": "proportional",
    "title": "Proportional",
    "about": "Drops in proportion to a delay.",
    "parameters": [
        {
            "key": "target",
            "name": "target_ns",
            "about": "The delay that is accepted; 15ms when absent.",
            "presence": {"default": "15ms"},
            "type": {"quantity": "duration", "min": 1},
        }
    ],
    "page": "Proportional. A policy of this test.",
    "file": "crates/engine/src/queue/drop/proportional.rs",
}
SCRIPT = """\
import json, sys
from pathlib import Path
from datetime import datetime, UTC
from crosswind.certify.elements import ELEMENTS
from crosswind.doctor.against import _all_delays, _all_rates
from crosswind.analysis.queueing import waited_at
from crosswind.spec import SpecErrors, load_condition_file, load_experiment, resolve
from crosswind.spec.schema import condition_schema

sys.path.insert(0, sys.argv[1] + "/docs")
from reference_pages import elements, experiment_file

resolved = resolve(load_experiment("good.yaml"))
try:
    load_experiment("bad.yaml")
    problems = []
except SpecErrors as errors:
    problems = [str(problem) for problem in errors.problems]
print(json.dumps({
    "places": resolved.conditions[0].places,
    "problems": problems,
    "schema": condition_schema()["$defs"],
    "elements": elements.page(),
    "experiment": experiment_file.page(),
    "rates": list(_all_rates(resolved)),
    "delays": list(_all_delays(resolved)),
    "certified": {name: line.elements for name, line in ELEMENTS.items()},
    "waited": waited_at("n0/host.egress/0:throttle"),
}))
"""
EXPERIMENT = """\
name: x
scale: 0.5
topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {server: h0, client: h1}}
conditions:
  - c: {CONDITION}
application: {rpc: {request: 1B, response: 1B, connections: 1, duration: 1s}}
trials: {repeat: 6}
"""
GOOD = """
      host.ingress:
        - throttle: 5Mbit/s
        - monitor: [queue-depth]
        - throttle: {rate: 1Mbit/s, peak: 2Mbit/s, buffer: 50ms, strict: true, urgent: [0], on: [h0],
                     tell: {some: {share: 5%}}}
        - shape: {rate: 1Mbit/s, burst: 15kB, buffer: 1MB, drop: {proportional: {}}, ecn: true}
"""
BAD = """
      host.ingress:
        - throttle: {rate: 10, pause: 2s}
        - throttle: {rate: 2Mbit/s, peak: 1Mbit/s, burst: 2kB, buffer: 1us, urgnt: [EF]}
        - throttle: {rate: 2Mbit/s, urgent: [EF, EF], tell: {some: {share: 0%}}, on: [h7]}
        - throttle
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Ask a copy of the package, whose elements.json has one element and one drop policy more."""
    folder = tmp_path_factory.mktemp("described")
    # With what Python has compiled of it.
    shutil.copytree(Path(crosswind.__file__).parent, folder / "crosswind")
    file = folder / "crosswind/spec/elements.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    said["elements"].append(THROTTLE)
    _add_policy(said)
    file.write_text(json.dumps(said), encoding="utf-8")
    for name, condition in (("good", GOOD), ("bad", BAD)):
        (folder / f"{name}.yaml").write_text(EXPERIMENT.replace("{CONDITION}", condition), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, ROOT],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _add_policy(said: Any) -> None:
    """Add the policy wherever there is a choice of them, and to the words of rules about that."""
    if isinstance(said, list):
        for item in said:
            _add_policy(item)
    elif isinstance(said, dict):
        if any(isinstance(each, dict) and each.get("word") == "codel" for each in said.get("choice", [])):
            said["choice"].append(PIE)
        if "codel" in said.get("words", []):
            said["words"].append(PIE["word"])
        for value in said.values():
            _add_policy(value)


def test_it_is_resolved_with_its_names_defaults_and_scale(known: dict[str, Any]) -> None:
    short, _, full, shape = known["places"]["host.ingress"]
    usual = {"burst_bytes": 7500, "pause_ns": 10**6}
    rest = {"strict": True, "tell": {"some": {"share_ppb": 50_000_000}}, "on": ["h0"]}
    assert short == {"throttle": {"rate_bps": 2_500_000, "peak_bps": 2_500_000, **usual, "urgent": [46]}}
    assert full == {
        "throttle": {
            "rate_bps": 500_000,
            "peak_bps": 10**6,
            "buffer_ns": 5 * 10**7,
            **usual,
            "urgent": [0],
            **rest,
        }
    }
    assert list(full["throttle"])[:3] == ["rate_bps", "peak_bps", "buffer_ns"]
    assert shape["shape"]["drop"] == {"proportional": {"target_ns": 15_000_000}}


def test_what_is_wrong_with_it_is_told_with_line_column_rule_and_remedy(known: dict[str, Any]) -> None:
    # Each without what all have in common.
    before = "conditions[1].c.host.ingress"
    assert [problem.replace(before, "").removeprefix("bad.yaml:") for problem in known["problems"]] == [
        '7:28: [1].throttle: rate "10" has no unit; write 10Mbit/s (units: bit/s, kbit/s, Mbit/s, Gbit/s, '
        "Tbit/s)",
        '7:39: [1].throttle: pause "2s" is too large; write at most 1s',
        '8:43: [2].throttle: peak "1Mbit/s" is below rate "2Mbit/s"; give at least that',
        '8:59: [2].throttle: burst "2kB" (scaled by 0.5: 1000B) is smaller than one packet of 1500B; '
        "write at least 3000B",
        '8:72: [2].throttle: buffer "1us" at 1000000bit/s is less than one packet of 1500B; write at least '
        "12000000ns",
        '8:77: [2].throttle: unknown key "urgnt"; did you mean "urgent"? (keys: rate, peak, buffer, burst, '
        "pause, urgent, strict, tell, on)",
        '9:50: [3].throttle.urgent: item 2 "EF" is given twice; remove one of the two',
        '9:76: [3].throttle.tell.some: share "0%" is zero and has no effect; write a share above zero, '
        "or remove it",
        '9:87: [3].throttle.on: item 1 "h7" is not a node or host; choose one of server, client, h0, h1',
        '10:11: : item 4 "throttle" is not an element with its parameters; write throttle: 5Mbit/s',
    ]


def test_it_is_in_the_schema(known: dict[str, Any]) -> None:
    assert known["schema"]["Element"]["properties"]["throttle"]["anyOf"][1] == {"$ref": "#/$defs/Throttle"}
    keys = known["schema"]["Throttle"]
    assert keys["required"] == ["rate"]
    assert keys["properties"]["urgent"]["description"] == "Which packets are."
    assert known["schema"]["EarlyDrop"]["properties"]["proportional"]["$ref"] == "#/$defs/Proportional"


def test_it_is_in_the_reference(known: dict[str, Any]) -> None:
    assert "## throttle\n" in known["elements"]
    assert "| `pause` | `10ms`, `5s`, `30min` | no | From packet to packet. |" in known["elements"]
    assert "Throttle. An element of this test." in known["elements"]
    assert "Proportional. A policy of this test." in known["elements"]
    assert "`throttle: 5Mbit/s`" in known["experiment"]


def test_doctor_report_and_certify_know_it(known: dict[str, Any]) -> None:
    assert ["throttle at host.ingress", 2_500_000] in known["rates"]
    assert ["throttle at host.ingress", 10**6] in known["delays"]
    assert known["waited"] == "shaper wait at n0/host.egress/0:throttle"
    assert known["certified"]["throttle"][0]["throttle"]["rate_bps"] == 8_000_000
    assert known["certified"]["shape, drop proportional"][0]["shape"]["drop"] == {"proportional": {}}

"""Time that is slowed down: what a file says, and which networks can be slowed down."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from crosswind.api.fabric import Fabric
from crosswind.cli.certify import command as certify
from crosswind.errors import CrosswindError
from crosswind.plan import as_selected, selected
from crosswind.plan.expected import trial_s
from crosswind.spec import SpecErrors, fabric_of, load_experiment, load_setup, resolve
from crosswind.spec.dilation import slowed, under_each
from crosswind.spec.resolved import Resolved

NETWORK = """\
topology:
  hosts: 2
  uplink: {rate: 10Gbit/s, delay: 2us, buffer: 512KiB}
  nodes: {server: NODE, client: h1}
"""
EXPERIMENT = """\
name: slow
application: {rpc: {duration: 2s, warm_up: 1s}}
trials: {repeat: 2, rest: 1s}
"""


def written(folder: Path, text: str, node: str = "h0") -> Path:
    file = folder / "slow.yaml"
    file.write_text(NETWORK.replace("NODE", node) + text)
    return file


def resolved(folder: Path, text: str = "", conditions: str = "[none: {}]", node: str = "h0") -> Resolved:
    file = written(folder, f"{EXPERIMENT}conditions: {conditions}\n{text}", node)
    return resolve(load_experiment(file))


def refusal(folder: Path, text: str, conditions: str = "[none: {}]", node: str = "h0") -> str:
    with pytest.raises(SpecErrors) as refused:
        resolved(folder, text, conditions, node)
    return str(refused.value)


def test_a_file_says_how_slow_and_its_network_stays_as_written(tmp_path: Path) -> None:
    fast, slow = resolved(tmp_path), resolved(tmp_path, "time: {dilation: 10}")
    assert (fast.dilation, slow.dilation) == (None, 10)
    assert "dilation" not in fast.as_json()
    assert (slow.topology, slow.conditions, slow.trials) == (fast.topology, fast.conditions, fast.trials)
    spec = fabric_of(slow, "none")
    # Sent beside the fabric, as an overlay is.
    assert spec.dilation == 10
    assert spec.as_json() == fabric_of(fast, "none").as_json()


def test_the_command_line_takes_the_place_of_the_file(tmp_path: Path) -> None:
    slow = resolved(tmp_path, "time: {dilation: 10}")
    assert slowed(slow, 4).dilation == 4
    assert slowed(slow, None) is slow
    with pytest.raises(CrosswindError, match="dilation: 0 would make time faster than real; write 1 or more"):
        slowed(slow, 0)


def test_an_experiment_is_run_under_several_dilations_in_one_run(tmp_path: Path) -> None:
    far = "[none: {}, far: {link: [{delay: {time: 1ms}}]}]"
    both = under_each(resolved(tmp_path, "time: {dilation: 10}", far), (None, 10, 20))
    names = [condition.name for condition in both.conditions]
    assert names == ["none@real", "none@10", "none@20", "far@real", "far@10", "far@20"]
    assert [fabric_of(both, name).dilation for name in names] == [None, 10, 20] * 2
    assert both.dilations == (None, 10, 20)
    assert both.factor_min == 1
    # Two trials as written are too few for an interval.
    assert both.trials.repeat.at_least == both.trials.repeat.at_most == 6
    # A block takes 3 s of load and 1 s of rest at each: (1 + 10 + 20) / 3 of real time in the mean.
    assert trial_s(both.model_copy(update={"conditions": both.conditions[:3]})) == pytest.approx(
        4 * 31 / 3 + trial_s(resolved(tmp_path)) - 4  # type: ignore[operator]
    )
    # What `resume` reads again.
    assert both.selection is not None
    assert both.selection.dilations == [None, 10, 20]
    assert Resolved.model_validate(json.loads(json.dumps(both.as_json()))).as_json() == both.as_json()


def test_a_file_with_several_dilations_runs_every_condition_at_each(tmp_path: Path) -> None:
    found = resolved(tmp_path, "time: {dilation: [10, 20]}", "[none, far: {link: [{delay: {time: 1ms}}]}]")
    names = [condition.name for condition in found.conditions]
    assert names == ["none@10", "none@20", "far@10", "far@20"]
    assert [fabric_of(found, name).dilation for name in names] == [10, 20, 10, 20]
    assert (found.dilation, found.dilations) == (None, (10, 20))
    # Of one the conditions stay as they are.
    assert resolved(tmp_path, "time: {dilation: [10]}") == resolved(tmp_path, "time: {dilation: 10}")
    with pytest.raises(CrosswindError, match="the file has several"):
        slowed(found, 4)


def test_each_of_several_dilations_has_to_fit_the_network_and_the_names(tmp_path: Path) -> None:
    slow = "time: {dilation: [10, 100]}"
    assert "100: node server has 0.5 CPUs" in refusal(tmp_path, slow, node="{host: h0, cpus: 0.5}")
    long = f"[{'n' * 158}: {{}}]"
    assert "its name has no room for that; shorten it" in refusal(tmp_path, slow, long)
    adaptive = "factors: {d: [1ms, 2ms, 3ms, 4ms, 5ms]}\ndesign: {adaptive: {start: 4, at most: 5}}\n" + slow
    conditions = "[far-$d: {link: [{delay: {time: $d}}]}]"
    assert "design: adaptive has no one condition" in refusal(tmp_path, adaptive, conditions)


def test_a_run_is_continued_as_the_command_line_chose_it(tmp_path: Path) -> None:
    plain = resolved(tmp_path, conditions="[none: {}, far: {link: [{delay: {time: 1ms}}]}]")
    for chosen in (
        plain,
        slowed(plain, 10),
        selected(slowed(plain, 10), ("far",)),
        selected(plain, once=True),
        under_each(plain, (10, 20)),
        under_each(selected(slowed(plain, 10), ("far",)), (10, 20)),
    ):
        stored = Resolved.model_validate(json.loads(json.dumps(chosen.as_json())))
        assert as_selected(plain, stored.selection).as_json() == chosen.as_json()


def test_a_limit_that_twice_the_dilation_breaks_is_refused(tmp_path: Path) -> None:
    half = resolved(tmp_path, node="{host: h0, cpus: 0.5}")
    with pytest.raises(CrosswindError, match=r"dilation 80: node server has 0\.5 CPUs"):
        under_each(half, (40, 80))


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ("time: {dilation: 600}\n", "twice a dilation of 600 is above 1000; certify 500 at most"),
        ("", "has no `time: {dilation: k}`, and `crosswind plan` proposes none"),
    ],
)
def test_what_certify_cannot_run_is_refused_before_it_starts(
    tmp_path: Path, time: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, f"{EXPERIMENT}conditions: [none: {{}}]\n{time}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # Without a calibration.
    done = CliRunner().invoke(certify, ["--dilation", str(file)])
    assert isinstance(done.exception, CrosswindError)
    assert words in str(done.exception)
    assert not (tmp_path / "results").exists()


def test_a_network_for_own_programs_is_as_slow_as_its_file_or_its_caller_says(tmp_path: Path) -> None:
    experiment = f"{EXPERIMENT}conditions: [none: {{}}]\n"
    for more in ("", experiment):
        assert Fabric(written(tmp_path, more)).dilation is None
        file = written(tmp_path, f"{more}time: {{dilation: 10}}\n")
        assert load_setup(file).dilation() == Fabric(file).dilation == 10
        assert Fabric(file, dilation=20).dilation == 20
    file = written(tmp_path, f"{experiment}time: {{dilation: [10, 20]}}\n")
    with pytest.raises(CrosswindError, match="the file has several, and a network that is up has one"):
        Fabric(file)
    assert Fabric(file, dilation=20).dilation == 20


def test_a_network_for_own_programs_that_cannot_be_slowed_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "time: {dilation: 100}\n", node="{host: h0, cpus: 0.5}")
    with pytest.raises(SpecErrors, match=r"slow\.yaml:5:18: .*100: node server has 0\.5 CPUs"):
        Fabric(file)
    file = written(tmp_path, "", node="{host: h0, cpus: 0.5}")
    with pytest.raises(CrosswindError, match=r"dilation 100: node server has 0\.5 CPUs"):
        Fabric(file, dilation=100)
    with pytest.raises(CrosswindError, match="dilation: 0 would make time faster than real"):
        Fabric(file, dilation=0)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ("0", "0 would make time faster than real; write 1 or more"),
        ("1001", "1001 is more than 1000; write at most that"),
        ("2.5", "is not a whole number; write how many times slower, such as 10"),
        ("true", "is not a whole number"),
        ("ten", "is not a whole number"),
        ("[]", "has no factor"),
        ("[10, 10]", "10 is given twice"),
        ("[10, 0]", "0 would make time faster than real"),
        ("[10, [20]]", "is not a whole number"),
    ],
)
def test_a_factor_that_is_none_is_refused_at_its_place(tmp_path: Path, factor: str, words: str) -> None:
    found = refusal(tmp_path, f"time: {{dilation: {factor}}}")
    assert words in found
    assert "slow.yaml:9:18: time: dilation" in found


def test_what_stays_in_real_time_is_refused_with_a_remedy(tmp_path: Path) -> None:
    slow = "time: {dilation: 10}\n"
    real = "[none: {}, noisy: {interference: [{between: h0-h1, by: iperf3, rate: 50%, hold: 1s}]}]"
    assert "condition noisy has traffic of `by: iperf3`" in refusal(tmp_path, slow, real)
    assert "backend tc carries packets in real time" in refusal(tmp_path, f"{slow}backend: tc\n")
    assert "backend ovs carries" in refusal(tmp_path, f"{slow}backend: {{ovs: {{}}}}\n")
    elsewhere = "testbed: {ssh: {machines: [{address: 192.0.2.1}, {address: 192.0.2.2}]}}\n"
    assert "other machines" in refusal(tmp_path, slow + elsewhere)


def test_a_share_of_a_cpu_that_no_kernel_enforces_is_refused(tmp_path: Path) -> None:
    node = "{host: h0, cpus: 0.5}"
    assert resolved(tmp_path, "time: {dilation: 50}", node=node).dilation == 50
    found = refusal(tmp_path, "time: {dilation: 100}", node=node)
    assert "node server has 0.5 CPUs, which are 0.005 real ones" in found
    assert "allow 1 CPUs, or a smaller dilation" in found
    with pytest.raises(CrosswindError, match="node server has 0"):
        slowed(resolved(tmp_path, node=node), 100)


def test_a_limit_of_the_run_is_of_real_time(tmp_path: Path) -> None:
    # Two trials of 3 s and 1 s of rest take 8 s, and ten times that.
    trials = EXPERIMENT.replace("rest: 1s", "rest: 1s, limits: {duration: 70s}")
    file = written(tmp_path, f"{trials}conditions: [none: {{}}]\n")
    load_experiment(file)
    file.write_text(file.read_text() + "time: {dilation: 10}\n")
    with pytest.raises(SpecErrors, match="too short for 2 trials, which take 80s"):
        load_experiment(file)
    file.write_text(file.read_text().replace("dilation: 10", "dilation: [10, 20]"))
    with pytest.raises(SpecErrors, match="too short for 4 trials, which take 240s"):
        load_experiment(file)

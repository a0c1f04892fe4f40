import io
import json
import re
import shutil
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from rich.console import Console

from crosswind.analysis.cautions.catalogue import CautionKind
from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.generator import generator
from crosswind.analysis.summarise import summarise
from crosswind.report import print_table
from crosswind.report.page import render
from crosswind.results import Measurement
from crosswind.results.measurement import Conservation, EmulatorHost, Ledger, NodeUsage, Window
from crosswind.results.reading import Operations, Results
from crosswind.spec.resolved import Anchor, PerceivedTime
from crosswind.text.units import count
from synthetic import write_folder

MS = 1_000_000


def operations(started, finished, intended=None, node="client", connection=0):
    started, finished = (np.array(instants) * MS for instants in (started, finished))
    return Operations(
        node=np.full(started.size, node, dtype=object),
        connection=np.full(started.size, connection),
        intended_ns=started if intended is None else np.array(intended) * MS,
        started_ns=started,
        finished_ns=finished,
        ok=np.ones(started.size, dtype=bool),
    )


def together(*parts):
    return Operations(
        *(np.concatenate([getattr(p, f) for p in parts]) for f in Operations.__dataclass_fields__)
    )


def test_ids_are_words_with_hyphens_and_every_kind_says_what_to_try():
    for kind in CautionKind:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.id)
        assert kind.level in ("serious", "note")
        assert kind.meaning.endswith(".")
        assert kind.remedy.endswith(".")


def test_ids_that_scripts_may_rely_on_are_still_there():
    assert {kind.id for kind in CautionKind} >= {
        "closed-loop", "writes-unconfirmed", "one-session", "bimodal", "trials-void", "mixed-machines",
        "generator-saturated", "too-few-trials", "staggered-windows", "tcp-defaults-differ",
    }  # fmt: skip


def test_a_generator_that_is_late_by_itself_is_told_from_one_that_waits_for_an_answer():
    # Due every 10 ms. First the answers take 20 ms and the connection is busy; then they take 1 ms, but the
    # generator begins 9 ms after it could.
    waits = operations([0, 20, 40, 60], [20, 40, 60, 80], intended=[0, 10, 20, 30])
    late = operations([0, 19, 29, 39], [1, 20, 30, 40], intended=[0, 10, 20, 30])
    assert generator(waits, None, None).late_share == 0
    assert generator(late, None, None).late_share == pytest.approx(0.9)
    closed = operations([0, 20, 40], [20, 40, 60])
    assert generator(closed, None, None).late_share is None


@pytest.mark.parametrize(("wait_mode", "share"), [("hybrid", 0.9), ("sleep", 0.45)])
def test_a_generator_is_busy_against_the_processors_that_are_left_to_it(wait_mode, share):
    # Two clients in a window of 100 ms used 90 ms. Of two CPUs the emulator keeps one unless it sleeps.
    clients = together(operations([0], [100]), operations([0], [100], connection=1))
    measurement = Measurement(
        window=Window(started_ns=0, ended_ns=100 * MS),
        ledger=Ledger(packets=0, early=0, missed=0, bound_ns=0),
        conservation=Conservation(holds=True),
        host=EmulatorHost(),
        nodes=[NodeUsage(node="client", cpu_time_ns=90 * MS)],
        wait_mode=wait_mode,
    )
    assert generator(clients, measurement, 2).busy_share == pytest.approx(share)
    assert generator(clients, None, 2).busy_share is None


def test_windows_that_overlap_by_half_are_found():
    apart = together(operations([0, 50], [50, 100], node="a"), operations([50, 100], [100, 150], node="b"))
    assert generator(apart, None, None).common_share == pytest.approx(1 / 3)
    assert generator(operations([0], [1]), None, None).common_share is None


def changed(folder, tmp_path, file, change):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    content = json.loads((copy / file).read_text())
    change(content)
    (copy / file).write_text(json.dumps(content))
    return {caution.id: caution for caution in cautions(summarise(copy))}


def test_w_0_has_a_caution_of_its_own(folder, tmp_path):
    remark = "MongoDB with w=0 never waits for the network: ..."

    def weaken(resolved):
        resolved["application"]["parameters"]["durability"] = "w=0"
        resolved["warnings"] = [remark]

    told = changed(folder, tmp_path, "resolved.json", weaken)["writes-unconfirmed"]
    assert (told.title, told.text, told.level) == ("w=0 never meets the network", remark, "serious")


def test_another_kernel_at_the_end_is_another_machine(folder, tmp_path):
    def restart(provenance):
        for when, kernel in (("before", "6.1.0"), ("after", "6.2.0")):
            provenance[when] |= {"cores": 2, "kernel": kernel}

    told = changed(folder, tmp_path, "provenance.json", restart)["mixed-machines"]
    assert "kernel was 6.1.0 and is 6.2.0." in told.text


def test_a_machine_that_did_not_answer_at_the_end_is_not_another_machine(folder, tmp_path):
    def fall_silent(provenance):
        for when in ("before", "after"):
            provenance[when] |= {"cores": 2, "machines": [{"name": "m1"}]}
        provenance["before"]["machines"][0] |= {"kernel": "6.1.0", "cores": 8}

    assert "mixed-machines" not in changed(folder, tmp_path, "provenance.json", fall_silent)


def test_operations_that_failed_are_of_all_that_ended(folder, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    # In each trial twice as many failed as succeeded: metrics count those that succeeded.
    duckdb.execute(
        f"COPY (SELECT new.* REPLACE (CASE new.metric WHEN 'errors' THEN 2 * done.value ELSE new.value END "
        f"AS value) FROM '{folder}/metrics.parquet' AS new JOIN '{folder}/metrics.parquet' AS done "
        f"USING (trial) WHERE done.metric = 'operations') TO '{copy}/metrics.parquet'"
    )
    summary = summarise(copy)
    done = sum(trial.operations for condition in summary.conditions for trial in condition.counted)
    (failed,) = (found for found in cautions(summary) if found.kind is CautionKind.OPERATIONS_FAILED)
    assert failed.title == f"{count(2 * done)} operations failed"
    assert failed.text.startswith(f"Of {count(3 * done)}.")


def test_a_machine_whose_own_tcp_is_another_is_a_note(folder, tmp_path):
    def default(provenance):
        for when in ("before", "after"):
            provenance[when]["sysctls"] = {"net.ipv4.tcp_congestion_control": "bbr"}

    told = changed(folder, tmp_path, "provenance.json", default)["tcp-defaults-differ"]
    assert "Congestion control: cubic in the nodes, bbr by default." in told.text


def test_what_was_remarked_before_the_run_is_shown(folder, tmp_path):
    def remark(provenance):
        provenance["before"]["remarks"] = ["4 nodes share 2 cores"]

    assert changed(folder, tmp_path, "provenance.json", remark)["machine-remark"].text == (
        "4 nodes share 2 cores."
    )


def test_intervals_from_one_session_say_so(tmp_path):
    run = write_folder(tmp_path / "run", operations=200, blocks=6, conditions=1)
    assert "one-session" in {caution.id for caution in cautions(summarise(run))}


def test_without_intervals_nobody_needs_to_hear_of_sessions(folder):
    assert "one-session" not in {caution.id for caution in cautions(summarise(folder))}


def test_every_page_of_a_run_says_how_slow_time_was_and_what_was_not_slowed(tmp_path):
    folder = write_folder(tmp_path / "run", operations=200)
    document = json.loads((folder / "resolved.json").read_text())
    document["dilation"] = 4
    document["topology"]["limits"] = {"db0": {"cpus_ppm": 1_000_000}}
    (folder / "resolved.json").write_text(json.dumps(document))
    says = "time: 4 times slower; perceived time is shown"
    console = Console(file=io.StringIO(), width=200)
    print_table(folder, console)
    assert says in console.file.getvalue()
    assert says in render(Results(folder))
    (slow,) = (found for found in cautions(summarise(folder)) if found.kind is CautionKind.SLOWED)
    assert "Nodes without a limit of CPUs look 4 times as fast: db1, db2, client." in slow.text
    assert "40 ms come after 10 ms" in slow.text
    assert "A lost SYN is sent again after 250 ms" in slow.text


@pytest.mark.parametrize(
    ("factor", "tcp", "shown"),
    [
        (10, ["handshake"], None),
        (10, [], "sent again after 100 ms, because the machine lacks"),
        (240, ["handshake", "cubic"], "sent again after 500 ms, 120 s of the kernel's"),
    ],
)
def test_a_lost_syn_and_cubic_are_in_the_note_where_they_were_not_slowed(tmp_path, factor, tcp, shown):
    folder = write_folder(tmp_path / "run", operations=200)
    document = json.loads((folder / "resolved.json").read_text())
    (folder / "resolved.json").write_text(json.dumps(document | {"dilation": factor}))
    line = PerceivedTime(factor=factor, anchor=Anchor(monotonic_ns=0, realtime_ns=0), tcp=tcp)
    summary = summarise(folder)
    conditions = [
        replace(each, trials=[replace(trial, time=line) for trial in each.trials])
        for each in summary.conditions
    ]
    (note,) = (
        found
        for found in cautions(replace(summary, conditions=conditions))
        if found.kind is CautionKind.SLOWED
    )
    assert ("sent again after" in note.text) is (shown is not None)
    assert shown is None or shown in note.text
    assert ("1,650 packets at a round trip of 1 ms, or 52 at 10 ms" in note.text) is (factor == 10)

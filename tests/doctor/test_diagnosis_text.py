"""What a person reads, off a terminal, as plain text."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from test_against import calibration

from crosswind.doctor.calibration import RateCheck
from crosswind.doctor.diagnosis import Diagnosis, exactness
from crosswind.doctor.finding import Finding, FindingVerdict, missing, ok, warning
from crosswind.doctor.text import answer, figures, print_diagnosis
from crosswind.text.quantities import count_text, rate_text, time_text


def printed(diagnosis: Diagnosis) -> str:
    out = io.StringIO()
    print_diagnosis(diagnosis, Console(file=out, highlight=False, soft_wrap=True))
    return out.getvalue()


def test_the_remedy_stands_below_what_was_found_and_the_answer_last() -> None:
    findings = [ok("kernel", "Linux [6.18]"), missing("nodes", "refused", "run as root")]
    assert printed(Diagnosis(findings=findings)) == (
        "  ok       kernel  Linux [6.18]\n"
        "  missing  nodes   refused\n"
        "                   do: run as root\n"
        "\n"
        "This machine cannot run Crosswind yet: one thing is missing, see `do` above.\n"
    )


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([ok("a", "b")], "This machine can run Crosswind."),
        ([warning("a", "b", "c")], "This machine can run Crosswind; 1 warning above."),
    ],
)
def test_warnings_do_not_keep_a_machine_from_running_crosswind(findings: list[Finding], said: str) -> None:
    diagnosis = Diagnosis(findings=findings)
    assert diagnosis.ready
    assert answer(diagnosis) == said


def test_figures_say_what_is_honoured() -> None:
    rows = dict(figures(calibration()))
    assert rows["delays within 10 %"] == "from 20 us, for 99 % of packets"
    assert rows["packet rate"] == "100 000 packets/s of 64 bytes without loss"
    assert rows["TCP goodput"] == "5 Gbit/s through a link without a limit"


def test_the_rate_that_lost_packets_is_told() -> None:
    rates = (
        RateCheck(asked_per_s=20_000, offered_per_s=20_000, packets=6_000, lost=0),
        RateCheck(asked_per_s=50_000, offered_per_s=50_000, packets=15_000, lost=150),
    )
    rows = dict(figures(calibration(rates=rates)))
    assert rows["packet rate"] == (
        "20 000 packets/s of 64 bytes without loss; at 50 000 packets/s 1.0% were lost"
    )


def test_the_whole_diagnosis_is_plain_values_for_json() -> None:
    printed = Diagnosis(
        findings=[ok("kernel", "Linux")],
        calibration=calibration(),
        kept=calibration(),
        kept_in=Path("/somewhere"),
    ).as_json()
    assert set(printed) == {"ready", "findings", "calibration", "kept", "kept_in"}
    assert (printed["ready"], printed["kept_in"]) == (True, "/somewhere")
    assert printed["findings"] == [{"name": "kernel", "verdict": "ok", "found": "Linux", "remedy": ""}]
    assert isinstance(stored := printed["kept"], dict)
    assert (stored["schema"], stored["goodput_bps"]) == (2, 5_000_000_000)


def test_a_calibration_on_a_busy_machine_says_so() -> None:
    busy = calibration(load_average=7.0)
    assert exactness(busy, busy).verdict == FindingVerdict.WARNING
    assert exactness(calibration(), calibration()).verdict == FindingVerdict.OK


def test_when_the_kept_calibration_was_measured_is_said_and_until_when_it_holds() -> None:
    # Kept is that of 3 May, 12:00, which honours delays from 20 us; a week later is 10 May.
    busy, kept = calibration(load_average=7.0, goodput_bps=1_000_000_000), calibration()
    assert exactness(busy, kept) == ok(
        "calibration", "not as good as the stored one of 2026-05-03 12:00 UTC, which stays"
    )
    shown = printed(
        Diagnosis(
            findings=[ok("nodes", "two")],
            calibration=busy,
            kept=kept,
            kept_in=Path("/cache/calibration.json"),
        )
    )
    assert (
        "Stored is the better one of 2026-05-03 12:00 UTC: delays from 20 us, 100 000 packets/s, 5 Gbit/s. "
        "`crosswind plan` uses it until 2026-05-10 12:00 UTC; delete /cache/calibration.json if this "
        "machine has changed since then.\n"
    ) in shown


def test_packets_that_left_early_are_a_fault() -> None:
    early = calibration().delays[0].model_copy(update={"early": 1})
    assert "must never happen" in exactness(calibration(delays=(early,)), calibration()).found


def test_quantities_have_three_digits_and_a_unit() -> None:
    assert [time_text(ns) for ns in (0, 850, 4_213, 120_400, 1_300_000, 2e9)] == [
        "0 ns",
        "850 ns",
        "4.21 us",
        "120 us",
        "1.3 ms",
        "2 s",
    ]
    assert rate_text(9_422_000_000) == "9.42 Gbit/s"
    assert count_text(1_234_567) == "1 234 567"

"""Everything in the catalogue is valid, says what it models, and has its source."""

import re
from pathlib import Path

import pytest

from crosswind import catalog
from crosswind.plan import outline
from crosswind.spec import (
    SpecErrors,
    condition_of,
    fabric_of,
    load_catalogue_condition,
    load_experiment,
    resolve,
)
from crosswind.spec.catalogue_condition import read_catalogue_condition

STUDIES = ("icpe23", "nsdi20", "nrg", "osmef")
TEN = [name for name in catalog.condition_names() if name.startswith("icpe23/")]


@pytest.mark.parametrize("name", catalog.condition_names())
def test_a_condition_is_valid(name: str) -> None:
    assert load_catalogue_condition(name).summary


@pytest.mark.parametrize("key", ["of-a-test/satellite", "sattelite"])
def test_the_key_of_a_condition_is_the_name_of_its_file_without_the_folder(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "satellite.yaml"
    load_catalogue_condition.cache_clear()  # The other case has read it.
    read_catalogue_condition.cache_clear()
    file.write_text(f"# Models: a satellite.\n{key}: {{summary: far, link: [{{delay: 240ms}}]}}\n")
    monkeypatch.setattr(catalog, "condition_names", lambda: ["of-a-test/satellite"])
    monkeypatch.setattr(catalog, "condition_file", lambda name: file)
    with pytest.raises(SpecErrors, match=r"satellite\.yaml:2:1: .* write `satellite: \{\.\.\.\}`"):
        load_catalogue_condition("of-a-test/satellite")
    file.write_text("satellite: {summary: far, link: [{delay: 240ms}]}\n")
    assert load_catalogue_condition("of-a-test/satellite").summary == "far"


@pytest.mark.parametrize("name", catalog.experiment_names())
def test_an_experiment_is_valid_and_can_be_built(name: str) -> None:
    experiment = load_experiment(catalog.experiment_file(name))
    assert experiment.name == name
    resolved = resolve(experiment)
    for condition in resolved.conditions:
        assert fabric_of(resolved, condition.name).hosts == resolved.topology.hosts


@pytest.mark.parametrize("name", catalog.experiment_names())
def test_an_experiment_can_be_planned(name: str) -> None:
    planned = outline(resolve(load_experiment(catalog.experiment_file(name))))
    assert planned.trials
    assert planned.trials[0].condition


@pytest.mark.parametrize(
    "name", [name for name in catalog.experiment_names() if name.split("-")[0] in STUDIES]
)
def test_an_experiment_of_a_study_names_the_figure_or_table_that_it_is_compared_with(name: str) -> None:
    file = catalog.experiment_file(name)
    compared = re.search(
        r"^Compare: (.*?)(?=^[A-Z][a-z]+: |\Z)", catalog.header(file), re.MULTILINE | re.DOTALL
    )
    assert compared is not None
    assert re.search(r"(Figures?|Tables?) \d", " ".join(compared[1].split()))
    assert re.search(r"(Figures?|Tables?) \d", load_experiment(file).source)


def test_every_study_has_its_experiments_and_those_that_were_deployed_otherwise_both() -> None:
    names = catalog.experiment_names()
    assert {name.split("-")[0] for name in names} >= set(STUDIES)
    for name in names:
        if name.endswith("-deployed"):
            assert name.removesuffix("-deployed") in names


def test_every_application_of_nrg_has_an_experiment() -> None:
    names = [name for name in catalog.experiment_names() if name.startswith("nrg-")]
    applications = [load_experiment(catalog.experiment_file(name)).application for name in names]
    assert {name for application in applications for name in application} >= {
        "dns",
        "memcached",
        "training",
        "web",
    }


@pytest.mark.parametrize(
    "file",
    [catalog.condition_file(name) for name in catalog.condition_names()]
    + [catalog.experiment_file(name) for name in catalog.experiment_names()],
    ids=lambda file: file.name,
)
def test_a_header_says_what_is_modelled_and_from_where(file) -> None:
    header = catalog.header(file)
    assert re.search(r"^Models: ", header, re.MULTILINE)
    assert re.search(r"^Source: ", header, re.MULTILINE)


def test_the_example_is_valid() -> None:
    load_experiment(catalog.example_file())


def test_the_ten_set_ups_exist_as_described_and_as_deployed() -> None:
    assert len(TEN) == 10
    assert [name.replace("icpe23/", "icpe23-deployed/") for name in TEN] == [
        name for name in catalog.condition_names() if name.startswith("icpe23-deployed/")
    ]


def test_what_ec2_lets_a_machine_send_exists_as_described_and_as_deployed() -> None:
    def of(family: str) -> list[str]:
        names = catalog.condition_names()
        return [name.removeprefix(family) for name in names if name.startswith(family)]

    fresh = "ec2-c5-xlarge"
    left = [f"{fresh}-{gbit}gbit-left" for gbit in (1000, 100, 10, 5000)]
    assert of("nsdi20/") == of("nsdi20-deployed/") == [fresh, *left]


CLOUDS = [name for name in catalog.condition_names() if name.startswith("clouds/")]


@pytest.mark.parametrize("name", CLOUDS)
def test_a_cloud_has_a_date_and_says_what_is_ours(name: str) -> None:
    header = catalog.header(catalog.condition_file(name))
    assert re.search(r"\b20[12]\d\b", header)
    assert re.search(r"\b(ours|taken to be|are those)\b", header)


@pytest.mark.parametrize(("size", "seconds"), [("large", 7 * 60), ("xlarge", 13 * 60), ("2xlarge", 26 * 60)])
def test_a_bucket_of_2019_is_empty_after_the_time_that_was_measured(size: str, seconds: int) -> None:
    (element,) = load_catalogue_condition(f"clouds/ec2-c5-{size}-2019").by_place()["host.egress"]
    credit = element.given
    assert credit.low_bps == credit.refill_bps
    assert credit.budget_bits / (credit.high_bps - credit.refill_bps) == pytest.approx(seconds, abs=0.1)


def test_google_states_2_gbit_s_for_each_core_and_8_cores_were_measured_below_that() -> None:
    for cores in (1, 2, 4, 8):
        (element,) = load_catalogue_condition(f"clouds/gce-{cores}-core").by_place()["link"]
        assert element.parameter("steps") == {0: cores * 2 * 10**9}
    (measured,) = load_catalogue_condition("clouds/gce-8-core-measured").by_place()["link"]
    assert max(measured.parameter("quantiles").values()) < 16 * 10**9


def test_only_the_base_line_has_no_interference() -> None:
    without = [name for name in TEN if not load_catalogue_condition(name).interferences()]
    assert without == ["icpe23/no-interference"]


def deployed(name: str):
    resolved = resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b-deployed")))
    return condition_of(resolved, f"icpe23-deployed/{name}")


def described(name: str):
    resolved = resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b")))
    return condition_of(resolved, f"icpe23/{name}")


def test_buckets_were_identical_in_the_paper_and_not_in_the_laboratory() -> None:
    switch, host = (
        {"rate_bps": 800_000_000, "burst_bytes": 10_000},
        {"rate_bps": 100_000_000, "burst_bytes": 1_250_000},
    )
    assert described("token-bucket-on-switch").places["switch.ingress"] == [{"police": switch}]
    assert described("token-bucket-on-host").places["host.egress"] == [{"police": switch}]
    assert deployed("token-bucket-on-switch").places["switch.ingress"] == [{"police": switch}]
    assert deployed("token-bucket-on-host").places["host.egress"] == [{"police": host}]


def test_deployed_priorities_are_never_what_a_scheduler_chooses_by() -> None:
    # On the hosts nothing is marked; at the switch the mark is written behind the scheduler.
    assert deployed("priority-queue-on-host").places == {}
    places = deployed("priority-queue-on-switch").places
    assert set(places) == {"switch.egress", "host.ingress"}
    assert [queue["weight"] for queue in places["switch.egress"][0]["schedule"]["queues"]] == [30, 70, 50]


def test_described_priorities_alternate_and_are_weighted_70_to_30() -> None:
    places = described("priority-queue-on-switch").places
    assert places["switch.ingress"] == [
        {"mark": {"dscp": 34, "on": ["h0", "h2"]}},
        {"mark": {"dscp": 10, "on": ["h1", "h3"]}},
    ]
    weights = [queue["weight"] for queue in places["switch.egress"][0]["schedule"]["queues"]]
    assert (weights[0], weights[-1]) == (70, 30)

"""Applications as plugins, their parameters."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from crosswind.app import find, names
from crosswind.app.load import longest_measured_s, seconds
from crosswind.app.rpc import RpcParameters
from crosswind.app.stores.store import replicas_of
from crosswind.app.ycsb import YcsbParameters
from crosswind.cli.apps import command as apps
from crosswind.doctor.programs import applications as applications_found
from crosswind.spec.installed import BrokenPlugin, UnknownPlugin


def test_the_built_in_applications_are_found() -> None:
    assert {"rpc", "ycsb"} <= set(names())
    for name in ("rpc", "ycsb"):
        assert find(name).name == name


def test_an_unknown_application_names_the_installed_ones() -> None:
    with pytest.raises(UnknownPlugin, match=r'"mongodb": not installed; installed are .*rpc'):
        find("mongodb")


SIZED = """
from pydantic import Field
from crosswind.app import Application
from crosswind.spec.base import SpecModel

class AcmeParameters(SpecModel):
    size_bytes: int = Field(1, alias="size")

class Acme(Application):
    Parameters = AcmeParameters
"""


@pytest.mark.parametrize(
    ("entry_point", "why"),
    [
        ("acme_is_gone:Thing", "ModuleNotFoundError: No module named 'acme_is_gone'"),
        ("acme:Gone", "AttributeError"),
        ("acme_raises:Thing", "RuntimeError: no licence"),
        ("acme:THING", "it is not a subclass of crosswind.app.Application"),
        ("acme_size:Acme", 'Acme: a parameter is called "size", the key that names one of its sizes'),
    ],
)
def test_a_package_whose_application_cannot_be_loaded_is_named_and_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry_point: str, why: str
) -> None:
    (tmp_path / "acme.py").write_text("THING = 5\n")
    (tmp_path / "acme_raises.py").write_text("raise RuntimeError('no licence')\n")
    (tmp_path / "acme_size.py").write_text(SIZED)
    info = tmp_path / "acme_tools-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tools\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[crosswind.applications]\nacme = {entry_point}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BrokenPlugin, match="of the package acme-tools cannot be loaded") as failure:
        find("acme")
    assert why in str(failure.value)
    assert "repair that package, or uninstall it" in str(failure.value)
    listed = CliRunner().invoke(apps)
    assert listed.exit_code == 0, listed.output
    assert "of the package acme-tools cannot be loaded" in listed.output
    assert any(line.startswith("rpc ") for line in listed.output.splitlines())
    (found,) = (each for each in applications_found() if each.name == "application acme")
    assert why in found.found
    assert found.remedy == "repair that package, or uninstall it"


def test_parameters_read_quantities_with_units() -> None:
    read = RpcParameters.model_validate({"request": "1kB", "duration": "3s", "rate": "500/s"})
    assert (read.request_bytes, read.duration_ns, read.rate, read.warm_up_ns) == (1000, 3 * 10**9, 500, 10**9)


def test_a_load_without_an_end_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValidationError, match="add `duration: 5s`"):
        YcsbParameters.model_validate({"workload": "b"})


@pytest.mark.parametrize("nodes", [["db0"], ["client", "db1"]])
def test_ycsb_names_the_nodes_that_it_lacks(nodes: list[str]) -> None:
    assert find("ycsb").roles_missing(nodes)


def test_replicas_are_in_order_of_their_number() -> None:
    assert replicas_of(["db10", "db0", "db2", "client", "db01", "db1"]) == ["db1", "db2", "db10"]


def test_a_million_operations_may_take_longer_than_an_hour_and_a_duration_is_kept() -> None:
    # 577 a second were measured on a busy machine; behind a policer that costs timeouts they are fewer.
    assert longest_measured_s(None, 1_000_000) == 20_000
    assert longest_measured_s(None, 10_000) == 3600
    assert longest_measured_s(5 * 10**9, 1_000_000) == 5


def test_durations_are_handed_on_exactly() -> None:
    assert seconds(1_500_000_001) == "1.500000001"

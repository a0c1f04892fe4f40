"""Applications as plugins, their parameters, and programs from packages."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from crosswind.app import find, names
from crosswind.app.load import seconds
from crosswind.app.packages import Package, PackagesUnavailable, checked, parse_uris
from crosswind.app.registry import UnknownApplication
from crosswind.app.rpc import RpcParameters
from crosswind.app.ycsb import YcsbParameters
from crosswind.app.ycsb.store import replicas_of


def test_the_built_in_applications_are_found() -> None:
    assert {"rpc", "ycsb"} <= set(names())
    for name in ("rpc", "ycsb"):
        assert find(name).name == name


def test_an_unknown_application_names_the_installed_ones() -> None:
    with pytest.raises(UnknownApplication, match=r'"mongodb": not installed; installed are .*rpc'):
        find("mongodb")


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


def test_durations_are_handed_on_exactly() -> None:
    assert seconds(1_500_000_001) == "1.500000001"


# Printed by apt 2.6 on Debian 12, with another server's name and the second package made up.
LIBIPERF0 = "libiperf0_3.12-1+deb12u2_amd64.deb"
PRINTED = (
    "Reading package lists...\n"
    "The following NEW packages will be installed:\n"
    "  iperf3 libiperf0\n"
    f"'http://deb.example/pool/libiperf0_3.12-1%2bdeb12u2_amd64.deb' {LIBIPERF0} 91772 MD5Sum:de24cd\n"
    "'http://deb.example/pool/main/x/x_2%3a1.0_all.deb' x_2%3a1.0_all.deb 35788 SHA256:00ff\n"
)


def test_announced_packages_are_read_with_version_and_checksum() -> None:
    assert parse_uris(PRINTED) == [
        Package("libiperf0", "3.12-1+deb12u2", LIBIPERF0, "MD5Sum:de24cd"),
        Package("x", "2:1.0", "x_2%3a1.0_all.deb", "SHA256:00ff"),
    ]


def test_a_package_without_an_announced_checksum_is_read() -> None:
    line = (
        "'URI/postgresql-15_15.20-0%2bdeb12u1_amd64.deb' postgresql-15_15.20-0+deb12u1_amd64.deb 17091392 \n"
    )
    file = "postgresql-15_15.20-0+deb12u1_amd64.deb"
    assert parse_uris(line) == [Package("postgresql-15", "15.20-0+deb12u1", file, "")]


def test_a_package_that_is_not_the_announced_one_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "x.deb"
    archive.write_bytes(b"abc")
    package = Package(
        "x", "1", "x.deb", "MD5Sum:900150983cd24fb0d6963f7d28e17f72"
    )  # RFC 1321, A.5: MD5 ("abc")
    assert checked(package, archive).checksum == "md5:900150983cd24fb0d6963f7d28e17f72"
    with pytest.raises(PackagesUnavailable, match="announced was 00"):
        checked(replace(package, checksum="MD5Sum:00"), archive)
    with pytest.raises(PackagesUnavailable, match="did not download"):
        checked(package, tmp_path / "absent.deb")
    # FIPS 180-4: SHA-256 ("abc")
    unannounced = checked(replace(package, checksum=""), archive).checksum
    assert unannounced == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

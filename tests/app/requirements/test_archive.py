"""What apt-get announces and downloads."""

from dataclasses import replace
from pathlib import Path

import pytest

from crosswind.app.requirements.archive import Archive, checked, parse_uris
from crosswind.app.requirements.requirement import CannotInstall

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
        Archive("libiperf0", "3.12-1+deb12u2", LIBIPERF0, "MD5Sum:de24cd"),
        Archive("x", "2:1.0", "x_2%3a1.0_all.deb", "SHA256:00ff"),
    ]


def test_a_package_without_an_announced_checksum_is_read() -> None:
    line = (
        "'URI/postgresql-15_15.20-0%2bdeb12u1_amd64.deb' postgresql-15_15.20-0+deb12u1_amd64.deb 17091392 \n"
    )
    file = "postgresql-15_15.20-0+deb12u1_amd64.deb"
    assert parse_uris(line) == [Archive("postgresql-15", "15.20-0+deb12u1", file, "")]


# FIPS 180-4: SHA-256 ("abc")
SHA256 = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_package_that_is_not_the_announced_one_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "x.deb"
    archive.write_bytes(b"abc")
    announced = Archive(
        "x", "1", "x.deb", "MD5Sum:900150983cd24fb0d6963f7d28e17f72"
    )  # RFC 1321, A.5: MD5 ("abc")
    assert checked(announced, archive).checksum == SHA256
    with pytest.raises(CannotInstall, match="00 was announced"):
        checked(replace(announced, checksum="MD5Sum:00"), archive)
    with pytest.raises(CannotInstall, match="did not download"):
        checked(announced, tmp_path / "absent.deb")
    unannounced = checked(replace(announced, checksum=""), archive).checksum
    assert unannounced == SHA256

"""Files of images become root file systems, and never anything outside of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from archives import layer, save

from crosswind.app.compose.inside import inside
from crosswind.app.compose.unpack import ImageConfiguration, digest_of, unpack
from crosswind.testbed.errors import TestbedError


def unpacked(folder: Path, *layers: bytes) -> Path:
    root = folder / "root"
    root.mkdir()
    unpack(save(folder / "image.tar", layers, {}), root)
    return root


def test_an_image_brings_its_configuration_and_its_layers(tmp_path: Path) -> None:
    config = {"Entrypoint": ["/bin/a"], "Cmd": ["b"], "Env": ["C=d"], "WorkingDir": "/e"}
    archive = save(
        tmp_path / "image.tar", [layer({"bin": None, "bin/a": b"1"}), layer({"bin/a": b"2"})], config
    )
    (tmp_path / "root").mkdir()
    assert unpack(archive, tmp_path / "root") == ImageConfiguration(("/bin/a",), ("b",), ("C=d",), "/e")
    assert (tmp_path / "root/bin/a").read_bytes() == b"2"


def test_the_digest_is_of_the_configuration_whatever_the_file_is_called(tmp_path: Path) -> None:
    one = save(tmp_path / "one.tar", [layer({"a": b""})], {"Cmd": ["x"]})
    two = save(tmp_path / "two.tar", [layer({"a": b""})], {"Cmd": ["x"]})
    other = save(tmp_path / "other.tar", [layer({"a": b""})], {"Cmd": ["y"]})
    assert digest_of(one) == digest_of(two) != digest_of(other)


def test_a_root_file_system_alone_is_an_image_without_configuration(tmp_path: Path) -> None:
    (tmp_path / "exported.tar").write_bytes(layer({"./bin": None, "./bin/sh": b"x"}))
    (tmp_path / "root").mkdir()
    assert unpack(tmp_path / "exported.tar", tmp_path / "root") == ImageConfiguration()
    assert (tmp_path / "root/bin/sh").read_bytes() == b"x"


def test_a_layer_takes_away_what_it_marks(tmp_path: Path) -> None:
    below = layer({"a": None, "a/gone": b"", "a/kept": b"", "b": None, "b/old": b"", "c": None, "c/x": b""})
    above = layer({"a/.wh.gone": b"", "b/.wh..wh..opq": b"", "b/new": b"", ".wh.c": b""})
    root = unpacked(tmp_path, below, above)
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == ["a", "a/kept", "b", "b/new"]


def test_a_layer_replaces_a_link_by_a_folder_and_a_folder_by_a_file(tmp_path: Path) -> None:
    root = unpacked(
        tmp_path, layer({"a": "/etc", "b": None, "b/c": b""}), layer({"a": None, "a/x": b"", "b": b"file"})
    )
    assert not (root / "a").is_symlink()
    assert (root / "a/x").is_file()
    assert (root / "b").read_bytes() == b"file"


@pytest.mark.parametrize("link", ["/{outside}", "../../{outside}", "/up/{outside}"])
def test_no_link_leads_out_of_the_root(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = link.format(outside=str(outside).lstrip("/"))
    root = unpacked(tmp_path, layer({"up": "../../../..", "door": target}), layer({"door/evil": b"x"}))
    assert list(outside.iterdir()) == []
    assert list(root.rglob("evil"))


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil"])
def test_no_name_leads_out_of_the_root(tmp_path: Path, name: str) -> None:
    root = unpacked(tmp_path, layer({name: b"x"}))
    assert not (tmp_path / "evil").exists()
    assert list(root.rglob("evil"))


def test_what_is_no_image_is_refused_with_the_remedy(tmp_path: Path) -> None:
    archive = save(tmp_path / "image.tar", [layer({"a": b"x" * 10_000})], {})
    whole = archive.read_bytes()
    (tmp_path / "no.tar").write_bytes(b"hello")
    with pytest.raises(TestbedError, match="name a file that `docker save`"):
        digest_of(tmp_path / "no.tar")
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) // 3])
    (tmp_path / "root").mkdir()
    with pytest.raises(TestbedError, match="it is damaged: save it again"):
        unpack(tmp_path / "cut.tar", tmp_path / "root")


def test_links_are_followed_as_a_process_in_the_root_would(tmp_path: Path) -> None:
    for folder in ("run/lock", "var"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "var/run").symlink_to("/run")
    (tmp_path / "var/same").symlink_to("run/../run")
    assert inside(tmp_path, "/var/run/lock/x") == tmp_path / "run/lock/x"
    assert inside(tmp_path, "/var/same") == tmp_path / "run"
    assert inside(tmp_path, "../../var") == tmp_path / "var"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(TestbedError, match="circle"):
        inside(tmp_path, "/circle/x")

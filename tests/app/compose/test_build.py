"""Images that a compose file builds: what goes into them, and which tool makes them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.app.compose.build import Build
from crosswind.app.compose.files import left_out
from crosswind.app.compose.image import Images
from crosswind.testbed.errors import TestbedError

sys.path.insert(0, str(Path(__file__).parent))
from archives import layer, save
from written import compose

TEXT = "services: {web: {build: {context: app, target: t, args: [V=1, W], dockerfile: FILE}}}"
OTHERS = {
    "sub/.env": "W=w",
    "sub/app/Dockerfile": "FROM scratch",
    "sub/app/src/a.py": "a",
    "sub/app/node_modules/b.js": "b",
    "sub/app/.dockerignore": "node_modules\n",
    "sub/other.Dockerfile": "FROM other",
}


def build_of(dockerfile: str = "Dockerfile", others: dict[str, str] | None = None) -> Build:
    build = compose(TEXT.replace("FILE", dockerfile), {**OTHERS, **(others or {})}).services["web"].build
    assert build is not None
    return build


def test_a_build_is_known_by_everything_that_goes_into_it() -> None:
    build = build_of()
    assert list(build.files) == ["sub/app/.dockerignore", "sub/app/Dockerfile", "sub/app/src/a.py"]
    assert (build.args, build.target) == ({"V": "1", "W": "w"}, "t")
    assert build.tag == build_of(others={"sub/app/node_modules/c.js": "left out"}).tag
    assert build.tag != build_of(others={"sub/app/src/a.py": "other"}).tag
    assert build.tag != build_of("../other.Dockerfile").tag


def test_an_image_without_a_name_is_called_after_file_and_service() -> None:
    file = compose("services: {web: {build: .}}", {"sub/Dockerfile": ""})
    assert file.services["web"].image == "sub-web"
    assert any("build is done once" in note for note in file.without_effect)


TOOL = """#!/bin/sh
case $1 in
info) exit 0;;
build) shift; while [ $# -gt 1 ]; do echo "$1" >> LOG; shift; done; [ -f "$1/src/a.py" ] || exit 1; STATUS;;
save) cp IMAGE "$3";;
esac
"""


def test_an_image_is_built_once_and_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = save(tmp_path / "image.tar", [layer({"etc": None, "etc/word": b"built"})], {"Cmd": ["x"]})
    log, build, copies = tmp_path / "log", build_of(), {}
    for name in build.files:
        copies[name] = tmp_path / name.replace("/", "%")
        copies[name].write_text(OTHERS[name])
    tool = tmp_path / "podman"
    written = TOOL.replace("LOG", str(log)).replace("IMAGE", str(image))
    tool.write_text(written.replace("STATUS", "exit 0"))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path / "cache"))
    images = Images({}, {"sub-web": build})
    assert images.missing({"sub-web"}) == []
    assert images.identity("sub-web") == f"built as {build.tag}"
    images.unpack("sub-web", *_account(), copies)
    assert (images.root("sub-web") / "etc/word").read_bytes() == b"built"
    options = log.read_text().splitlines()
    for option in ("--target", "t", "--build-arg", "V=1", "W=w", "--tag", build.tag):
        assert option in options
    tool.write_text(written.replace("STATUS", "echo no such thing >&2; exit 1"))
    images.unpack("sub-web", *_account(), copies)
    with pytest.raises(TestbedError, match="build of sub/app: podman build: no such thing"):
        Images({}, {"sub-web": build_of("../other.Dockerfile")}).unpack(
            "sub-web", *_account(), copies | {"sub/other.Dockerfile": copies["sub/app/Dockerfile"]}
        )


def _account() -> tuple[int, int]:
    return os.geteuid(), os.getegid()


def test_without_an_engine_the_missing_image_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (missing,) = Images({}, {"sub-web": build_of()}).missing({"sub-web"})
    assert missing.what == "image sub-web: is built from sub/app, and neither podman nor docker is installed"
    assert "images: {sub-web: /FILE.tar}" in missing.remedy
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    (missing,) = Images({}, {"sub-web": build_of()}).missing({"sub-web"})
    assert missing.what.endswith("and docker cannot reach an engine")


@pytest.mark.parametrize(
    ("patterns", "path", "is_left_out"),
    [
        ("node_modules", "node_modules/a/b", True),
        ("node_modules", "src/node_modules/a", False),
        ("**/node_modules", "src/node_modules/a", True),
        ("*.md", "README.md", True),
        ("*.md", "docs/README.md", False),
        ("*.md\n!README.md", "README.md", False),
        ("# *.md\n\n", "README.md", False),
        ("*", "src/a", True),
        ("*\n!src", "src/a", False),
        ("/build/", "build/x", True),
        ("a?c", "abc", True),
        ("*", "Dockerfile", False),
    ],
)
def test_dockerignore_leaves_out_what_docker_would(patterns: str, path: str, is_left_out: bool) -> None:
    assert left_out(patterns)(path) == is_left_out


@given(st.text(alphabet="*?!/.ab#[]\\\n ", max_size=20), st.text(alphabet="ab./", max_size=8))
def test_any_pattern_is_understood(patterns: str, path: str) -> None:
    assert left_out(patterns)(path) in (True, False)

"""What is said of images that are nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from crosswind.app.compose.image import Images


@pytest.mark.parametrize(
    ("here", "what", "pull"),
    [
        ((), "podman is not installed; docker is not installed", "podman"),
        (("docker",), "podman is not installed; docker: ", "docker"),
        (("podman", "docker"), "podman: ; docker: ", "podman"),
    ],
)
def test_a_missing_image_is_pulled_with_the_tool_that_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: tuple[str, ...], what: str, pull: str
) -> None:
    # Tools that have no image of any name, and nothing to say about it.
    for tool in here:
        (tmp_path / tool).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (missing,) = Images({}).missing({"shop"})
    assert missing.what == f"image shop: {what}"
    assert missing.remedy == f"run {pull} pull shop, or name an image file: images: {{shop: /FILE.tar}}"

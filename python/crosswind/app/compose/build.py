"""Images that a compose file builds: their inputs, and building them with podman or docker.

The files of the context are stored with the results, so the results folder is enough to build the image
again. An image is identified by the digest of all inputs of its build, and is built once.

Source: the Compose Specification, "build".
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from crosswind.app.compose.files import ComposeFiles, path_from
from crosswind.app.compose.keys import BUILD_REFUSED, BUILD_WITHOUT_EFFECT
from crosswind.app.compose.located import Located
from crosswind.app.compose.merge import as_mapping
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown
from crosswind.testbed.errors import TestbedError
from crosswind.text.nearest import did_you_mean

_KEYS = {"context", "dockerfile", "dockerfile_inline", "args", "target", "network"}
_DOCKERFILE = "Dockerfile"
_LINES_SHOWN = 3


class Build(SpecModel):
    """The inputs of a build.

    Attributes:
        context: its folder, relative to that of the experiment.
        files: of the context, and the Dockerfile, as stored with the results: SHA-256 by name.
        dockerfile: relative to the folder of the experiment; None if it is inline.
    """

    context: str
    files: dict[str, str]
    dockerfile: str | None
    dockerfile_inline: str | None = None
    args: dict[str, str] = Field(default_factory=dict)
    target: str | None = None
    network: str | None = None

    @property
    def tag(self) -> str:
        """The name of the built image, which follows from all inputs."""
        digest = hashlib.sha256(json.dumps(self.model_dump(), sort_keys=True).encode()).hexdigest()
        return f"localhost/crosswind-build:{digest[:24]}"

    def run(self, tool: str, copies: Mapping[str, Path]) -> None:
        """Build the image.

        Args:
            tool: `podman` or `docker`.
            copies: the files by their names.

        Raises: TestbedError: it cannot be built; has the end of the tool's output.
        """
        with tempfile.TemporaryDirectory(prefix="crosswind-build-") as folder:
            context = Path(folder) / "context"
            context.mkdir()
            dockerfile = Path(folder) / _DOCKERFILE
            for name in self.files:
                if name == self.dockerfile:
                    shutil.copyfile(copies[name], dockerfile)
                inside = posixpath.relpath(name, self.context)
                if inside.startswith(".."):
                    continue
                (context / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(copies[name], context / inside)
                # Modes are not stored, and a build may execute scripts of its context.
                (context / inside).chmod(0o755)
            if self.dockerfile_inline is not None:
                dockerfile.write_text(self.dockerfile_inline)
            done = subprocess.run(
                [tool, "build", *self._options(dockerfile), context],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            words = " / ".join((done.stderr or done.stdout).strip().splitlines()[-_LINES_SHOWN:])
            raise TestbedError(f"build of {self.context}: {tool} build: {words}")

    def _options(self, dockerfile: Path) -> list[str | Path]:
        options: list[str | Path] = ["--file", dockerfile, "--tag", self.tag]
        for name, value in self.args.items():
            options += ["--build-arg", f"{name}={value}"]
        options += [] if self.target is None else ["--target", self.target]
        return options if self.network is None else [*options, "--network", self.network]


def read_build(item: Located, files: ComposeFiles, values: Mapping[str, str]) -> tuple[Build, list[str]]:
    """Return the `build` of a service, and its keys that have no effect.

    Raises: QuantityError: it is not a build, or its files do not exist.
    """
    entries = item.items or {"context": item}
    spared = [key for key in entries if key in BUILD_WITHOUT_EFFECT]
    for key in entries:
        if key in BUILD_REFUSED:
            raise QuantityError(f'has "{key}", which {BUILD_REFUSED[key]}')
        if key not in _KEYS and key not in BUILD_WITHOUT_EFFECT and not key.startswith("x-"):
            remedy = did_you_mean(key, _KEYS) or f"keys are {', '.join(sorted(_KEYS))}"
            raise QuantityError(f'has "{key}", which is not a key of a build; {remedy}')
    written = {key: _text(key, entries[key]) for key in _KEYS - {"args"} if key in entries}
    place = entries.get("context", item).place
    said = written.get("context", ".")
    if "://" in said or said.startswith("git@"):
        raise QuantityError(f"has the context {shown(said)}, which is not a folder; copy it beside the file")
    context = path_from(place.file, said)
    if context.startswith("/"):
        raise QuantityError(f"has the context {shown(said)}; write it from the compose file's folder")
    kept = files.context(context)
    if not kept:
        raise QuantityError(
            f"has the context {shown(said)}, which has no files; name the folder of a Dockerfile"
        )
    named = {file.file: file.sha256 for file in kept}
    dockerfile = None
    if "dockerfile_inline" not in written:
        dockerfile = posixpath.normpath(posixpath.join(context, written.get("dockerfile", _DOCKERFILE)))
        if dockerfile not in named:
            content = files.needed(dockerfile, "Dockerfile")
            named[dockerfile] = hashlib.sha256(content).hexdigest()
    made = Build(
        context=context,
        files=dict(sorted(named.items())),
        dockerfile=dockerfile,
        dockerfile_inline=written.get("dockerfile_inline"),
        args=_arguments(entries.get("args"), values),
        target=written.get("target"),
        network=written.get("network"),
    )
    return made, spared


def _arguments(item: Located | None, values: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of a build; one without a value takes that of the variable with its name."""
    found = {}
    for name, entry in ({} if item is None else as_mapping(item).items).items():
        text = values.get(name) if entry.value is None else str(entry.value)
        if text is not None:
            found[name] = text
    return found


def _text(key: str, item: Located) -> str:
    if not isinstance(item.value, str):
        raise QuantityError(f"has the {key} {shown(item.value)}, which is not text; write it in quotes")
    return item.value

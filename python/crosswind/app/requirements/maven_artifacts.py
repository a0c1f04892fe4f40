"""Java archives from a Maven repository, with all their dependencies, in one folder.

`mvn` resolves and downloads them. Which versions a set of artifacts needs follows from the parents, managed
versions and exclusions in about a hundred descriptions, and users have their mirrors and credentials in the
settings of `mvn`. Needs `mvn` on PATH, and Java.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from crosswind.app.requirements.checksum import sha256
from crosswind.app.requirements.private_folder import PrivateFolder
from crosswind.app.requirements.requirement import Requirement
from crosswind.app.requirements.tool import run_tool
from crosswind.testbed.errors import NotHere
from crosswind.testbed.folders import remove_tree

_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


@dataclass(frozen=True)
class MavenArtifacts(Requirement):
    """Archives for a class path.

    Args:
        name: of the group of archives, such as `hdfs`.
        artifacts: each `group:artifact:version`.
        without: `group:artifact` of dependencies to leave out, such as a second logging back end.
    """

    name: str
    artifacts: tuple[str, ...]
    without: tuple[str, ...] = ()

    def missing(self) -> list[str]:
        if self._private.is_complete:
            return []
        return [f"{self.name} ({', '.join(self.artifacts)}): not among the private archives"]

    def commands(self) -> list[str]:
        folder = shlex.quote(str(self._private.path))
        one_line = "".join(line.strip() for line in project(self.artifacts, self.without).splitlines())
        return [
            f"mkdir -p {folder} && cd {folder} && echo {shlex.quote(one_line)} > pom.xml",
            f"mvn {_GOAL} -DincludeScope=runtime -DoutputDirectory=lib",
            self._private.declared(dict(artifact.rsplit(":", 1) for artifact in self.artifacts)),
        ]

    def install(self, say: Callable[[str], None]) -> None:
        with self._private.installing(say, lambda: not self.missing()) as fresh:
            if fresh is None:
                return
            say(f"{', '.join(self.artifacts)} and their dependencies")
            (fresh.path / "pom.xml").write_text(project(self.artifacts, self.without))
            repository, folder = fresh.path / "repository", fresh.path / "lib"
            options = ["--batch-mode", "--quiet", f"-Dmaven.repo.local={repository}"]
            run_tool(
                ["mvn", *options, _GOAL, "-DincludeScope=runtime", f"-DoutputDirectory={folder}"],
                wanted=self.name,
                folder=fresh.path,
                lock=fresh.lock,
            )
            remove_tree(repository)
            fresh.record.update({file.name: sha256(file) for file in folder.glob("*.jar")})

    def places(self) -> list[Path]:
        self._check()
        return [self._private.path]

    def versions(self) -> dict[str, str]:
        self._check()
        return dict(self._private.record)

    @property
    def folder(self) -> Path:
        """The folder of the archives; `folder/*` is a class path."""
        self._check()
        return self._private.path / "lib"

    @property
    def _private(self) -> PrivateFolder:
        return PrivateFolder("maven", self.name, self)

    def _check(self) -> None:
        for lacking in self.missing():
            raise NotHere(f"{lacking}; install it with: {' && '.join(self.commands())}")


def project(artifacts: tuple[str, ...], without: tuple[str, ...]) -> str:
    """Return a Maven project that depends on artifacts and excludes others from all dependencies."""
    excluded = "".join(
        f"<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
        for group, artifact in (_parts(name, 2) for name in without)
    )
    dependencies = "\n".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><exclusions>{excluded}</exclusions></dependency>"
        for group, artifact, version in (_parts(name, 3) for name in artifacts)
    )
    return (
        "<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>crosswind</groupId>\n"
        "  <artifactId>archives</artifactId>\n  <version>1</version>\n"
        f"  <dependencies>\n{dependencies}\n  </dependencies>\n</project>\n"
    )


def _parts(name: str, count: int) -> list[str]:
    parts = [escape(part) for part in name.split(":")]
    if len(parts) != count:
        raise ValueError(f'"{name}": has {len(parts)} parts, needs {count}, separated by colons')
    return parts

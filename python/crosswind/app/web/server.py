"""The contract of a web server: it serves the files of one folder to a number of connections."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.app.requirements import DebianPackages

PORT = 8080


@dataclass(frozen=True)
class Site:
    """What is served.

    Attributes:
        address: of the node.
        folder: for the server's own files; the objects are in `objects` below it.
        connections: the largest number that clients open.
    """

    address: str
    folder: Path
    connections: int

    @property
    def objects(self) -> Path:
        """The folder of the objects; an object of N bytes is called N."""
        return self.folder / "objects"

    @property
    def configuration(self) -> Path:
        """The server's configuration file."""
        return self.folder / "server.conf"


class WebServer(ABC):
    """A web server that runs in the foreground, as an unprivileged account, with all files in its folder.

    Attributes:
        packages: with its program.
    """

    packages: ClassVar[DebianPackages]

    @property
    def env(self) -> dict[str, str]:
        """Variables of the command. A path of the packages belongs here: other machines have another one."""
        return self.packages.env

    @abstractmethod
    def configuration(self, site: Site) -> str:
        """Return the text of the configuration file."""

    @abstractmethod
    def command(self, site: Site) -> list[object]:
        """Return the command that runs it with that file."""

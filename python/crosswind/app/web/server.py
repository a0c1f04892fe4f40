"""What a web server has to be able to do here: serve the files of one folder to a number of connections."""

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
        connections: that clients open at most.
    """

    address: str
    folder: Path
    connections: int

    @property
    def objects(self) -> Path:
        """The folder of the objects; one of N bytes is called N."""
        return self.folder / "objects"

    @property
    def configuration(self) -> Path:
        """The server's configuration file."""
        return self.folder / "server.conf"


class WebServer(ABC):
    """A web server that runs in the foreground as an unprivileged account, with no file outside its folder.

    Attributes:
        packages: where its program comes from.
    """

    packages: ClassVar[DebianPackages]

    @abstractmethod
    def configuration(self, site: Site) -> str:
        """Return the text of the configuration file."""

    @abstractmethod
    def command(self, site: Site) -> list[object]:
        """Return the command that runs it with that file."""

"""The data folders that every trial starts from: stored below the cache, and copied for each trial."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.written import WrittenPart
from crosswind.results.durable import write_text
from crosswind.testbed.errors import TestbedError


class Manifest(WrittenPart):
    """What the data folders contain, for people who look into the cache.

    Attributes:
        version: of the server.
        seed: of the contents.
        nodes: those that have a folder.
    """

    version: str
    records: int
    field_bytes: int
    seed: int
    nodes: list[str]


@dataclass(frozen=True)
class DataFolders:
    """The data folders of a stopped cluster, one for each node that has any.

    Args:
        path: exists once they are stored; its name has everything that determines the contents.
    """

    path: Path

    @property
    def are_kept(self) -> bool:
        """Whether they are stored."""
        return self.path.is_dir()

    def keep(self, folder: Path, manifest: Manifest) -> None:
        """Store the folders of the nodes below `folder` in the cache, all or none."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".part-", dir=self.path.parent))
        try:
            partial.chmod(0o755)
            for node in manifest.nodes:
                _copy_tree(folder / node, partial / node)
            write_text(partial / "manifest.json", manifest.model_dump_json(indent=2) + "\n")
            os.sync()
            # Another run may have prepared the same data meanwhile; both copies are the same.
            if not self.are_kept:
                partial.rename(self.path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def lay_out(self, folder: Path) -> None:
        """Copy them below the folder of a trial."""
        for source in self.path.iterdir():
            if source.is_dir():
                _copy_tree(source, folder / source.name)
        # Otherwise a write of the trial would wait until a journalling file system has flushed these files.
        subprocess.run(["sync", "--file-system", folder], check=True)


def _copy_tree(source: Path, target: Path) -> None:
    """Copy files with owner and mode, sharing their blocks if the file system supports it."""
    done = subprocess.run(
        ["cp", "-a", "--reflink=auto", source, target], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise TestbedError(f"copy {source.name}: {done.stderr.strip().splitlines()[-1]}")

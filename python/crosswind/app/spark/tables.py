"""The tables of TPC-H and TPC-DS: made once, stored in the cache, read by every trial.

They are the benchmark's own data, the same for every seed of an experiment. All workers read the same files,
as if each had a replica, so reading them does not use the network.
"""

import os
import shutil
import tempfile
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.app.spark import programs
from crosswind.app.spark.files import copy_jobs, make_folder
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.folders import cache_folder

# For the largest tables that one machine can make.
LONGEST_S = 24 * 3600.0
_NODE = "client"


class Tables:
    """The tables of a benchmark at a scale factor.

    Args:
        benchmark: `tpch` or `tpcds`.
        scale_factor: about this many GB.
    """

    def __init__(self, benchmark: str, scale_factor: float) -> None:
        self._benchmark = benchmark
        self._scale_factor = scale_factor

    @property
    def folder(self) -> Path:
        """The folder of the tables, which need not exist yet."""
        version = next(name for name in programs.PYSPARK.packages if name.startswith("duckdb"))
        name = f"{self._benchmark}-{self._scale_factor:g}-{version.replace('==', '-')}"
        return cache_folder() / "spark-tables" / name

    def make(self, stage: Stage) -> None:
        """Make the tables in a node and store them in the cache, all or none."""
        copy_jobs(stage, stage.folder)
        made = stage.folder / "tables"
        make_folder(stage, made)
        command = [programs.python(), "-m", "jobs.make_tables", self._benchmark, self._scale_factor, made]
        process = stage.fabric.start(_NODE, "make-tables", command, cwd=stage.folder)
        ended = process.wait(LONGEST_S)
        if ended != Ended(0, None):
            raise TestbedError(f"{process}: {ended or 'still running'}; {process.last_words()}")
        self._keep(made)

    def _keep(self, made: Path) -> None:
        self.folder.parent.mkdir(exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".part-", dir=self.folder.parent))
        try:
            partial.chmod(0o755)
            for file in made.iterdir():
                shutil.copyfile(file, partial / file.name)
            os.sync()
            # Another run may have made the same tables meanwhile; both copies are the same.
            if not self.folder.exists():
                partial.rename(self.folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

"""Files of a trial for the account of the application."""

import shutil
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.testbed.fabric import Process
from crosswind.testbed.folders import give, give_tree

_JOBS = Path(__file__).parent / "jobs"


def make_folder(stage: Stage, path: Path) -> None:
    """Make a folder for the account of the application, if it does not exist."""
    path.mkdir(exist_ok=True)
    give(path, *stage.fabric.application_account)


def beside_logs(process: Process, name: str) -> Path:
    """Return where a file is stored with the outputs of a process.

    Those of another machine come here only at the end of the trial.
    """
    process.stdout.parent.mkdir(parents=True, exist_ok=True)
    return process.stdout.parent / name


def copy_jobs(stage: Stage, folder: Path) -> None:
    """Copy the programs that run inside Spark into a folder, as the package `jobs`.

    The account of the application may not be able to read the folder where Crosswind is installed.
    """
    jobs = Path(shutil.copytree(_JOBS, folder / "jobs", ignore=shutil.ignore_patterns("__pycache__")))
    give_tree(jobs, *stage.fabric.application_account)

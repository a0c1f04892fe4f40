"""The notebooks of `examples/` run from the first cell to the last, on results that are made here."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import crosswind
from surfaces import write_surface
from synthetic import write_folder

nbclient = pytest.importorskip("nbclient", reason="nbclient is missing: make build installs it")
nbformat = pytest.importorskip("nbformat", reason="nbformat is missing: make build installs it")
pytest.importorskip("ipykernel", reason="ipykernel is missing: make build installs it")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a user has the results that the notebooks name."""
    folder = tmp_path_factory.mktemp("place")
    results = folder / "results"
    write_folder(results / "icpe23-ycsb-b" / "latest", operations=1000, blocks=6, conditions=3)
    write_surface(results / "nrg-memcached-profile" / "latest", monitors=False)
    before = write_folder(results / "before" / "latest", operations=300, blocks=8, conditions=2)
    after = shutil.copytree(before, results / "after" / "latest")
    twice = "SELECT * REPLACE (CASE WHEN metric LIKE 'latency%' THEN 2 * value ELSE value END AS value)"
    duckdb.sql(f"COPY ({twice} FROM '{before}/metrics.parquet') TO '{after}/metrics.parquet'")
    for samples in (after / "samples").iterdir():
        slower = "SELECT * REPLACE (2 * finished_ns - started_ns AS finished_ns)"
        duckdb.sql(f"COPY ({slower} FROM '{before}/samples/{samples.name}') TO '{samples}'")
    return folder


@pytest.fixture(scope="module", autouse=True)
def settings_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the settings of this machine's user out of the tests, and the user's files clean."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable.lower())))
        # The kernel runs elsewhere, and has to find what is tested here.
        patch.setenv("PYTHONPATH", str(Path(crosswind.__file__).parents[1]))
        yield


def named(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_a_notebook_is_committed_without_what_its_cells_printed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[] for _ in code]
    assert {cell.execution_count for cell in code} == {None}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_every_cell_of_a_notebook_runs_and_shows_something(path: Path, place: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": place}}
    ).execute()
    silent = [cell.source for cell in notebook.cells if cell.cell_type == "code" and not cell.outputs]
    assert silent == []


def test_there_are_the_three_notebooks_that_the_documentation_names() -> None:
    assert list(map(named, NOTEBOOKS)) == [
        "analyse-a-run.ipynb",
        "compare-two-runs.ipynb",
        "network-profile.ipynb",
    ]

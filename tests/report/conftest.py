import sys
from pathlib import Path

import pytest

# `synthetic` is shared by these tests, whatever the import mode.
sys.path.insert(0, str(Path(__file__).parent))

from synthetic import write_folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten conditions in three blocks, one trial failed, one void; read-only for tests."""
    return write_folder(tmp_path_factory.mktemp("results") / "run", operations=2000)

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))  # for `synthetic` and `surfaces`

from synthetic import write_folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two conditions in six blocks; read-only for tests."""
    return write_folder(tmp_path_factory.mktemp("results") / "run", operations=300, blocks=6, conditions=2)

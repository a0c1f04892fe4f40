"""Makes results folders as the tests of the report do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

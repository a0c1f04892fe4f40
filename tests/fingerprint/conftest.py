import sys
from pathlib import Path

# `documents` is shared by these tests, and `browser` with those of the report, whatever the import mode.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "report")]

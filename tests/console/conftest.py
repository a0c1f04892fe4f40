import sys
from pathlib import Path

# `synthetic` is that of the tests of reports.
sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

import sys
from pathlib import Path

# `test_against` has the calibration that the other files start from, whatever the import mode.
sys.path.insert(0, str(Path(__file__).parent))

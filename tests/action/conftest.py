"""The runner's way of reading commands is shared with the tests of the annotations."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

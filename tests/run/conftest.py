"""Modules beside the tests are backends that a worker loads, and are imported here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

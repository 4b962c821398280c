"""Tests of planning share rivals whose predictions are known."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

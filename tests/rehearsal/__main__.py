"""``python -m tests.rehearsal --port 8000 [--settings JSON]``."""

import argparse

from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import serve

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--settings", default="{}", help="fields of RehearsalSettings, as JSON")
    given = parser.parse_args()
    serve(RehearsalSettings.model_validate_json(given.settings), given.port)

"""Make the golden file of today's format: two runs whose journals every later version must still replay.

    python tests/golden/golden_file.py NAME        # tests/golden/NAME.tar.gz and NAME.json

A file that is there is never made anew: it stands for the version that wrote it. Make another one whenever the format
of journals or the version of a record changes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent / "flows")]

from arriving import ask  # noqa: E402
from small import small_study  # noqa: E402

from lakatos.flows.operations.backup import save  # noqa: E402
from lakatos.flows.operations.carry import carry  # noqa: E402
from lakatos.flows.operations.people import withdraw  # noqa: E402
from lakatos.flows.run.run import read_state  # noqa: E402
from lakatos.flows.start import run_study  # noqa: E402
from lakatos.traces.fold import canonical_digest  # noqa: E402


def summary(folder: Path) -> dict[str, Any]:
    """What a run's journal says: everything that a later version must say too."""
    state, trace = read_state(folder)
    with trace:
        events = list(trace.journal.events())
        kinds = [event.kind for event in events]
        return {
            "head": trace.journal.head[1],
            "form": canonical_digest(events),
            "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            "experiments": {
                name: item.record.n_people for name, item in state.experiments.collected.items()
            },
            "leaders": [cycle.record.leader for cycle in state.campaign.cycles],
            "standings": [
                [line.theory, line.score.value, line.score.standard_error]
                for line in state.board().standings
            ],
            "verdict": state.campaign.concluded.record.text if state.campaign.concluded else "",
        }


def main() -> None:
    """A campaign of two cycles with simulated people, and one whose people joined later and withdrew."""
    name = sys.argv[1]
    archive, expected = HERE / f"{name}.tar.gz", HERE / f"{name}.json"
    assert not archive.exists(), f"{archive} stands for the version that wrote it"
    with tempfile.TemporaryDirectory() as place:
        runs = Path(place) / "runs"
        run_study(small_study(), runs / "simulated", n_workers=1)
        asked = ask(runs / "people")
        asked.deliver(asked.folder, *range(12))
        carry(asked.folder, workers=1)
        asked.deliver(asked.folder, 12, 13)
        carry(asked.folder, workers=1)
        withdraw(asked.folder, asked.people[3].person)
        carry(asked.folder, workers=1)
        save(runs, archive)
        value = {run: summary(runs / run) for run in ("simulated", "people")}
    expected.write_text(json.dumps(value, indent=1) + "\n")
    print(archive.stat().st_size, "bytes")


if __name__ == "__main__":
    main()

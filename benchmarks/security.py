"""What attackers try, and what becomes of it: ``python benchmarks/security.py [SECTION ...]``.

Every section is a function in `SECTIONS` that yields its probes; the outcomes go to the JSON file.
A probe *holds* where the attack fails, and where what is honest is not refused.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.theories import cheats  # noqa: E402
from lakatos.theories.sandbox.client import Sandbox  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "security.json"
N_HONEST = 100
HARMLESS = "its trick has no effect: the answers are those for each person alone, in new processes"


@dataclass(frozen=True)
class SecurityProbe:
    """One attack, or one thing that is honest, and what became of it."""

    name: str
    kind: str
    holds: bool
    outcome: str


def cheating_theories() -> Iterator[SecurityProbe]:
    """Planted theories that cheat, none of which may be admitted, and honest ones, none of which may be refused."""
    with Sandbox() as sandbox:
        trials = {name: cheats.experiment(name, sandbox) for name in ("learning", "multiattribute")}
        for cheat in cheats.cheats():
            found = cheats.outcome(cheat.source, cheat.domain, trials[cheat.domain], sandbox)
            words = f"refused by the {found.where}: {found.reason}" if found.refused else HARMLESS
            holds = found.refused or abs(found.gained) < 1e-9
            yield SecurityProbe(cheat.name, cheat.kind, holds, words if holds else "admitted")
        for program in cheats.honest_learners(N_HONEST):
            found = cheats.outcome(program.source, "learning", trials["learning"], sandbox)
            words = f"refused by the {found.where}: {found.reason}" if found.refused else "admitted"
            yield SecurityProbe(
                program.source.split(":")[0].strip('"'), "honest", not found.refused, words
            )


SECTIONS: dict[str, Callable[[], Iterator[SecurityProbe]]] = {
    "cheating theories": cheating_theories
}
"""Each section's probes, by its name."""


def main(names: list[str]) -> int:
    """Run sections, all by default, and write what came of them beside what is on file for the others."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    failed = 0
    for name in names or list(SECTIONS):
        begun, found = time.monotonic(), []
        for probe in SECTIONS[name]():
            found.append(probe)
            print(
                f"{'holds ' if probe.holds else 'FAILED'}  {probe.kind:<12}  {probe.name}  {probe.outcome[:90]}",
                flush=True,
            )
        held = sum(probe.holds for probe in found)
        failed += len(found) - held
        seconds = round(time.monotonic() - begun, 1)
        results[name] = {
            "held": held,
            "of": len(found),
            "seconds": seconds,
            "probes": [asdict(item) for item in found],
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(f"{name}: {held} of {len(found)} hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

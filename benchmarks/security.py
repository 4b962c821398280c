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

from benchmarks import security_doors  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories import cheats  # noqa: E402
from lakatos.experiments.task import Trials  # noqa: E402
from lakatos.theories.check import CHEAT_STEPS  # noqa: E402
from lakatos.theories.sandbox.client import Sandbox  # noqa: E402
from lakatos.theories.theory import read_program  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "security.json"
N_HONEST = 100
N_FULL = 30
"""Honest theories that take the whole exam; the others take the steps that look for cheats."""


@dataclass(frozen=True)
class SecurityProbe:
    """One attack, or one thing that is honest, and what became of it."""

    name: str
    kind: str
    holds: bool
    outcome: str
    gain: float | None = None
    """Nats a choice that a cheat is worth where nothing is defended."""


def cheating_theories() -> Iterator[SecurityProbe]:
    """Planted theories that cheat, each with a gain, none of which may be admitted."""
    with Sandbox() as sandbox:
        trials = _experiments(sandbox)
        for cheat in cheats.cheats():
            gain = round(cheats.unguarded_gain(cheat, trials[cheat.domain]), 5)
            found = cheats.outcome(cheat.source, cheat.domain, trials[cheat.domain], sandbox)
            holds = found.refused and gain > 0
            yield SecurityProbe(cheat.name, cheat.kind, holds, _words(found), gain)


def honest_theories() -> Iterator[SecurityProbe]:
    """Theories that learn, of the families and drawn from their grammar, none of which may be refused."""
    with Sandbox() as sandbox:
        trials = _experiments(sandbox)["learning"]
        for number, program in enumerate(cheats.honest_learners(N_HONEST)):
            full = number < N_FULL
            steps = None if full else CHEAT_STEPS
            found = cheats.outcome(program.source, "learning", trials, sandbox, steps)
            name = read_program(program).name
            kind = "whole exam" if full else "steps that look for cheats"
            yield SecurityProbe(name, kind, not found.refused, _words(found))


def _experiments(sandbox: Sandbox) -> dict[str, Trials]:
    return {name: cheats.experiment(name, sandbox) for name in cheats.SETTINGS}


def _words(found: cheats.AdmissionOutcome) -> str:
    return f"refused by the {found.where}: {found.reason}" if found.refused else "admitted"


def doors() -> Iterator[SecurityProbe]:
    """Attacks on servers, files and names; see `benchmarks.security_doors`."""
    for name in security_doors.PROBES:
        outcome = security_doors.carry_out(name)
        yield SecurityProbe(name, outcome.tried, outcome.held, outcome.detail)


SECTIONS: dict[str, Callable[[], Iterator[SecurityProbe]]] = {
    "cheating theories": cheating_theories,
    "honest theories": honest_theories,
    "doors": doors,
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
            **provenance(),
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

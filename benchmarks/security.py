"""What attackers try, and what becomes of it: ``python benchmarks/run.py security [SECTION ...]``.

Every section is a function in `SECTIONS` that yields its probes; the outcomes go to the JSON file, and as a table to
`docs/security.md` (``table`` in place of a section writes the table only). A probe *holds* where the attack fails, and
where what is honest is not refused.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pytest

from benchmarks import security_doors
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories import cheats
from lakatos.experiments.interval import wilson_interval
from lakatos.experiments.task import Trials
from lakatos.theories.engine.checks.exam import CHEAT_STEPS
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import read_program

RESULTS = ROOT / "benchmarks" / "raw" / "security.json"
PAGE = ROOT / "docs" / "security.md"
ESCAPES = "tests/theories/engine/sandbox/test_escape.py"
TABLE_BEGINS = "<!-- written by benchmarks/security.py -->"
TABLE_ENDS = "<!-- end of what is written -->"
NAMES = {"doors": "access from outside", "sandbox": "hostile programs"}
"""Sections whose probes are counted together."""
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


class ProbingTests:
    """A pytest plugin that takes each test for a probe: the test's name is the kind, its parameters the name."""

    def __init__(self) -> None:
        self.probes: list[SecurityProbe] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what became of a test: one that was skipped shows nothing, and does not hold."""
        if report.when != "call" and report.passed:
            return
        title, _, name = report.nodeid.rpartition("::")[2].removesuffix("]").partition("[")
        kind = title.removeprefix("test_").replace("_", " ")
        outcome = "as said" if report.passed else str(report.longrepr).splitlines()[-1]
        self.probes.append(SecurityProbe(name, kind, report.passed, outcome))


def sandbox_escapes() -> Iterator[SecurityProbe]:
    """Everything that a hostile theory's process tries, as the tests of the sandbox do."""
    found = ProbingTests()
    pytest.main([str(ROOT / ESCAPES), "-q", "-p", "no:cacheprovider"], plugins=[found])
    yield from found.probes


SECTIONS: dict[str, Callable[[], Iterator[SecurityProbe]]] = {
    "cheating theories": cheating_theories,
    "honest theories": honest_theories,
    "doors": doors,
    "sandbox": sandbox_escapes,
}
"""Each section's probes, by its name."""


def table_of(results: Mapping[str, Any]) -> str:
    """All probes with their outcomes, in Markdown, counted by kind.

    Cheats are counted by the check that refuses them; probes that fail are named.
    """
    lines = ["| section | what is tried | outcome |", "| --- | --- | --- |"]
    for section in SECTIONS:
        probes = [SecurityProbe(**item) for item in results.get(section, {}).get("probes", ())]
        if section == "cheating theories":
            probes = [replace(probe, kind=_refusal(probe.outcome)) for probe in probes]
        if section in NAMES:
            kinds = len({probe.kind for probe in probes})
            probes = [replace(probe, kind=f"{NAMES[section]}, {kinds} kinds") for probe in probes]
        lines += [_counted(section, kind, own) for kind, own in _by_kind(probes).items()]
    return "\n".join(lines)


def _by_kind(probes: list[SecurityProbe]) -> dict[str, list[SecurityProbe]]:
    found: dict[str, list[SecurityProbe]] = {}
    for probe in probes:
        found.setdefault(probe.kind, []).append(probe)
    return found


def _counted(section: str, kind: str, probes: list[SecurityProbe]) -> str:
    held = sum(probe.holds for probe in probes)
    lost = "".join(f"; **{probe.name}: {probe.outcome}**" for probe in probes if not probe.holds)
    low, high = (f"{100 * end:.1f}%" for end in wilson_interval(held, len(probes)))
    return _cells(section, kind, f"{held} of {len(probes)} hold ({low} to {high}){lost}")


def _refusal(outcome: str) -> str:
    """The check in an outcome such as ``refused by the exam: size: ...``."""
    return ": ".join(outcome.split(": ")[:2])


def _cells(*texts: str) -> str:
    clean = (re.sub(r"\s+", " ", text).replace("|", "\\|") for text in texts)
    return f"| {' | '.join(clean)} |"


def write_table(results: Mapping[str, Any]) -> None:
    """Put the table between its marks in the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE_BEGINS)
    after = rest.partition(TABLE_ENDS)[2]
    text = f"{before}{TABLE_BEGINS}\n\n{table_of(results)}\n\n{TABLE_ENDS}{after}"
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Run sections, all by default, and write what came of them beside what is on file for the others."""
    names = sys.argv[1:]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    failed = 0
    for name in [] if names == ["table"] else names or list(SECTIONS):
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
    write_table(results)
    sys.exit(1 if failed else 0)

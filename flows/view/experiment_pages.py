"""Pages of the observatory about experiments and what was found wrong with theories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakatos.flows.report.experiment_facts import experiment_facts
from lakatos.flows.report.words import kind_words
from lakatos.flows.view.watch import RunMoment
from lakatos.theories.engine.record import Diagnosis
from lakatos.traces.digest import Digest


def experiments(look: RunMoment) -> dict[str, Any]:
    """Values of the page of experiments, the newest last."""
    known = look.state.experiments
    rows = [
        (name, item, known.preregistrations.get(name), known.collected.get(name))
        for name, item in known.designs.items()
    ]
    return {"rows": rows}


def experiment(look: RunMoment, name: str) -> dict[str, Any] | None:
    """One experiment: what was chosen and why, as shown to people, and what they answered; None if there is none."""
    if name not in look.state.experiments.designs:
        return None
    whole = look.with_people(name).with_scores(experiment=name)
    return {"item": experiment_facts(whole, name)}


# --- diagnoses ------------------------------------------------------------------------------------------------------


def diagnoses(look: RunMoment) -> dict[str, Any]:
    """Values of the page of case files, the newest first."""
    return {"cases": list(reversed(list(enumerate(look.state.theories.diagnoses))))}


def diagnosis(look: RunMoment, number: int) -> dict[str, Any] | None:
    """One case file with its evidence; None if there is none."""
    if not 0 <= number < len(look.state.theories.diagnoses):
        return None
    item = look.state.theories.diagnoses[number]
    record: Diagnosis = item.record
    return {
        "number": number,
        "item": item,
        "record": record,
        "claims": [(claim, evidence(look, claim.cites)) for claim in record.claims],
        "answers": [
            name
            for name, other in look.state.theories.pool.items()
            if other.record.cycle == record.cycle and name in look.checked
        ],
        "scale": max((abs(claim.z) for claim in record.claims), default=1.0) or 1.0,
    }


def evidence(look: RunMoment, digests: Sequence[Digest]) -> list[tuple[str, Digest]]:
    """Cited records and artifacts: words and digest."""
    look.journal_entries.learn(digests)
    entries = {digest: look.journal.get(digest) for digest in digests}
    return [
        (f"{kind_words(entry.kind)} {entry.seq}" if entry else f"artifact {digest[:8]}", digest)
        for digest, entry in entries.items()
    ]

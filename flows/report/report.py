"""The report of a run: one HTML file that a reader who knows nothing of the laboratory can follow and check.

It is read from the trace alone, also while the run goes on, and the same trace gives the same bytes. Everything that
theories, studies, data and errors say is escaped by the template; only a domain's own pictures of its trials are not.
The page carries no scripts and a policy that forbids them. `lakatos.flows.report.reader` reads the run, the modules
``..._facts`` and `lakatos.flows.report.figures` say what there is to show, as they do for the observatory, and
`lakatos.flows.report.limits` says what the result does not show.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from markupsafe import Markup

from lakatos.experiments.data_sets import data_sets_of
from lakatos.flows.errors import check_file_place
from lakatos.flows.report.absolute_fit import absolute_fits
from lakatos.flows.report.by_condition import conditions_found
from lakatos.flows.report.by_experiment import leader_by_experiment
from lakatos.flows.report.course import (
    FROZEN_DIFFERENCES,
    course,
    found_by_search,
    pairs_in_words,
    stop_in_words,
)
from lakatos.flows.report.curves import domain_curves
from lakatos.flows.report.experiment_facts import FIRST_PICTURES, data_facts, experiment_facts
from lakatos.flows.report.family_tree import family_tree
from lakatos.flows.report.figures import score_history, theory_map
from lakatos.flows.report.formats import fixed
from lakatos.flows.report.judging_facts import (
    COIN,
    FEW_VERDICTS,
    error_facts,
    judging_facts,
    verdict_rows,
)
from lakatos.flows.report.learning_curve import learning_curve
from lakatos.flows.report.limits import limits
from lakatos.flows.report.methods import methods_parts
from lakatos.flows.report.misfits import checks_of_leader
from lakatos.flows.report.random_trials import on_random_trials
from lakatos.flows.report.reader import (
    RunReading,
    mean_ceiling,
    open_pairs,
    open_reading,
    text_below,
)
from lakatos.flows.report.references import references
from lakatos.flows.report.size_path import path_figure
from lakatos.flows.report.templating import TEMPLATES, page_environment
from lakatos.flows.report.theory_facts import winner_facts
from lakatos.flows.report.two_pages import render_summary, summary_beside
from lakatos.flows.report.utterances import utterance_facts
from lakatos.flows.run.progress import sentences_of
from lakatos.flows.run.state import RunState
from lakatos.theories.engine.record import EffectsLearned, GroupsCompared
from lakatos.theories.findings.verdicts.conclude import in_new_names
from lakatos.traces.artifact import write_together
from lakatos.traces.step import Recorded
from lakatos.traces.verify import VerifyReport, verify

REPORT_FILE = "report.html"
Told = TypeVar("Told", GroupsCompared, EffectsLearned)
MOST_NODES = 60
"""Theories in the family tree before those that were neither admitted nor ancestors are left out."""
STYLES = ("page.css", "report.css")


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write what a run found, how, and how to check it, as one self-contained HTML file, and a summary beside it.

    The summary has two printed pages and stands where `lakatos.flows.report.two_pages.summary_beside` says.

    Args:
        folder: Folder of the run, which may still be going on.
        out: File to write; ``report.html`` in the run's folder when None.

    Raises:
        RunMissingError: There is no run.
        UnusableError: ``out`` is a folder or a device.
        TraceError: The trace is damaged, or the file cannot be written.
    """
    folder = Path(folder)
    place = folder / REPORT_FILE if out is None else Path(out)
    check_file_place(place)
    beside = summary_beside(place)
    with open_reading(folder) as reading:
        page = render(reading, summary=beside.name)
        summary = render_summary(reading, report=place.name)
    write_together({beside: summary.encode(), place: page.encode()}, private=True)
    return place


# --- what the template is given -------------------------------------------------------------------------------------


JOURNAL_META = "lakatos-journal"
"""Name of what a page states of its journal: number and hash of the last event, and the run's name."""


def render(
    reading: RunReading, summary: str = "", *, key: str | None = None, is_copy: bool = False
) -> str:
    """Write the whole report of a run as one HTML page.

    Args:
        reading: The run.
        summary: Address of its two-page summary; empty if there is none.
        key: Public key that heads must be signed with; that of this machine's laboratory by default.
        is_copy: Whether it is a bundle, after which the run may have gone on.
    """
    environment = page_environment()
    environment.globals |= {
        "label": reading.label,
        "cite": reading.journal.get,
        "first_pictures": FIRST_PICTURES,
        "few": FEW_VERDICTS,
        "COIN": COIN,
    }
    state = reading.state
    company = state.theories.completeness.record if state.theories.completeness else None
    context = {
        "run": reading,
        "summary": summary,
        "state": state,
        "config": reading.config,
        "concluded": reading.concluded,
        "sentences_below": sentences_of(without_claim(reading, text_below(reading))),
        "path_figure": path_figure(reading),
        "renamed": partial(in_new_names, state.theories),
        "board": reading.board,
        "data": data_facts(reading),
        "guess": guess(_numbers_of_options(reading)),
        "winner": winner_facts(reading),
        "family": family_tree(reading, MOST_NODES),
        "history": score_history(reading),
        "map": theory_map(reading),
        "mapped": state.campaign.map.record if state.campaign.map else None,
        "ceiling": mean_ceiling(reading, list(state.experiments.collected)),
        "by_experiment": leader_by_experiment(reading),
        "domain_curves": domain_curves(reading),
        "learning_curve": learning_curve(reading),
        "random_trials": on_random_trials(reading),
        "fits": absolute_fits(reading),
        "by_condition": conditions_found(reading),
        "by_data_set": bool(data_sets_of(reading.board.experiments)),
        "company": company,
        "groups": _renamed(state, state.theories.groups),
        "effects": _renamed(state, state.theories.effects),
        "complete": {line.theory: line for line in company.theories} if company else {},
        "experiments": [experiment_facts(reading, name) for name in state.experiments.designs],
        "failures": failure_facts(reading),
        "course": course(reading),
        "checks": checks_of_leader(reading),
        "frozen_differences": FROZEN_DIFFERENCES,
        "stop": stop_in_words(reading),
        "errors": error_facts(reading),
        "check": check_facts(reading, key, is_copy=is_copy),
        "journal_meta": JOURNAL_META,
        "judging": judging_facts(reading),
        "models": utterance_facts(reading),
        "limits": limits(reading),
        "references": references(reading, [line.theory for line in reading.board.standings]),
        "methods": methods_parts(reading),
        "style": Markup("").join(Markup((TEMPLATES / name).read_text("utf-8")) for name in STYLES),
    }
    return environment.get_template("report.html").render(context)


def without_claim(reading: RunReading, text: str) -> str:
    """The text of a verdict without the claim of its theory, which stands above it on the page."""
    claim = reading.theory(reading.leader).claim if reading.leader else ""
    return text.replace(f"Claim: {claim} ", "") if claim else text


def _renamed(state: RunState, found: Recorded[Told] | None) -> Told | None:
    """Rewrite what was found about people with the names that theories have since."""
    if found is None:
        return None
    return found.record.model_copy(update={"text": in_new_names(state.theories, found.record.text)})


def _numbers_of_options(reading: RunReading) -> list[int]:
    """List how many options trials offer, over all experiments."""
    found = set[int]()
    for name in reading.state.experiments.collected:
        trials = reading.trials(name)
        found |= set(trials.stimuli.available(trials.n_options).sum(axis=1).tolist())
    return sorted(found)


def guess(numbers: Sequence[int]) -> str:
    """State the score of guessing, for experiments with these numbers of options."""
    known = [
        f"a guess among {n} options gets {fixed(-float(np.log(n)), 3)}" for n in numbers if n != 2
    ]
    return " and ".join(
        [f"guessing scores {fixed(COIN, 3)}"] * (2 in numbers or not numbers) + known
    )


# --- failures and checks --------------------------------------------------------------------------------------------


def failure_facts(reading: RunReading) -> dict[str, Any]:
    """Everything that did not work."""
    state = reading.state
    errors = Counter[str]()
    n_tried = 0
    for search in state.theories.searches:
        n_tried += search.record.n_attempts
        for attempt in reading.trace.artifacts.get_json(search.record.attempts):
            if attempt.get("error"):
                errors[str(attempt["error"])[:300]] += 1
    verdicts = verdict_rows(state)
    settled = [item.log_score for item in verdicts if item.log_score is not None]
    mean = float(np.mean(settled)) if settled else None
    spread = float(np.std(settled, ddof=1) / np.sqrt(len(settled))) if len(settled) > 1 else None
    return {
        "open_pairs": [
            {"pair": pair, "difference": difference} for pair, difference in open_pairs(reading)
        ],
        "pairs": pairs_in_words(reading),
        "n_tried": n_tried,
        "search": found_by_search(
            n_tried,
            len(set(reading.checked) - set(state.seeds)),
            sum(len(item.record.submissions) for item in state.theories.searches),
        ),
        "attempt_errors": errors.most_common(5),
        "n_attempt_errors": errors.total(),
        "refused_designs": [
            item.record for item in state.experiments.designs.values() if not item.record.accepted
        ],
        "verdicts": verdicts,
        "n_settled": len(settled),
        "overturned": [item for item in verdicts if item.overturned],
        "mean_log_score": mean,
        "mean_log_score_error": spread,
        "pitfalls": [pitfall for _, pitfall in state.memory.library.pitfalls],
    }


def _without_numbers_of_heads(report: VerifyReport) -> VerifyReport:
    """The checks, without how many heads there are: heads are signed later, and the page stays the same."""
    fine = "every head that was signed fits the journal"
    checks = tuple(
        replace(check, detail=fine) if check.name == "heads" and check.ok else check
        for check in report.checks
    )
    return replace(report, checks=checks)


def check_facts(
    reading: RunReading, key: str | None = None, *, is_copy: bool = False
) -> dict[str, Any]:
    """State how far the trace can be trusted, and how to check that."""
    seq, head = reading.trace.journal.head
    place = shlex.quote(str(reading.folder))
    return {
        "head": head,
        "seq": seq,
        "n_records": len(reading.journal),
        "report": _without_numbers_of_heads(verify(reading.trace, key=key, is_copy=is_copy)),
        "audit": f"lakatos audit {place}",
        "resume": f"lakatos resume {place}",
        "versions": reading.state.campaign.started.record.versions
        if reading.state.campaign.started
        else {},
        "study": reading.config.digest,
        "epochs": [item.record for item in reading.state.judging.epochs],
        "engines": sorted({item.record.engine for item in reading.state.theories.scores.values()}),
        "sandbox": sorted(reading.layers),
    }

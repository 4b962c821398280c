"""Pages of the observatory about experiments and what was found wrong with theories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from lakatos.experiments.record import DesignChosen
from lakatos.flows.report.reader import ChoiceShares, last_option
from lakatos.flows.report.report import (
    PairFound,
    achieved,
    aligned,
    most_informative,
    people_facts,
    trial_caption,
)
from lakatos.flows.run.source import archive_reader, hidden_theory
from lakatos.flows.view import chart
from lakatos.flows.view.watch import UNREADABLE, RunMoment
from lakatos.flows.view.words import kind_words
from lakatos.theories.record import Diagnosis
from lakatos.traces.digest import Digest

MOST_PICTURES: Final = 60
"""Trials of an experiment that are drawn; the rest are described in a line each."""
MOST_TRIALS: Final = 40
"""Trials in the chart of an experiment: those on which the rivals differ most."""
MOST_RIVALS: Final = 4


def whose(look: RunMoment) -> dict[str, Any]:
    """Whose choices these are, with the source of published ones."""
    people, collected = (
        look.config.participants,
        [item.record for item in look.state.experiments.collected.values()],
    )
    archive = None if look.simulated else archive_reader(look.config)
    hidden = ""
    if look.simulated and look.concluded:
        changed = [
            f"{slot} replaced by {' and '.join(names) or 'nothing'}"
            for slot, names in people.mechanisms.items()
        ]
        hidden = "; ".join([people.theory or hidden_theory(look.config).name, *changed])
    return {
        "archive": archive,
        "hidden": hidden,
        "n_responses": sum(item.n_responses for item in collected),
        "n_people": sum(item.n_people for item in collected),
        "n_experiments": len(collected),
    }


# --- experiments ----------------------------------------------------------------------------------------------------


def experiments(look: RunMoment) -> dict[str, Any]:
    """Values of the page of experiments, the newest last."""
    return {
        "rows": [
            (
                name,
                item,
                look.state.experiments.preregistrations.get(name),
                look.state.experiments.collected.get(name),
            )
            for name, item in look.state.experiments.designs.items()
        ]
    }


def experiment(look: RunMoment, name: str) -> dict[str, Any] | None:
    """One experiment: what was chosen and why, as shown to people, and what they answered; None if there is none."""
    item = look.state.experiments.designs.get(name)
    if item is None:
        return None
    chosen, plan, collected = (
        item.record,
        look.state.experiments.preregistrations.get(name),
        look.state.experiments.collected.get(name),
    )
    facts: dict[str, Any] = {
        "item": item, "chosen": chosen, "plan": plan, "collected": collected, "pairs": [], "chart": "",
        "pictures": [], "lines": [], "people": None, "option": "", "n_shown": 0, "rivals": [], "power": "",
        "withdrawn": len(set(look.state.experiments.withdrawn.get(name, ()))),
    }  # fmt: skip
    if not chosen.accepted:
        return facts
    facts["people"] = people_facts(look.with_people(name), name)
    design = look.design(chosen)
    option = last_option(look.domain, look.domain.n_options(design.stimuli))
    frozen = look.frozen(name) if plan is not None else {}
    predicted = {rival: frozen[rival] for rival in chosen.rivals if rival in frozen}
    shares = None
    if collected is not None:
        try:
            shares = aligned(look.trials(name), design)
        except UNREADABLE as error:
            facts["missing"] = str(error)
        scored = look.with_scores(experiment=name)
        facts["pairs"] = [PairFound(pair, achieved(scored, pair, name)) for pair in chosen.powers]
    else:
        facts["pairs"] = [PairFound(pair, None) for pair in chosen.powers]
    facts["power"] = power_chart(look, facts["pairs"])
    facts["option"] = option
    if predicted:
        facts["chart"], facts["n_shown"], facts["rivals"] = predictions_chart(
            look, chosen, shares, predicted, option
        )
    for place, row in enumerate(most_informative(design)):
        caption = trial_caption(look, row, design, shares, predicted)
        if place < MOST_PICTURES:
            facts["pictures"].append((Markup(look.domain.picture(design.stimuli, row)), caption))
        else:
            facts["lines"].append((look.domain.describe(design.stimuli, row), caption))
    return facts


def power_chart(look: RunMoment, pairs: Sequence[PairFound]) -> Markup:
    """Power promised and difference found."""
    rows = []
    for pair in pairs:
        found = pair.difference
        known = found is not None and math.isfinite(found.standard_error)
        low, high = found.interval if found is not None and known else (0.0, 0.0)
        rows.append(
            chart.RivalPair(
                first=look.label(pair.promised.first).tag,
                second=look.label(pair.promised.second).tag,
                promised=min(pair.promised.power_first, pair.promised.power_second),
                enough=pair.promised.separable,
                value=found.value if found is not None and known else None,
                low=low,
                high=high,
            )
        )
    return chart.both(partial(chart.pairs_chart, rows)) if rows else Markup("")


def predictions_chart(
    look: RunMoment,
    chosen: DesignChosen,
    shares: ChoiceShares | None,
    predicted: Mapping[Digest, Any],
    option: str,
) -> tuple[Markup, int, list[Digest]]:
    """Chart, number of trials in it, and the rivals whose predictions it shows."""
    rivals = list(predicted)[:MOST_RIVALS]
    stack = np.stack([predicted[rival] for rival in rivals])
    rows = np.arange(stack.shape[2])
    if shares is not None:
        rows = np.flatnonzero(~np.isnan(shares.share))
    if len(rows) > MOST_TRIALS:
        apart = np.ptp(stack[:, 0, rows], axis=0)
        rows = rows[np.argsort(-apart, kind="stable")[:MOST_TRIALS]]
    rows = rows[np.argsort(stack[0, 0, rows], kind="stable")]
    if not len(rows):
        return Markup(""), 0, rivals
    random = set(look.design(chosen).random_coverage)
    trials = [
        chart.AnsweredTrial(
            number=int(row) + 1,
            random=int(row) in random,
            share=float(shares.share[row]) if shares is not None else math.nan,
            low=float(shares.low[row]) if shares is not None else math.nan,
            high=float(shares.high[row]) if shares is not None else math.nan,
            predicted=tuple((float(m), float(lo), float(hi)) for m, lo, hi in stack[:, :, row]),
        )
        for row in rows
    ]
    names = [look.label(rival).short for rival in rivals]
    return chart.both(partial(chart.predictions, trials, names, option)), len(rows), rivals


# --- diagnoses, judges, memory --------------------------------------------------------------------------------------


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

"""What each page of the observatory shows of a run; one function for each, from what was recorded alone."""

from __future__ import annotations

import difflib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from lakatos.experiments.record import DesignChosen
from lakatos.flows.report.explain import ended_epochs
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import (
    ChoiceShares,
    RunReading,
    clean,
    last_option,
    mean_ceiling,
    scattered_option,
    shortened,
)
from lakatos.flows.report.report import (
    PairFound,
    achieved,
    aligned,
    coloured,
    figures3,
    most_informative,
    origin,
    people_facts,
    prior_words,
    status_of,
    trial_caption,
    verdict_facts,
)
from lakatos.flows.run.records import CycleClosed
from lakatos.flows.run.source import archive_reader, hidden_theory
from lakatos.flows.run.study import OWN
from lakatos.flows.view import chart
from lakatos.flows.view.outline import WantedEvents
from lakatos.flows.view.search import CallsFound, search_calls
from lakatos.flows.view.watch import UNREADABLE, RunMoment
from lakatos.flows.view.words import (
    STEPS,
    address,
    group_of,
    kind_words,
    long_text,
    meaning,
    summary,
    tree_of,
)
from lakatos.judges.calibration import calibration
from lakatos.judges.judge import Verdict
from lakatos.language_models.ledger import spending_of
from lakatos.memory.item import PlanUsed, ToolRefused, ToolValidated, ToolWithdrawn
from lakatos.memory.library import Library, Pitfall
from lakatos.memory.plan import Plan
from lakatos.memory.record import MEMORY_RECORDS, InquiryMade, LessonsRecalled
from lakatos.memory.tool import ToolStanding
from lakatos.theories.record import Diagnosis, TheoryChecked
from lakatos.traces.digest import Digest, is_digest
from lakatos.traces.errors import ArtifactMissingError
from lakatos.traces.journal import INTENT, event_of
from lakatos.traces.stores.store import EventRow

FIRST_PICTURES: Final = 6
MOST_PICTURES: Final = 60
"""Trials of an experiment that are drawn; the rest are described in a line each."""
MOST_TRIALS: Final = 40
"""Trials in the chart of an experiment: those on which the rivals differ most."""
MOST_RIVALS: Final = 4
MOST_LINES: Final = 5
"""Theories with a colour of their own in the chart of the leaderboard."""
PAGE: Final = 100
"""Events on one page of the trace."""
ENOUGH: Final = 20
"""Settled verdicts below which nobody is called biased."""
SOON: Final = 10_000
"""Events up to which what reads them all is made with the page, and not after it."""
MOST_TEXT: Final = 200_000
"""Characters of an artifact that are shown."""


# --- all pages ------------------------------------------------------------------------------------------------------


def sections(look: RunMoment) -> list[tuple[str, str, int | None]]:
    """The run's pages: address, name, and how many there are of what it shows."""
    name, state = look.watch.name, look.state
    to = partial(address, name)
    return [
        (to("") , "Story", None),
        (to("theories"), "Theories", len(state.theories.checked)),
        (to("leaderboard"), "Leaderboard", len(state.campaign.cycles) or None),
        (to("experiments"), "Experiments", len(state.experiments.designs)),
        (to("diagnoses"), "Diagnoses", len(state.theories.diagnoses)),
        (to("judges"), "Judges", len(state.judging.verdicts)),
        (to("memory"), "Memory", len(look.library().entries)),
        (to("trace"), "Trace", look.outline.n_records),
        (to("audit"), "Audit", None),
        (to("cost"), "Cost and time", None),
    ]  # fmt: skip


def now(look: RunMoment) -> str:
    """What the run does at the moment."""
    match look.progress:
        case "concluded":
            return "concluded"
        case "waiting":
            assert look.waiting is not None
            return f"waits for people: {look.waiting.n_completed} of {look.waiting.n_planned} have answered"
    row = look.outline.row(look.seq)
    doing = STEPS.get(row.name, row.name.replace("_", " ")) if row else "beginning"
    if look.progress == "stopped":
        return "stopped; `lakatos resume` carries it on"
    cycles = look.config.stop.cycles
    return f"cycle {min(len(look.state.campaign.cycles) + 1, cycles)} of at most {cycles}: {doing}"


def who(look: RunReading) -> str:
    """Whose choices these are, in two words."""
    if look.model:
        return "language model"
    if look.simulated:
        return "simulated people"
    if look.config.participants.file:
        return "choices from a file"
    return "people's published choices" if look.config.participants.archive else "people's choices"


# --- story ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CycleChapter:
    """What was tried in one cycle."""

    number: int
    experiments: list[tuple[str, DesignChosen, Any]]
    """Name, design, and what was collected, if anything was yet."""
    diagnoses: list[tuple[int, Any]]
    admitted: list[Digest]
    closed: CycleClosed | None
    overtaken: bool
    """Whether another theory led at its end than before."""


def chapters(look: RunMoment) -> list[CycleChapter]:
    """The run cycle by cycle."""
    state = look.state
    closed = {item.record.cycle: item.record for item in state.campaign.cycles}
    begun = [item.record.cycle for item in state.experiments.designs.values()]
    found = []
    for number in sorted({*closed, *begun}):
        before = closed.get(number - 1)
        end = closed.get(number)
        found.append(
            CycleChapter(
                number=number,
                experiments=[
                    (
                        name,
                        item.record,
                        state.experiments.collected[name].record
                        if name in state.experiments.collected
                        else None,
                    )
                    for name, item in state.experiments.designs.items()
                    if item.record.cycle == number
                ],
                diagnoses=[
                    (place, item.record)
                    for place, item in enumerate(state.theories.diagnoses)
                    if item.record.cycle == number
                ],
                admitted=[
                    name
                    for name, item in state.theories.pool.items()
                    if item.record.cycle == number
                ],
                closed=end,
                overtaken=bool(end and before and end.leader != before.leader),
            )
        )
    return found


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


def first_trial(look: RunMoment) -> tuple[Markup, str] | None:
    """The trial that told most in the first experiment, as participants saw it, and its experiment."""
    for name, item in look.state.experiments.designs.items():
        if item.record.accepted:
            design = look.design(item.record)
            return Markup(look.domain.picture(design.stimuli, most_informative(design)[0])), name
    return None


def story(look: RunMoment) -> dict[str, Any]:
    """The discovery from first rivals to verdict."""
    concluded, state = look.concluded, look.state
    strip = Markup("")
    if (
        concluded
        and concluded.advantage is not None
        and all(map(math.isfinite, concluded.interval or [math.nan]))
    ):
        assert concluded.interval is not None
        names = ("a first rival is ahead", "the winner is ahead")
        draw = partial(chart.chart_interval, concluded.advantage, *concluded.interval)
        strip = chart.both(lambda width: draw(width, "nats per choice", names))
    return {
        "whose": whose(look),
        "strip": strip,
        "trial": look.watch.kept(
            ("trial", len(state.experiments.designs) > 0), lambda: first_trial(look)
        ),
        "chapters": chapters(look),
        "history": history(look),
        "n_tried": state.n_tried,
        "source": shortened_source(look),
        "standing": next(
            (
                line
                for line in (
                    state.campaign.cycles[-1].record.leaderboard if state.campaign.cycles else ()
                )
                if line.theory == look.leader
            ),
            None,
        ),
    }


def shortened_source(look: RunMoment) -> Markup:
    """The leader as a program."""
    if look.leader is None or look.leader not in look.state.theories.checked:
        return Markup("")
    return coloured(clean(look.theory(look.leader).program.source))


def limits_part(look: RunMoment) -> dict[str, Any]:
    """What the result does not show; needs every score, so that it comes after the page."""
    found = look.watch.kept(("limits", look.seq), lambda: limits(look.with_scores()))
    return {"limits": [text.replace(" (section 6)", "") for text in found]}


# --- theories -------------------------------------------------------------------------------------------------------


def family(look: RunMoment) -> dict[str, Any]:
    """Every theory on a line of its own in order of arrival, with rails from parents to children."""
    places = {digest: row for row, digest in enumerate(look.checked)}
    cycles = sorted({item.record.cycle for item in look.checked.values()})
    step = min(20.0, 92.0 / max(len(cycles) - 1, 1))
    height = 58

    def spot(digest: Digest) -> tuple[float, float]:
        return 14 + step * cycles.index(look.checked[digest].record.cycle), height * (
            places[digest] + 0.5
        )

    rows, edges = [], []
    for digest, item in look.checked.items():
        record = item.record
        x, y = spot(digest)
        for parent in dict.fromkeys(record.parents):
            if parent in places and parent != digest:
                from_x, from_y = spot(parent)
                gap = from_x + step / 2
                edges.append(
                    {
                        # Down between two columns, so that no line runs through the marks of siblings.
                        "path": f"M{from_x:.1f} {from_y:.1f}Q{gap:.1f} {from_y:.1f} {gap:.1f} {from_y + 12:.1f}"
                        f"V{y - 12:.1f}Q{gap:.1f} {y:.1f} {x:.1f} {y:.1f}",
                        "line": digest in look.ancestry and parent in look.ancestry,
                    }
                )
        rows.append(
            {
                "digest": digest,
                "record": record,
                "x": x,
                "y": y,
                "status": status_of(look, digest),
                "line": digest in look.ancestry,
                "how": f"refused: {record.reason}"
                if record.reason
                else record.change or origin(record.author),
                "parents": [parent for parent in dict.fromkeys(record.parents) if parent in places],
            }
        )
    edges.sort(key=lambda edge: bool(edge["line"]))
    return {
        "rows": rows,
        "edges": edges,
        "rail": 14 + step * max(len(cycles) - 1, 0) + 22,
        "height": height * len(rows),
    }


def theories(look: RunMoment) -> dict[str, Any]:
    """Values of the page of theories: the family tree and the map."""
    return {
        "family": family(look),
        "map": theory_map(look),
        "mapped": look.state.campaign.map.record if look.state.campaign.map else None,
    }


def theory_map(look: RunMoment) -> Markup:
    """Where theories lie by what their people choose."""
    if look.state.campaign.map is None:
        return Markup("")
    found = look.state.campaign.map.record
    places = [
        chart.MapPlace(
            tag=look.label(name).tag,
            name=look.label(name).name,
            link=address(look.watch.name, "theory", name),
            x=x,
            y=y,
            series=0 if name == look.leader else 1 if name in look.state.seeds else 2,
        )
        for name, (x, y) in zip(found.theories, found.positions, strict=True)
    ]
    return chart.both(partial(chart.chart_map, places))


@dataclass(frozen=True)
class ChangedLine:
    """One line of a difference between two programs."""

    sign: str
    """``+``, ``-``, a blank, or ``@`` for lines left out."""
    old: int | None
    new: int | None
    text: str


def difference(before: str, after: str, around: int = 3) -> list[ChangedLine]:
    """Lines taken out, put in, and some around them."""
    old, new = clean(before).splitlines(), clean(after).splitlines()
    lines: list[ChangedLine] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(
        around
    ):
        if lines or group[0][1] > 0:
            lines.append(ChangedLine("@", None, None, ""))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [
                    ChangedLine(" ", i + 1, j + 1, old[i])
                    for i, j in zip(range(i1, i2), range(j1, j2), strict=True)
                ]
            else:
                lines += [ChangedLine("-", i + 1, None, old[i]) for i in range(i1, i2)]
                lines += [ChangedLine("+", None, j + 1, new[j]) for j in range(j1, j2)]
    return lines


def source_of(look: RunMoment, digest: Digest) -> str:
    """A theory's program; empty where the artifact is gone."""
    try:
        return look.trace.artifacts.get(digest).decode(errors="replace")
    except ArtifactMissingError:
        return ""


def theory(look: RunMoment, digest: Digest) -> dict[str, Any] | None:
    """One theory: claim, program, what was changed, how it did, what was said about it; None if there is none."""
    item = look.checked.get(digest)
    failed = [entry for entry in look.state.theories.failed if entry.record.theory == digest]
    if item is None and not failed:
        return None
    known = item or next(
        (entry for entry in look.records(TheoryChecked) if entry.record.theory == digest), None
    )
    if known is None:
        return None
    record, state = known.record, look.state
    scored = look.with_scores(theory=digest)
    scores = []
    for name in state.experiments.collected:
        score = scored.state.theories.scores.get((digest, name))
        if score is not None:
            units = score.record.frozen or score.record.left_out
            n = sum(units.n_choices)
            scores.append((name, score, sum(units.log_predictive) / n if n else math.nan))
    parameters = []
    if digest in state.theories.checked:
        for name, prior in look.theory(digest).priors.items():
            low, median, high = (
                figures3(value) for value in prior.quantile(np.array([0.05, 0.5, 0.95]))
            )
            parameters.append((name, prior, prior_words(prior), low, median, high))
    source = source_of(look, digest)
    return {
        "digest": digest,
        "item": known,
        "record": record,
        "mark": look.label(digest),
        "status": "failed" if failed else status_of(look, digest),
        "failed": failed,
        "admitted": state.theories.pool.get(digest),
        "origin": origin(record.author),
        "own": record.author == OWN,
        "parameters": parameters,
        "source": coloured(clean(source)),
        "parents": [
            (parent, difference(source_of(look, parent), source))
            for parent in dict.fromkeys(record.parents)
            if parent in look.checked and parent != digest
        ],
        "children": [
            name
            for name, other in look.checked.items()
            if digest in other.record.parents and name != digest
        ],
        "scores": scores,
        "scatter": theory_scatter(scored, digest, [name for name, _, _ in scores]),
        "option": scattered_option(look) if state.experiments.collected else "",
        "verdicts": [
            verdict_facts(entry.record, state.judging.resolved.get(key)) | {"digest": key}
            for key, entry in state.judging.verdicts.items()
            if digest in (entry.record.candidate, entry.record.incumbent)
        ],
        "decisions": [
            entry for entry in state.judging.decided.values() if entry.record.candidate == digest
        ],
        "diagnoses": [
            (place, entry.record)
            for place, entry in enumerate(state.theories.diagnoses)
            if digest in (entry.record.loser, entry.record.leader)
        ],
        "leader": digest == look.leader,
        "ancestor": digest in look.ancestry,
    }


def theory_scatter(look: RunMoment, digest: Digest, experiments: Sequence[str]) -> Markup:
    """Predicted and observed shares on all trials that were scored."""
    parts: list[tuple[Any, ...]] = []
    for name in experiments:
        record = look.state.theories.scores[digest, name].record
        try:
            trials = look.trials(name)
        except UNREADABLE:
            continue
        predicted = np.asarray(record.proportions).reshape(len(trials.stimuli), -1)
        for option in range(-predicted.shape[1], 0):
            shares = ChoiceShares.of(trials, option)
            first = np.full(len(predicted), record.frozen is not None)
            parts.append((predicted[:, option], shares.share, shares.low, shares.high, first))
    if not parts:
        return Markup("")
    x, y, low, high, first = (np.concatenate(column) for column in zip(*parts, strict=True))
    if len(x) > 1500:  # more points than a screen can tell apart
        keep = np.linspace(0, len(x) - 1, 1500).astype(int)
        x, y, low, high, first = (column[keep] for column in (x, y, low, high, first))
    return chart.scatter(x, y, low, high, first, scattered_option(look), chart.NARROW)


# --- leaderboard ----------------------------------------------------------------------------------------------------


def history(look: RunMoment) -> Markup:
    """Scores at the end of every cycle."""
    if not look.state.campaign.cycles:
        return Markup("")
    return look.watch.kept(
        ("history", len(look.state.campaign.cycles), look.leader), lambda: _history(look)
    )


def _history(look: RunMoment) -> Markup:
    cycles = [item.record for item in look.state.campaign.cycles]
    points: dict[Digest, list[tuple[int, float, float]]] = {}
    for record in cycles:
        for line in record.leaderboard:
            points.setdefault(line.theory, []).append(
                (record.cycle, line.score, 2 * line.standard_error)
            )
    leaders = list(dict.fromkeys([look.leader, *(record.leader for record in reversed(cycles))]))
    shown = [
        name
        for name in (look.leader, look.best_seed, *look.state.seeds, *leaders)
        if name in points
    ]
    shown = list(dict.fromkeys(shown))[:MOST_LINES]
    lines = [
        chart.ScoreLine(
            name=look.label(name).name,
            tag=look.label(name).tag,
            link=address(look.watch.name, "theory", name),
            points=tuple(points[name]),
            shown=name in shown,
        )
        for name in [*shown, *(name for name in points if name not in shown)]
    ]
    ceilings = {}
    for record in cycles:
        names = [name for name, item in look.state.experiments.designs.items()
                 if item.record.cycle <= record.cycle and name in look.state.experiments.collected]  # fmt: skip
        if (ceiling := mean_ceiling(look, names)) is not None:
            ceilings[record.cycle] = ceiling
    legend = Markup("").join(
        Markup(
            '<li class="s{}"><span class="swatch {}"></span><a href="{}"><b>{}</b> {}</a></li>'
        ).format(
            place % 5 + 1, chart.SHAPES[place % 4], line.link, line.tag, shortened(line.name, 60)
        )
        for place, line in enumerate(line for line in lines if line.shown)
    )
    return Markup('{}<ul class="legend">{}</ul>').format(
        chart.both(partial(chart.history, lines, ceilings)), legend
    )


def leaderboard(look: RunMoment, cycle: int | None) -> dict[str, Any]:
    """Standings at the end of a cycle, the last one by default."""
    closed = {item.record.cycle: item for item in look.state.campaign.cycles}
    number = cycle if cycle in closed else max(closed, default=None)
    return {"cycles": sorted(closed), "chosen": number, "closed": closed.get(number) if number is not None else None,
            "history": history(look), "completeness": look.state.theories.completeness}  # fmt: skip


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


def judges(look: RunMoment) -> dict[str, Any]:
    """Verdicts and how they came out, decisions, and how the panel changed."""
    state = look.state
    verdicts = [
        verdict_facts(item.record, state.judging.resolved.get(digest)) | {"digest": digest}
        for digest, item in state.judging.verdicts.items()
    ]
    settled = [item for item in verdicts if item["favoured"] is not None]
    probability = [item["verdict"].probability for item in settled]
    favoured = [bool(item["favoured"]) for item in settled]
    quality = calibration(probability, favoured) if settled else None
    points = [
        (part.probability, part.share, *part.interval, part.n)
        for part in (quality.curve if quality else ())
    ]
    return {
        "verdicts": list(reversed(verdicts)),
        "n_settled": len(settled),
        "quality": quality,
        "curve": chart.reliability(points, chart.NARROW) if points else "",
        "bias": lean(settled),
        "decisions": sorted(
            state.judging.decided.values(), key=lambda item: item.record.cycle, reverse=True
        ),
        "epochs": state.judging.epochs,
        "gates": list(reversed(state.seats.gates)),
        "seats": state.seats.held,
        "anchor": state.seats.anchors[-1].record if state.seats.anchors else None,
        "strategies": state.judging.strategies,
        "evolves": look.config.judges.panel,
        "n_judged": state.seats.n_measured,
    }


@dataclass(frozen=True)
class JudgeLean:
    """How far a judge's probabilities lie above what then happened, on average."""

    name: str
    n: int
    given: float
    happened: float
    standard_error: float

    @property
    def excess(self) -> float:
        """Positive where it promises too much."""
        return self.given - self.happened

    @property
    def told(self) -> bool:
        """Whether it is beyond two standard errors, of enough verdicts to say so."""
        return (
            self.n >= ENOUGH
            and math.isfinite(self.standard_error)
            and abs(self.excess) > 2 * self.standard_error
        )


def lean(settled: Sequence[Mapping[str, Any]]) -> list[JudgeLean]:
    """Calibration in the large, for the panel and for every judge, on verdicts that data have settled."""
    given: dict[str, list[tuple[float, float]]] = {}
    for item in settled:
        verdict: Verdict = item["verdict"]
        for name, value in {"the whole panel": verdict.probability, **verdict.opinions}.items():
            given.setdefault(name, []).append((value, float(item["favoured"])))
    found = []
    for name, pairs in given.items():
        table = np.array(pairs)
        excess = table[:, 0] - table[:, 1]
        error = (
            float(np.std(excess, ddof=1) / np.sqrt(len(excess))) if len(excess) > 1 else math.inf
        )
        found.append(
            JudgeLean(name, len(pairs), float(table[:, 0].mean()), float(table[:, 1].mean()), error)
        )
    return found


def epochs_part(look: RunMoment) -> dict[str, Any]:
    """Ends of judge epochs with what was erased; reads the whole journal, so that it comes after the page."""
    if not look.state.seats.committed:
        return {"ended": []}
    return {"ended": look.watch.kept(("epochs", look.seq), lambda: ended_epochs(look.trace))}


@dataclass(frozen=True)
class ToolUsed:
    """A learned tool and what became of it."""

    name: str
    draft: Any
    validated: Sequence[Any]
    withdrawn: Sequence[Any]
    uses: Sequence[tuple[Digest, PlanUsed]]
    standing: ToolStanding


def memory(look: RunMoment) -> dict[str, Any]:
    """Lessons, tools and their use in this run."""
    library: Library = look.library()
    look.journal_entries.learn(digest for digest, _ in library.entries)
    drafts = library.drafts()
    tools = [
        ToolUsed(
            name=name,
            draft=(digest, draft),
            validated=[item for _, item in library.all(ToolValidated) if item.name == name],
            withdrawn=[item for _, item in library.all(ToolWithdrawn) if item.name == name],
            uses=[(key, use) for key, use in library.all(PlanUsed) if use.tool == name],
            standing=library.standing(name, look.valid),
        )
        for name, (digest, draft) in drafts.items()
    ]
    lessons = [(digest, item) for digest, item in reversed(library.lessons())]
    return {
        "tools": tools,
        "refused": library.all(ToolRefused),
        "pitfalls": [(key, item) for key, item in lessons if isinstance(item, Pitfall)],
        "plans": [(key, item) for key, item in lessons if isinstance(item, Plan)],
        "others": [(key, item) for key, item in lessons if not isinstance(item, Pitfall | Plan)],
        "uses": list(reversed(library.all(PlanUsed))),
        "doubtful": library.doubtful(look.valid),
        "events": [
            line_of(look, row)
            for row in look.outline.rows(look.outline.seqs(*MEMORY_STEPS)[: -MOST_STEPS - 1 : -1])
        ],
        "taken": look.state.memory.taken,
        "recalled": list(reversed(look.records(LessonsRecalled)))[:MOST_STEPS],
        "inquiries": list(reversed(look.records(InquiryMade)))[:MOST_STEPS],
        "called": sorted(look.outline.counted("tool_called", "tool", "outcome")),
        "n_entries": len(library.entries),
    }


MEMORY_STEPS: Final = (*MEMORY_RECORDS, "investigated")
"""Kinds by which the loop says that it used what was learned."""
MOST_STEPS: Final = 60


# --- trace ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventLine:
    """An event in the timeline."""

    seq: int
    time_utc: str
    kind: str
    group: str
    name: str
    place: str
    text: str
    holds: bool
    digest: Digest


def place_of(position: str) -> str:
    """The position of a step in words."""
    try:
        value = json.loads(position)
    except ValueError:
        return ""
    return ", ".join(
        f"{key} {item[:6] if is_digest(item) else item}"
        for key, item in value.items()
        if key != "engine"
    )


def line_of(look: RunMoment, row: EventRow) -> EventLine:
    """An event in the timeline."""
    try:
        body = json.loads(row.body)
    except ValueError:
        body = {}
    return EventLine(
        row.seq, row.time_utc, row.kind, group_of(row.kind), row.name, place_of(row.position),
        summary(look, row.kind, body, row.name) or meaning(row.kind),
        row.kind == INTENT or look.valid(row.record_digest), row.record_digest,
    )  # fmt: skip


def trace(
    look: RunMoment, wanted: WantedEvents, before: int | None, calls_before: int | None
) -> dict[str, Any]:
    """The timeline, newest first, of what is looked for; texts of language models are searched too."""
    rows = look.outline.search(wanted, before or look.seq + 1, PAGE + 1)
    calls: CallsFound | None = None
    if wanted.text and wanted.kind in ("", "language_model_called"):
        calls = search_calls(look, wanted.text, calls_before)
    kinds = sorted(
        ((kind, len(seqs)) for kind, seqs in look.outline.by_kind.items()), key=lambda item: item[0]
    )
    return {
        "wanted": wanted,
        "lines": [line_of(look, row) for row in rows[:PAGE]],
        "older": rows[PAGE - 1].seq if len(rows) > PAGE else None,
        "newest": before is None,
        "kinds": [(kind, kind_words(kind), n) for kind, n in kinds],
        "cycles": sorted(
            {item.record.cycle for item in look.state.experiments.designs.values()} | {0}
        ),
        "calls": calls,
    }


def record(look: RunMoment, seq: int) -> dict[str, Any] | None:
    """One event with all it says, what it rests on and what rests on it; None if there is none."""
    row = look.outline.row(seq)
    if row is None:
        return None
    try:
        event = event_of(row)
        body: Any = event.body
        inputs: tuple[Digest, ...] = event.inputs
    except UNREADABLE:
        body, inputs = row.body, ()
    look.journal_entries.learn(inputs)
    broken = (
        look.watch.validity.explain(row.record_digest)
        if look.watch.validity and row.kind != INTENT
        else []
    )
    cited = look.outline.citing(row.record_digest) if row.kind != INTENT else []
    return {
        "row": row,
        "line": line_of(look, row),
        "meaning": meaning(row.kind),
        "body": tree_of(body, look.watch.name),
        "inputs": [(digest, look.journal.get(digest)) for digest in inputs],
        "cited": [(number, kind_words(kind), name) for number, kind, name in cited],
        "broken": broken,
        "call": conversation(look, body) if row.kind == "language_model_called" else None,
        "pages": pages_of(look, row.kind, body),
        "raw": json.dumps(body, indent=1, ensure_ascii=False)[:MOST_TEXT],
        "last": look.outline.head,
    }


def pages_of(look: RunMoment, kind: str, body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pages that show what a record is about: address and words."""
    if not isinstance(body, Mapping):
        return []
    found = []
    if kind == "diagnosis":
        numbers = [
            n
            for n, item in enumerate(look.state.theories.diagnoses)
            if item.record.model_dump(mode="json") == body
        ]
        found += [
            (address(look.watch.name, "diagnosis", number), "case file") for number in numbers[:1]
        ]
    for part in ("theory", "candidate", "loser", "leader", "winner"):
        digest = body.get(part)
        if isinstance(digest, str) and digest in look.checked:
            found.append(
                (address(look.watch.name, "theory", digest), f"{part}: {look.label(digest).short}")
            )
    name = body.get("experiment")
    if isinstance(name, str) and name in look.state.experiments.designs:
        found.append((address(look.watch.name, "experiment", name), f"experiment {name}"))
    return found


def conversation(look: RunMoment, body: Mapping[str, Any]) -> dict[str, Any]:
    """What a language model was sent and what it answered."""
    found: dict[str, Any] = {"messages": [], "answer": None, "missing": []}
    for part in ("request", "completion"):
        try:
            value = look.trace.artifacts.get_json(str(body.get(part)))
        except UNREADABLE as error:
            found["missing"].append(str(error))
            continue
        if part == "request":
            found["messages"] = value.get("messages", []) if isinstance(value, dict) else []
        else:
            found["answer"] = value
    return found


def artifact(look: RunMoment, digest: Digest) -> dict[str, Any] | None:
    """What an artifact holds; None if there is none."""
    if not look.trace.artifacts.has(digest):
        return None
    store = look.trace.artifacts
    data = store.get(digest)
    facts: dict[str, Any] = {"digest": digest, "size": len(data), "content": "", "form": "bytes",
                             "cited": look.outline.citing(digest), "cut": False}  # fmt: skip
    try:
        arrays = store.get_arrays(digest)
    except UNREADABLE:
        arrays = None
    if arrays is not None:
        facts["form"] = "arrays"
        facts["arrays"] = [
            (name, str(array.dtype), " × ".join(map(str, array.shape)) or "one value",
             np.array2string(array, threshold=60, edgeitems=3, precision=4)[:600])
            for name, array in sorted(arrays.items())
        ]  # fmt: skip
        return facts
    text = data.decode(errors="replace")
    facts["cut"] = len(text) > MOST_TEXT
    try:
        if facts["cut"]:
            raise ValueError("too long to be read as a whole")
        facts |= {"content": tree_of(json.loads(text), look.watch.name), "form": "JSON"}
    except ValueError:
        text = text[:MOST_TEXT]
        known = digest in look.checked
        facts |= {"content": Markup('<pre tabindex="0"><code>{}</code></pre>').format(coloured(clean(text)))
                  if known else long_text(text), "form": "text"}  # fmt: skip
    return facts


# --- cost and time --------------------------------------------------------------------------------------------------


def seconds(first: str, last: str) -> float | None:
    """Seconds between two moments; None if one of them is no time."""
    try:
        return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    except ValueError:
        return None


def duration(value: float | None) -> str:
    """A length of time for people."""
    if value is None:
        return "–"
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < 120:
        return f"{value:.1f} s"
    if value < 7200:
        return f"{value / 60:.1f} min"
    return f"{value / 3600:.1f} h" if value < 172_800 else f"{value / 86_400:.1f} days"


def cost(look: RunMoment) -> dict[str, Any]:
    """What was spent, at once where that is soon found."""
    return (
        {"total": None}
        | (cost_part(look) if look.n_events <= SOON else {})
        | {"soon": look.n_events <= SOON}
    )


def cost_part(look: RunMoment) -> dict[str, Any]:
    """What was spent: time by step, tokens by role, money, people."""
    return look.watch.kept(("cost", look.seq), lambda: _cost(look))


def _cost(look: RunMoment) -> dict[str, Any]:
    steps = [
        tuple(row)
        for row in look.outline.read(
            # From the last beginning of a step to its result; notes of a step are intents of the same attempt.
            "SELECT r.name, count(*), sum(86400 * (julianday(r.time_utc) - julianday(i.time_utc))), "
            "max(86400 * (julianday(r.time_utc) - julianday(i.time_utc))) FROM event r JOIN "
            "(SELECT key, attempt, min(time_utc) AS time_utc FROM event WHERE kind = 'intent' GROUP BY key, attempt) i "
            "ON i.key = r.key AND i.attempt = r.attempt WHERE r.kind <> 'intent' GROUP BY r.name ORDER BY 3 DESC"
        )
    ]
    calls = [
        tuple(row)
        for row in look.outline.read(
            "SELECT json_extract(body, '$.role'), json_extract(body, '$.model'), count(*), "
            "sum(json_extract(body, '$.n_prompt_tokens')), sum(json_extract(body, '$.n_completion_tokens')), "
            "sum(json_extract(body, '$.outcome') <> 'answered') FROM event WHERE kind = 'language_model_called' "
            "GROUP BY 1, 2 ORDER BY 3 DESC"
        )
    ]
    paid = look.outline.read(
        "SELECT seq FROM event WHERE key IN (SELECT key FROM event WHERE kind = 'intent' AND "
        "(instr(body, '\"reserved\"') OR instr(body, '\"spent\"'))) ORDER BY seq"
    )
    spent = spending_of(event_of(row) for row in look.outline.rows([seq for (seq,) in paid])).total
    repeated = look.outline.read(
        "SELECT name, count(*) FROM event WHERE kind <> 'intent' AND attempt > 1 GROUP BY name ORDER BY 2 DESC"
    )
    cycles = []
    before = look.times[0]
    for item in look.state.campaign.cycles:
        entry = look.journal[item.digest]
        cycles.append((item.record.cycle, seconds(before, entry.time_utc), entry.time_utc))
        before = entry.time_utc
    total = seconds(*look.times)
    rows = [(STEPS.get(name, name.replace("_", " ")), max(time or 0.0, 0.0), f"{duration(time)}, {n} ×")
            for name, n, time, _ in steps[:14]]  # fmt: skip
    people = Counter(
        {
            str(status).replace("_", " "): n
            for status, n in look.outline.counted("answers_arrived", "status")
        }
    )
    admitted = len(look.state.theories.pool) - len(look.state.seeds)
    return {
        "total": total,
        "steps": [(STEPS.get(name, name), name, n, time, most) for name, n, time, most in steps],
        "time_chart": chart.both(partial(chart.bars, rows, "seconds")) if rows else "",
        "calls": calls,
        "spent": spent,
        "budget": look.config.budget.model_dump(),
        "repeated": repeated,
        "cycles": cycles,
        "people": people,
        "n_responses": sum(
            item.record.n_responses for item in look.state.experiments.collected.values()
        ),
        "n_admitted": max(admitted, 0),
        "design_cost": sum(
            item.record.cost
            for name, item in look.state.experiments.designs.items()
            if name in look.state.experiments.collected
        ),
    }

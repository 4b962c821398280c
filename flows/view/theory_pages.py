"""Pages of the observatory about theories: the family, each of them, and where they stand."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from lakatos.flows.report.family_tree import origin, status_of
from lakatos.flows.report.judging_facts import verdict_facts
from lakatos.flows.report.reader import (
    ChoiceShares,
    clean,
    mean_ceiling,
    scattered_option,
    shortened,
)
from lakatos.flows.report.report import coloured, figures3, prior_words
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study_sections import OWN
from lakatos.flows.view import chart
from lakatos.flows.view.watch import UNREADABLE, RunMoment
from lakatos.flows.view.words import address
from lakatos.theories.record import TheoryChecked
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactMissingError

MOST_LINES: Final = 5
"""Theories with a colour of their own in the chart of the leaderboard."""


def shortened_source(look: RunMoment) -> Markup:
    """The leader as a program."""
    if look.leader is None or look.leader not in look.state.theories.checked:
        return Markup("")
    return coloured(clean(look.theory(look.leader).program.source))


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
    scores = list(_scores_of(scored, digest))
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
        "parameters": list(_parameters_of(look, digest)),
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
        "leader": digest == look.leader,
        "ancestor": digest in look.ancestry,
        **_said_about(state, digest),
    }


def _scores_of(scored: RunMoment, digest: Digest) -> Iterator[tuple[str, Any, float]]:
    """Experiments on which a theory has a score, with its mean for each choice."""
    for name in scored.state.experiments.collected:
        score = scored.state.theories.scores.get((digest, name))
        if score is not None:
            units = score.record.frozen or score.record.left_out
            n = sum(units.n_choices)
            yield name, score, sum(units.log_predictive) / n if n else math.nan


def _parameters_of(look: RunMoment, digest: Digest) -> Iterator[tuple[Any, ...]]:
    """Parameters of a theory that passed its checks, with where nine of ten people lie."""
    if digest not in look.state.theories.checked:
        return
    for name, prior in look.theory(digest).priors.items():
        quantiles = prior.quantile(np.array([0.05, 0.5, 0.95]))
        low, median, high = (figures3(value) for value in quantiles)
        yield name, prior, prior_words(prior), low, median, high


def _said_about(state: RunState, digest: Digest) -> dict[str, Any]:
    """Verdicts, decisions and diagnoses that speak of a theory."""
    judging = state.judging
    return {
        "verdicts": [
            verdict_facts(entry.record, judging.resolved.get(key)) | {"digest": key}
            for key, entry in judging.verdicts.items()
            if digest in (entry.record.candidate, entry.record.incumbent)
        ],
        "decisions": [
            entry for entry in judging.decided.values() if entry.record.candidate == digest
        ],
        "diagnoses": [
            (place, entry.record)
            for place, entry in enumerate(state.theories.diagnoses)
            if digest in (entry.record.loser, entry.record.leader)
        ],
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

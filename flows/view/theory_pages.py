"""Pages of the observatory about theories: the family, each of them, and where they stand."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from lakatos.flows.report.family_tree import family_tree, origin
from lakatos.flows.report.figures import score_history, theory_map, theory_scatter
from lakatos.flows.report.judging_facts import verdict_rows
from lakatos.flows.report.reader import clean, scattered_option
from lakatos.flows.report.theory_facts import (
    coloured,
    n_behind_populations,
    parameter_rows,
    program_of,
)
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study_sections import OWN
from lakatos.flows.view.watch import RunMoment
from lakatos.theories.engine.record import TheoryChecked
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactMissingError


def shortened_source(look: RunMoment) -> Markup:
    """The leader as a program."""
    if look.leader is None or look.leader not in look.state.theories.checked:
        return Markup("")
    return program_of(look, look.leader)


def theories(look: RunMoment) -> dict[str, Any]:
    """Values of the page of theories: the family tree and the map."""
    return {
        "family": family_tree(look),
        "map": theory_map(look),
        "mapped": look.state.campaign.map.record if look.state.campaign.map else None,
    }


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
    source, passed = source_of(look, digest), digest in state.theories.checked
    claim = look.theory(digest).claim if passed else record.claim  # as the verdict tells it
    return {
        "digest": digest,
        "item": known,
        "record": record,
        "claim": claim,
        "checked_claim": record.claim if record.claim.lower() != claim.lower() else "",
        "mark": look.label(digest),
        "status": "failed" if failed else look.fate(digest),
        "failed": failed,
        "admitted": state.theories.pool.get(digest),
        "origin": origin(record.author),
        "own": record.author == OWN,
        "parameters": list(parameter_rows(look.theory(digest), n_behind_populations(look)))
        if passed
        else [],
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
        "scatter": theory_scatter(scored, digest),
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


def _said_about(state: RunState, digest: Digest) -> dict[str, Any]:
    """Verdicts, decisions and diagnoses that speak of a theory."""
    judging = state.judging
    return {
        "verdicts": [
            row
            for row in verdict_rows(state)
            if digest in (row.verdict.candidate, row.verdict.incumbent)
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


# --- leaderboard ----------------------------------------------------------------------------------------------------


def history(look: RunMoment) -> Markup:
    """Scores at the end of every cycle."""
    key = ("history", len(look.state.campaign.cycles), look.leader)
    return look.watch.kept(key, lambda: score_history(look))


def leaderboard(look: RunMoment, cycle: int | None) -> dict[str, Any]:
    """Standings at the end of a cycle, the last one by default."""
    closed = {item.record.cycle: item for item in look.state.campaign.cycles}
    number = cycle if cycle in closed else max(closed, default=None)
    return {"cycles": sorted(closed), "chosen": number, "closed": closed.get(number) if number is not None else None,
            "history": history(look), "completeness": look.state.theories.completeness}  # fmt: skip

"""The report of a run: one HTML file that a reader who knows nothing of the laboratory can follow and check.

It is read from the trace alone, also while the run goes on, and the same trace gives the same bytes. Everything that
theories, studies, data and errors say is escaped by the template; only a domain's own pictures of its trials are not.
The page carries no scripts and a policy that forbids them. `lakatos.flows.report.reader` reads the run,
`lakatos.flows.report.figures` draws, and `lakatos.flows.report.limits` says what the result does not show.
"""

from __future__ import annotations

import io
import keyword
import shlex
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from lakatos.experiments.record import PairPower
from lakatos.experiments.task import Design, Trials
from lakatos.flows.report.by_experiment import leader_by_experiment
from lakatos.flows.report.family_tree import family_tree, origin
from lakatos.flows.report.figures import ReportFigures
from lakatos.flows.report.judging_facts import (
    COIN,
    FEW_VERDICTS,
    error_facts,
    judging_facts,
    verdict_facts,
)
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import (
    ChoiceShares,
    RunReading,
    clean,
    last_option,
    mean_ceiling,
    open_pairs,
    run_scores,
    scattered_option,
)
from lakatos.flows.report.templating import TEMPLATES, page_environment
from lakatos.flows.report.utterances import utterance_facts
from lakatos.flows.run.run import read_state
from lakatos.flows.run.source import archive_reader, hidden_theory
from lakatos.flows.run.state import RunState
from lakatos.theories.account import at_limit
from lakatos.theories.prior import Prior
from lakatos.theories.record import EffectsLearned, GroupsCompared
from lakatos.theories.scoreboard import prequential_advantage
from lakatos.theories.scoring.score import UNKNOWN, ScoreEstimate, is_tie
from lakatos.theories.verdicts.conclude import in_new_names
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest
from lakatos.traces.verify import verify

Array = NDArray[np.float64]
REPORT_FILE = "report.html"
FIRST_PICTURES = 6
"""Trials of an experiment that are shown at once; the rest unfold."""
MOST_PICTURES = 60
"""Trials of an experiment that are drawn; the rest are described in a line each."""


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write what a run found, how, and how to check it, as one self-contained HTML file.

    Args:
        folder: Of the run, which may still be going on.
        out: File to write; ``report.html`` in the run's folder when None.

    Raises:
        RunMissingError: There is no run.
        TraceError: The trace is damaged, or the file cannot be written.
    """
    folder = Path(folder)
    place = folder / REPORT_FILE if out is None else Path(out)
    state, trace = read_state(folder)
    with trace:
        page = render(RunReading(folder, state, trace))
    write_whole(place, page.encode(), private=True)
    return place


# --- what the template is given -------------------------------------------------------------------------------------


def render(reading: RunReading) -> str:
    """Write the whole report of a run as one HTML page."""
    environment = page_environment(TEMPLATES)
    environment.filters |= {
        "signed": signed,
        "fixed": fixed,
        "interval": interval,
        "day": lambda time: time.replace("T", " ")[:16] + " UTC" if time else "–",
        "plural": plural,
    }
    environment.globals |= {
        "label": reading.label,
        "cite": lambda digest: reading.journal.get(digest),
        "percent_more": percent_more,
        "unknown": UNKNOWN,
        "first_pictures": FIRST_PICTURES,
        "few": FEW_VERDICTS,
        "COIN": COIN,
    }
    figures = ReportFigures()
    company = (
        reading.state.theories.completeness.record if reading.state.theories.completeness else None
    )
    context = {
        "run": reading,
        "state": reading.state,
        "config": reading.config,
        "concluded": reading.concluded,
        "board": reading.board,
        "data": data_facts(reading),
        "winner": winner_facts(reading, figures),
        "tree": family_tree(reading),
        "history": figures.history(reading) if reading.state.campaign.cycles else "",
        "map": figures.map(reading),
        "mapped": reading.state.campaign.map.record if reading.state.campaign.map else None,
        "ceiling": mean_ceiling(reading, list(reading.state.experiments.collected)),
        "by_experiment": leader_by_experiment(reading),
        "company": company,
        "groups": _groups(reading.state),
        "effects": _effects(reading.state),
        "complete": {line.theory: line for line in company.theories} if company else {},
        "experiments": [
            experiment_facts(reading, figures, name) for name in reading.state.experiments.designs
        ],
        "failures": failure_facts(reading),
        "errors": error_facts(reading, figures),
        "check": check_facts(reading),
        "judging": judging_facts(reading, figures),
        "models": utterance_facts(reading),
        "limits": limits(reading),
        "style": Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
    }
    return environment.get_template("report.html").render(context)


def _groups(state: RunState) -> GroupsCompared | None:
    """The comparison of groups, told in the names that theories have since."""
    if state.theories.groups is None:
        return None
    found = state.theories.groups.record
    return found.model_copy(update={"text": in_new_names(state.theories, found.text)})


def _effects(state: RunState) -> EffectsLearned | None:
    """Effects of what is known of people, told in the names that theories have since."""
    if state.theories.effects is None:
        return None
    found = state.theories.effects.record
    return found.model_copy(update={"text": in_new_names(state.theories, found.text)})


def fixed(value: float | None, digits: int = 4) -> str:
    """A number with a real minus sign; a dash where there is none."""
    return (
        "–" if value is None or not np.isfinite(value) else f"{value:.{digits}f}".replace("-", "−")
    )


def signed(value: float | None, digits: int = 4) -> str:
    """A number as `fixed` writes it, always with its sign."""
    return (
        "–" if value is None or not np.isfinite(value) else f"{value:+.{digits}f}".replace("-", "−")
    )


def figures3(value: float) -> str:
    """Three significant figures, with a real minus sign."""
    return f"{value:.3g}".replace("-", "−")


def interval(value: float | None, standard_error: float | None, digits: int = 4) -> str:
    """Two standard errors to each side, in words where there is no finite one."""
    if value is None or standard_error is None or standard_error >= UNKNOWN:
        return "interval unknown"
    low, high = ScoreEstimate(value, standard_error).interval
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def plural(count: int, word: str) -> str:
    """A count with its noun."""
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word if count == 1 else many}"


def percent_more(nats: float) -> str:
    """Nats per choice as a change of the probability given to the choices that people made."""
    change = 100 * np.expm1(nats)
    return f"{abs(change):.1f} % {'more' if change >= 0 else 'less'}"


def data_facts(reading: RunReading) -> dict[str, Any]:
    """Say whose choices the run rests on: people, answers, sources."""
    collected = [item.record for item in reading.state.experiments.collected.values()]
    facts: dict[str, Any] = {
        "n_experiments": len(collected),
        "n_responses": sum(item.n_responses for item in collected),
        "people": sorted({item.n_people or item.n_participants for item in collected}),
        "pooled": any(item.pooled for item in collected),
        "archive": None,
        "hidden": "",
        "guess": guess(
            sorted({reading.trials(name).n_options for name in reading.state.experiments.collected})
        ),
    }
    people = reading.config.participants
    if reading.simulated:
        changed = [
            f"{slot} replaced by {' and '.join(names)}" for slot, names in people.mechanisms.items()
        ]
        facts["hidden"] = "; ".join([people.theory or hidden_theory(reading.config).name, *changed])
    else:
        facts["archive"] = archive_reader(reading.config)
    return facts


def guess(numbers: Sequence[int]) -> str:
    """What somebody without an idea scores, for experiments with these numbers of options."""
    known = [
        f"a guess among {n} options gets {fixed(-float(np.log(n)), 3)}" for n in numbers if n != 2
    ]
    return " and ".join([f"a coin gets {fixed(COIN, 3)}"] * (2 in numbers or not numbers) + known)


def winner_facts(reading: RunReading, figures: ReportFigures) -> dict[str, Any] | None:
    """The leading theory: parameters, source, and its predictions beside the choices."""
    if reading.leader is None:
        return None
    theory = reading.theory(reading.leader)
    parameters = []
    for name, prior in theory.priors.items():
        low, median, high = (
            figures3(value) for value in prior.quantile(np.array([0.05, 0.5, 0.95]))
        )
        parameters.append(
            {
                "name": name,
                "prior": prior,
                "words": prior_words(prior, pooled=theory.pooled),
                "low": low,
                "median": median,
                "high": high,
            }
        )
    known = reading.state.theories.checked[reading.leader].record
    return {
        "digest": reading.leader,
        "theory": theory,
        "known": known,
        "origin": origin(known.author),
        "parameters": parameters,
        "source": coloured(clean(theory.program.source)),
        "code_name": " + ".join(
            name for names in (theory.composition or {}).values() for name in names
        ),
        "shown": _tried_clauses(reading),
        "details": [
            item.text
            for item in theory.account().clauses
            if item.is_detail and not item.idle and item.text not in theory.claim
        ],
        "example": example_trial(reading, reading.leader),
        "scatter": figures.scatter(reading, reading.leader),
        "option": scattered_option(reading),
        "standing": next(
            (line for line in reading.board.standings if line.theory == reading.leader), None
        ),
    }


def _tried_clauses(reading: RunReading) -> list[str]:
    """What trying the leader's clauses found at the verdict; before it nothing."""
    told = reading.state.theories.told
    if told is None or told.record.leader != reading.leader:
        return []
    return [text.removeprefix("the claim says: ") for text in told.record.tried]


def example_trial(reading: RunReading, leader: Digest) -> dict[str, Any] | None:
    """The trial that speaks most for the leader against the best first rival; None without one that was asked.

    That is where the rival is further from what people chose than the leader by the most.
    """
    rival = reading.best_seed
    found: list[tuple[float, str, int, Array, Array, Array]] = []
    for name in reading.state.experiments.collected:
        scores = [
            reading.state.theories.scores.get((theory, name))
            for theory in (leader, rival)
            if theory is not None
        ]
        if len(scores) < 2 or None in scores:
            continue
        trials = reading.trials(name)
        own, other = (
            np.asarray(item.record.proportions).reshape(len(trials.stimuli), -1)
            for item in scores
            if item
        )
        gain = np.abs(other - trials.proportions)[:, -1] - np.abs(own - trials.proportions)[:, -1]
        row = int(np.nanargmax(gain))
        found.append((float(gain[row]), name, row, own[row], other[row], trials.proportions[row]))
    if not found or rival is None:
        return None
    _, name, row, own, other, seen = max(found, key=lambda item: item[0])
    stimuli = reading.trials(name).stimuli
    return {
        "experiment": name,
        "picture": Markup(reading.domain.picture(stimuli, row)),
        "words": reading.domain.describe(stimuli, row),
        "option": last_option(reading.domain, reading.trials(name).n_options),
        "predicted": f"{own[-1]:.0%}",
        "rival": rival,
        "by_rival": f"{other[-1]:.0%}",
        "people": f"{seen[-1]:.0%}",
        "rival_claim": reading.theory(rival).claim.split(". ")[0].rstrip("."),
    }


def prior_words(prior: Prior, *, pooled: bool = False) -> str:
    """A population in words: what two thirds of people have, or what is open about a value that all share."""
    if prior.idle:
        return "nothing was learned: no trial that was asked depends on it"
    if prior.kind in ("uniform", "log_uniform"):
        return f"declared: anywhere from {figures3(prior.low)} to {figures3(prior.high)}"
    low, middle, high = (figures3(value) for value in prior.quantile(np.array([1 / 6, 0.5, 5 / 6])))
    limit = "; the centre lies at the limit of the range" if at_limit(prior) else ""
    if pooled:
        return f"about {middle} for all people; two thirds of what is open lies from {low} to {high}{limit}"
    return f"about two thirds of people from {low} to {high}{limit}"


def coloured(source: str) -> Markup:
    """Python source with keywords, strings, numbers and comments marked; plain where it cannot be read."""
    starts = np.cumsum([0, *(len(line) + 1 for line in source.split("\n"))])
    parts, done = [], 0
    classes = {tokenize.STRING: "str", tokenize.NUMBER: "num", tokenize.COMMENT: "com"}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = classes.get(token.type, "")
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "kw"
            if kind:
                begin = int(starts[token.start[0] - 1]) + token.start[1]
                end = int(starts[token.end[0] - 1]) + token.end[1]
                parts += [
                    escape(source[done:begin]),
                    Markup('<span class="{}">{}</span>').format(kind, source[begin:end]),
                ]
                done = end
    except (tokenize.TokenError, SyntaxError):
        return escape(source)
    return Markup("").join([*parts, escape(source[done:])])


# --- experiments ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairFound:
    """What a design promised for a pair of rivals and what came of it."""

    promised: PairPower
    difference: ScoreEstimate | None
    """First minus second on this experiment, by frozen predictions, nats per choice."""

    @property
    def told_apart(self) -> bool:
        """Whether the experiment alone decided between the two."""
        return self.difference is not None and not is_tie(self.difference)


def experiment_facts(reading: RunReading, figures: ReportFigures, name: str) -> dict[str, Any]:
    """One experiment: choice of trials, preregistration, answers, and what they decided."""
    chosen = reading.state.experiments.designs[name].record
    plan = reading.state.experiments.preregistrations.get(name)
    collected = reading.state.experiments.collected.get(name)
    facts: dict[str, Any] = {
        "name": name,
        "chosen": chosen,
        "plan": plan,
        "collected": collected,
        "pairs": [],
        "figure": "",
        "n_shown": 0,
        "pictures": [],
        "lines": [],
        "domain": reading.config.domain,
        "people": people_facts(reading, name),
    }
    if not chosen.accepted:
        return facts
    design = reading.design(chosen)
    facts["option"] = last_option(reading.domain, reading.domain.n_options(design.stimuli))
    order = most_informative(design)
    shares = predictions = None
    if plan is not None:
        frozen = reading.frozen(name)
        predictions = {rival: frozen[rival] for rival in chosen.rivals if rival in frozen}
    if collected is not None:
        shares = aligned(reading.trials(name), design)
        facts["pairs"] = [PairFound(pair, achieved(reading, pair, name)) for pair in chosen.powers]
        if predictions:
            found = figures.experiment(reading, name, shares, predictions, facts["option"])
            facts["figure"], facts["n_shown"] = found
    else:
        facts["pairs"] = [PairFound(pair, None) for pair in chosen.powers]
    for place, row in enumerate(order):
        caption = trial_caption(reading, row, design, shares, predictions)
        if place < MOST_PICTURES:
            facts["pictures"].append((Markup(reading.domain.picture(design.stimuli, row)), caption))
        else:
            facts["lines"].append((reading.domain.describe(design.stimuli, row), caption))
    return facts


def people_facts(reading: RunReading, name: str) -> dict[str, Any] | None:
    """Who took part, who was excluded by which rule, who withdrew; None where people do not answer one by one."""
    arrived = reading.state.experiments.answers.get(name, ())
    withdrawn = len(set(reading.state.experiments.withdrawn.get(name, ())))
    if not arrived and not withdrawn:
        return None
    there = {item.digest for item in arrived}
    broken = [
        item.record for item in reading.state.experiments.excluded if item.record.answers in there
    ]
    closed = reading.state.experiments.closed.get(name)
    return {
        "statuses": Counter(item.record.status.replace("_", " ") for item in arrived),
        "n_excluded": len({record.answers for record in broken}),
        "rules": Counter(record.words for record in broken),
        "withdrawn": withdrawn,
        "closed": closed.record if closed else None,
    }


def aligned(trials: Trials, design: Design) -> ChoiceShares:
    """People's shares in the order of the design's trials, by content where a source returned them otherwise."""
    shares = ChoiceShares.of(trials)
    if trials.stimuli.keys == design.stimuli.keys:
        return shares
    place = {key: row for row, key in enumerate(trials.stimuli.keys)}
    rows = [place.get(key) for key in design.stimuli.keys]
    return ChoiceShares(
        *(
            np.array([np.nan if row is None else values[row] for row in rows])
            for values in (shares.share, shares.low, shares.high)
        )
    )


def most_informative(design: Design) -> list[int]:
    """Trials by the information for which they were chosen, then the random ones."""
    known = design.information or (float("nan"),) * len(design.stimuli)
    return sorted(
        range(len(design.stimuli)),
        key=lambda row: (np.isnan(known[row]), -np.nan_to_num(known[row]), row),
    )


def achieved(reading: RunReading, pair: PairPower, experiment: str) -> ScoreEstimate | None:
    """First minus second on one experiment, by the predictions that were frozen before it."""
    found = prequential_advantage(pair.first, pair.second, [experiment], run_scores(reading))
    return found[0] if found else None


def trial_caption(
    reading: RunReading,
    row: int,
    design: Design,
    shares: ChoiceShares | None,
    predictions: Mapping[Digest, Array] | None,
) -> dict[str, Any]:
    """What stands below the picture of a trial."""
    information = design.information[row] if design.information else float("nan")
    return {
        "number": row + 1,
        "random": row in design.random_coverage,
        "information": None if np.isnan(information) else information,
        "people": None
        if shares is None or np.isnan(shares.share[row])
        else f"{shares.share[row]:.0%} ({shares.low[row]:.0%} to {shares.high[row]:.0%})",
        "predicted": [
            (reading.label(rival), f"{values[0][row]:.0%}")
            for rival, values in (predictions or {}).items()
        ],
    }


# --- failures, errors, checks ---------------------------------------------------------------------------------------


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
    verdicts = [
        verdict_facts(item.record, state.judging.resolved.get(digest))
        for digest, item in state.judging.verdicts.items()
    ]
    settled = [item["log_score"] for item in verdicts if item["log_score"] is not None]
    mean = float(np.mean(settled)) if settled else None
    spread = float(np.std(settled, ddof=1) / np.sqrt(len(settled))) if len(settled) > 1 else None
    return {
        "open_pairs": [
            {"pair": pair, "difference": difference} for pair, difference in open_pairs(reading)
        ],
        "n_tried": n_tried,
        "attempt_errors": errors.most_common(5),
        "n_attempt_errors": errors.total(),
        "refused_designs": [
            item.record for item in state.experiments.designs.values() if not item.record.accepted
        ],
        "verdicts": verdicts,
        "n_settled": len(settled),
        "overturned": [item for item in verdicts if item["overturned"]],
        "mean_log_score": mean,
        "mean_log_score_error": spread,
        "pitfalls": [pitfall for _, pitfall in state.memory.library.pitfalls],
    }


def check_facts(reading: RunReading) -> dict[str, Any]:
    """How far the trace can be trusted, and how to see for oneself."""
    seq, head = reading.trace.journal.head
    place = shlex.quote(str(reading.folder))
    return {
        "head": head,
        "seq": seq,
        "n_records": len(reading.journal),
        "kinds": sorted(Counter(entry.kind for entry in reading.journal.values()).items()),
        "report": verify(reading.trace),
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

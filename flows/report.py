"""The report of a run: one HTML file that a reader who knows nothing of the laboratory can follow and check.

It is read from the trace alone, also while the run goes on, and the same trace gives the same bytes. Everything that
theories, studies, data and errors say is escaped by the template; only a domain's own pictures of its trials are not.
The page carries no scripts and a policy that forbids them.
"""

from __future__ import annotations

import io
import keyword
import re
import shlex
import textwrap
import tokenize
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.archives import ARCHIVES
from experiments.design import design_from_json
from experiments.domains import DOMAINS
from experiments.record import DesignChosen, PairPower
from experiments.task import Design, Domain, Trials
from flows.config import CampaignConfig
from flows.record import Concluded
from flows.run import read_state, trials_in
from flows.state import RunState
from judges.judge import Verdict, VerdictResolved
from theories.prior import Prior
from theories.record import TheoryChecked
from theories.score import Estimate, is_tie
from theories.scoreboard import Scoreboard, prequential_advantage
from theories.theory import Theory, TheoryProgram, read_program
from traces.artifact import write_whole
from traces.digest import Digest
from traces.journal import INTENT
from traces.step import Recorded, Trace
from traces.verify import verify

Array = NDArray[np.float64]
REPORT_FILE = "report.html"
TEMPLATES = Path(__file__).parent / "templates"
FIRST_PICTURES = 6
"""Trials of an experiment that are shown at once; the rest unfold."""
MOST_PICTURES = 60
"""Trials of an experiment that are drawn; the rest are described in a line each."""
MOST_ROWS = 40
"""Trials in the figure of an experiment: those on which the rivals differ most."""
MOST_SERIES = 4
"""Rivals in the figure of an experiment."""
MOST_NODES = 60
"""Theories in the family tree before those that were neither admitted nor ancestors are left out."""
FEW = 30
"""Trials or people below which the report calls them few."""
COIN = float(np.log(0.5))


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
        page = render(Reading(folder, state, trace))
    write_whole(place, page.encode())
    return place


@dataclass(frozen=True)
class Entry:
    """Where a record stands in the journal."""

    seq: int
    kind: str
    time_utc: str


@dataclass(frozen=True)
class Label:
    """How the report calls a theory."""

    tag: str
    """``T`` and a number in order of arrival; ``R`` for refused ones."""
    name: str

    @property
    def brief(self) -> str:
        """The name where there is little room."""
        return shortened(self.name, 40)

    @property
    def short(self) -> str:
        """Tag and name for figures."""
        return shortened(f"{self.tag} {self.name}", 30)


class Reading:
    """A run as the report needs it."""

    def __init__(self, folder: Path, state: RunState, trace: Trace) -> None:
        self.folder, self.state, self.trace = folder, state, trace
        self.config: CampaignConfig = state.config or CampaignConfig.model_validate(trace.journal.meta["study"])
        self.domain: Domain = DOMAINS[self.config.domain]
        self.journal: dict[Digest, Entry] = {}
        self.n_events, self.times = 0, ("", "")
        for event in trace.journal.events():
            self.n_events, self.times = event.seq, (self.times[0] or event.time_utc, event.time_utc)
            if event.kind != INTENT:
                self.journal.setdefault(event.record_digest, Entry(event.seq, event.kind, event.time_utc))

    @property
    def concluded(self) -> Concluded | None:
        """The verdict, once there is one."""
        return self.state.concluded.record if self.state.concluded else None

    @cached_property
    def board(self) -> Scoreboard:
        """All rivals on all experiments."""
        return self.state.board()

    @property
    def exploratory(self) -> bool:
        """Whether the verdict rests on data that the winner was made from, however clear it is."""
        return self.concluded is not None and self.concluded.basis.startswith("all data")

    @property
    def leader(self) -> Digest | None:
        """The winner, or who leads so far."""
        if self.concluded is not None:
            return self.concluded.leader
        return self.board.leader.theory if self.board.standings else None

    @property
    def simulated(self) -> bool:
        """Whether a computer answered instead of people."""
        return self.config.participants.source == "simulated"

    @property
    def best_seed(self) -> Digest | None:
        """The published theory that stands highest, the leader aside."""
        seeds = set(self.state.seeds) - {self.leader}
        return next((line.theory for line in self.board.standings if line.theory in seeds), None)

    @cached_property
    def checked(self) -> dict[Digest, Recorded[TheoryChecked]]:
        """Every theory that was checked, refused ones too, in the order of the journal."""
        items = [*self.state.refused, *self.state.theories.values()]
        items.sort(key=lambda item: self.journal[item.digest].seq)
        return {item.record.theory: item for item in items}

    @cached_property
    def labels(self) -> dict[Digest, Label]:
        """Names and tags of all theories."""
        numbers = Counter[str]()
        found = {}
        for digest, item in self.checked.items():
            letter = "T" if digest in self.state.theories else "R"
            numbers[letter] += 1
            found[digest] = Label(f"{letter}{numbers[letter]}", " ".join(item.record.name.split()))
        return found

    def label(self, theory: Digest) -> Label:
        """Name and tag of a theory, its digest where it has none."""
        return self.labels.get(theory, Label("–", f"theory {theory[:8]}"))

    def marked(self, text: str, theories: Iterable[Digest]) -> str:
        """A record's text with the names of ``theories`` replaced by their tags where they are long."""
        for digest in theories:
            label = self.label(digest)
            if len(label.name) > len(label.brief):
                text = text.replace(f"{label.name} ({digest[:6]})", label.tag)
        for digest in theories:
            label = self.label(digest)
            if len(label.name) > len(label.brief):
                text = text.replace(label.name, label.tag)
        return text

    def cited(self, digests: Iterable[Digest]) -> list[tuple[str, list[str]]]:
        """Cited records by kind, each with its number in the journal; artifacts by their digest."""
        found: dict[str, list[tuple[int, str]]] = {}
        for digest in dict.fromkeys(digests):
            entry = self.journal.get(digest)
            kind = entry.kind.replace("_", " ") if entry else "artifact"
            found.setdefault(kind, []).append((entry.seq, str(entry.seq)) if entry else (0, digest[:12]))
        return [(kind, [text for _, text in sorted(items)]) for kind, items in found.items()]

    @cached_property
    def ancestry(self) -> frozenset[Digest]:
        """The leader and all it descends from."""
        found: set[Digest] = set()
        todo = [self.leader] if self.leader else []
        while todo:
            digest = todo.pop()
            if digest not in found and digest in self.checked:
                found.add(digest)
                todo += self.checked[digest].record.parents
        return frozenset(found)

    def theory(self, digest: Digest) -> Theory:
        """A checked theory, read from its source; it is not run."""
        known = self.state.theories[digest].record
        source = self.trace.artifacts.get(digest).decode()
        return read_program(TheoryProgram(source, known.author, known.parents))

    def trials(self, experiment: str) -> Trials:
        """Answers of an experiment."""
        return trials_in(self.trace, self.state, experiment)

    def design(self, chosen: DesignChosen) -> Design:
        """What was shown."""
        return design_from_json(self.trace.artifacts.get_json(chosen.design))

    def frozen(self, experiment: str) -> dict[Digest, Array]:
        """Predicted shares with lower and upper end, ``(3, n_trials)``, by theory, as they were frozen."""
        plan = self.state.preregistrations[experiment].record
        arrays = self.trace.artifacts.get_arrays(plan.predictions)
        return {name: arrays[f"{name}:proportions"] for name in plan.rivals if f"{name}:proportions" in arrays}


# --- what the template is given -------------------------------------------------------------------------------------


def render(run: Reading) -> str:
    """The page."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else clean(value),
    )
    environment.filters |= {
        "signed": signed,
        "fixed": fixed,
        "interval": interval,
        "day": lambda time: time.replace("T", " ")[:16] + " UTC" if time else "–",
        "plural": plural,
    }
    environment.globals |= {
        "label": run.label,
        "cite": lambda digest: run.journal.get(digest),
        "percent_more": percent_more,
        "finite": np.isfinite,
        "first_pictures": FIRST_PICTURES,
        "COIN": COIN,
    }
    figures = Figures()
    context = {
        "run": run,
        "state": run.state,
        "config": run.config,
        "concluded": run.concluded,
        "board": run.board,
        "data": data_facts(run),
        "winner": winner_facts(run, figures),
        "tree": family_tree(run),
        "history": figures.history(run) if run.state.cycles else "",
        "map": figures.map(run),
        "mapped": run.state.map.record if run.state.map else None,
        "ceiling": mean_ceiling(run, list(run.state.collected)),
        "experiments": [experiment_facts(run, figures, name) for name in run.state.designs],
        "failures": failure_facts(run),
        "errors": error_facts(run, figures),
        "check": check_facts(run),
        "limits": limits(run),
        "style": Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
    }
    return environment.get_template("report.html").render(context)


def clean(text: str) -> str:
    """Without control characters, which could garble the page or turn the direction of its text."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Cn"))


def fixed(value: float | None, digits: int = 4) -> str:
    """A number with a real minus sign; a dash where there is none."""
    return "–" if value is None or not np.isfinite(value) else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 4) -> str:
    """`fixed` with its sign."""
    return "–" if value is None or not np.isfinite(value) else f"{value:+.{digits}f}".replace("-", "−")


def figures3(value: float) -> str:
    """Three significant figures, with a real minus sign."""
    return f"{value:.3g}".replace("-", "−")


def interval(value: float | None, standard_error: float | None, digits: int = 4) -> str:
    """Two standard errors to each side, in words where there is no finite one."""
    if value is None or standard_error is None or not np.isfinite(standard_error):
        return "interval unknown"
    low, high = Estimate(value, standard_error).interval
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def shortened(text: str, width: int) -> str:
    """As many whole words as fit."""
    text = " ".join(clean(text).split())
    if len(text) <= width:
        return text
    cut = text[: width - 2]
    return (cut.rsplit(" ", 1)[0] if " " in cut[width // 2 :] else cut).rstrip(" +;,:") + " …"


def plural(count: int, word: str) -> str:
    """A count with its noun."""
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word if count == 1 else many}"


def percent_more(nats: float) -> str:
    """Nats per choice as a change of the probability given to the choices that people made."""
    change = 100 * np.expm1(nats)
    return f"{abs(change):.1f} % {'more' if change >= 0 else 'less'}"


def wilson(share: Array, n: Array) -> tuple[Array, Array]:
    """Wilson's 95% interval of proportions; ``n`` may be 0, where it is the whole range."""
    n = np.maximum(n, 1e-9)
    z2 = 1.96**2 / n
    center = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(z2) * np.sqrt(share * (1 - share) + z2 / 4) / (1 + z2)
    return np.clip(center - half, 0, 1), np.clip(center + half, 0, 1)


@dataclass(frozen=True)
class Shares:
    """People's share of one option with its interval, ``(n_trials,)`` each; NaN where nobody answered."""

    share: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, trials: Trials, option: int = -1) -> Shares:
        """Intervals count people, since answers of one person hang together; answers where people cannot be told."""
        share = np.asarray(trials.proportions[:, option])
        counts = trials.counts
        n = counts.sum(axis=(0, 2)) if trials.pooled else (counts.sum(axis=2) > 0).sum(axis=0)
        low, high = wilson(np.nan_to_num(share), n)
        return cls(share, np.where(np.isnan(share), np.nan, low), np.where(np.isnan(share), np.nan, high))


def data_facts(run: Reading) -> dict[str, Any]:
    """Whose choices these are."""
    collected = [item.record for item in run.state.collected.values()]
    facts: dict[str, Any] = {
        "n_experiments": len(collected),
        "n_responses": sum(item.n_responses for item in collected),
        "people": sorted({item.n_people or item.n_participants for item in collected}),
        "pooled": any(item.pooled for item in collected),
        "archive": None,
        "hidden": "",
        "guess": guess(sorted({run.trials(name).n_options for name in run.state.collected})),
    }
    people = run.config.participants
    if run.simulated:
        changed = [f"{slot} replaced by {' and '.join(names)}" for slot, names in people.mechanisms.items()]
        facts["hidden"] = "; ".join([people.theory, *changed])
    elif people.archive:
        facts["archive"] = ARCHIVES[people.archive]
    return facts


def guess(numbers: Sequence[int]) -> str:
    """What somebody without an idea scores, for experiments with these numbers of options."""
    known = [f"a guess among {n} options gets {fixed(-float(np.log(n)), 3)}" for n in numbers if n != 2]
    return " and ".join([f"a coin gets {fixed(COIN, 3)}"] * (2 in numbers or not numbers) + known)


def last_option(domain: Domain, n_options: int) -> str:
    """Label of the last of so many options."""
    return domain.options[n_options - 1] if n_options <= len(domain.options) else f"option {n_options}"


def winner_facts(run: Reading, figures: Figures) -> dict[str, Any] | None:
    """The leading theory: parameters, source, and its predictions beside the choices."""
    if run.leader is None:
        return None
    theory = run.theory(run.leader)
    parameters = []
    for name, prior in theory.priors.items():
        low, median, high = (figures3(value) for value in prior.quantile(np.array([0.05, 0.5, 0.95])))
        parameters.append(
            {"name": name, "prior": prior, "words": prior_words(prior), "low": low, "median": median, "high": high}
        )
    known = run.state.theories[run.leader].record
    return {
        "digest": run.leader,
        "theory": theory,
        "known": known,
        "author": "published" if known.author == "published" else f"written by the {known.author} advocate",
        "parameters": parameters,
        "source": coloured(clean(theory.program.source)),
        "scatter": figures.scatter(run, run.leader),
        "option": scattered_option(run),
        "standing": next((line for line in run.board.standings if line.theory == run.leader), None),
    }


def scattered_option(run: Reading) -> str:
    """Whose shares are drawn against predictions: of two options the second's, of more every option's."""
    numbers = {run.trials(name).n_options for name in run.state.collected}
    return "each option" if max(numbers, default=2) > 2 else last_option(run.domain, 2)


def prior_words(prior: Prior) -> str:
    """A population in words."""
    limits = f"{figures3(prior.low)} and {figures3(prior.high)}"
    match prior.kind:
        case "uniform":
            return f"anywhere between {limits}, equally likely"
        case "log_uniform":
            return f"between {limits}, every doubling equally likely"
        case "normal":
            center, spread = figures3(prior.center), figures3(prior.spread)
            return f"bell curve around {center} with spread {spread}, kept between {limits}"
        case "log_normal":
            factor = figures3(np.exp(prior.spread))
            return (
                f"bell curve on the logarithm around {figures3(np.exp(prior.center))}, "
                f"two thirds within a factor of {factor}, kept between {limits}"
            )


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


def mean_ceiling(run: Reading, experiments: Iterable[str]) -> float | None:
    """Noise ceiling averaged over experiments, as the scores are."""
    found = [value for name in experiments if (value := run.state.collected[name].record.ceiling) is not None]
    return float(np.mean(found)) if found else None


# --- experiments ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairFound:
    """What a design promised for a pair of rivals and what came of it."""

    promised: PairPower
    difference: Estimate | None
    """First minus second on this experiment, by frozen predictions, nats per choice."""

    @property
    def told_apart(self) -> bool:
        """Whether the experiment alone decided between the two."""
        return self.difference is not None and not is_tie(self.difference)


def experiment_facts(run: Reading, figures: Figures, name: str) -> dict[str, Any]:
    """One experiment: choice of trials, preregistration, answers, and what they decided."""
    chosen = run.state.designs[name].record
    plan = run.state.preregistrations.get(name)
    collected = run.state.collected.get(name)
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
        "domain": run.config.domain,
        "people": people_facts(run, name),
    }
    if not chosen.accepted:
        return facts
    design = run.design(chosen)
    facts["option"] = last_option(run.domain, run.domain.n_options(design.stimuli))
    order = most_informative(design)
    shares = predictions = None
    if plan is not None:
        frozen = run.frozen(name)
        predictions = {rival: frozen[rival] for rival in chosen.rivals if rival in frozen}
    if collected is not None:
        shares = aligned(run.trials(name), design)
        facts["pairs"] = [PairFound(pair, achieved(run, pair, name)) for pair in chosen.powers]
        if predictions:
            found = figures.experiment(run, name, shares, predictions, facts["option"])
            facts["figure"], facts["n_shown"] = found
    else:
        facts["pairs"] = [PairFound(pair, None) for pair in chosen.powers]
    for place, row in enumerate(order):
        caption = trial_caption(run, row, design, shares, predictions)
        if place < MOST_PICTURES:
            facts["pictures"].append((Markup(run.domain.picture(design.stimuli, row)), caption))
        else:
            facts["lines"].append((run.domain.describe(design.stimuli, row), caption))
    return facts


def people_facts(run: Reading, name: str) -> dict[str, Any] | None:
    """Who took part, who was excluded by which rule, who withdrew; None where people do not answer one by one."""
    arrived = run.state.answers.get(name, ())
    withdrawn = len(set(run.state.withdrawn.get(name, ())))
    if not arrived and not withdrawn:
        return None
    there = {item.digest for item in arrived}
    broken = [item.record for item in run.state.excluded if item.record.answers in there]
    closed = run.state.closed.get(name)
    return {
        "statuses": Counter(item.record.status.replace("_", " ") for item in arrived),
        "n_excluded": len({record.answers for record in broken}),
        "rules": Counter(record.words for record in broken),
        "withdrawn": withdrawn,
        "closed": closed.record if closed else None,
    }


def aligned(trials: Trials, design: Design) -> Shares:
    """People's shares in the order of the design's trials, by content where a source returned them otherwise."""
    shares = Shares.of(trials)
    if trials.stimuli.keys == design.stimuli.keys:
        return shares
    place = {key: row for row, key in enumerate(trials.stimuli.keys)}
    rows = [place.get(key) for key in design.stimuli.keys]
    return Shares(
        *(
            np.array([np.nan if row is None else values[row] for row in rows])
            for values in (shares.share, shares.low, shares.high)
        )
    )


def most_informative(design: Design) -> list[int]:
    """Trials by the information for which they were chosen, then the random ones."""
    known = design.information or (float("nan"),) * len(design.stimuli)
    return sorted(range(len(design.stimuli)), key=lambda row: (np.isnan(known[row]), -np.nan_to_num(known[row]), row))


def achieved(run: Reading, pair: PairPower, experiment: str) -> Estimate | None:
    """First minus second on one experiment, by the predictions that were frozen before it."""
    found = prequential_advantage(pair.first, pair.second, [experiment], run_scores(run))
    return found[0] if found else None


def run_scores(run: Reading) -> dict[tuple[Digest, str], Any]:
    """All scores without their own digests."""
    return {key: item.record for key, item in run.state.scores.items()}


def trial_caption(
    run: Reading, row: int, design: Design, shares: Shares | None, predictions: Mapping[Digest, Array] | None
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
        "predicted": [(run.label(rival), f"{values[0][row]:.0%}") for rival, values in (predictions or {}).items()],
    }


# --- failures, errors, checks ---------------------------------------------------------------------------------------


def failure_facts(run: Reading) -> dict[str, Any]:
    """Everything that did not work."""
    state = run.state
    scores = run_scores(run)
    pairs: dict[frozenset[Digest], PairPower] = {}
    for item in state.designs.values():
        pairs |= {frozenset((pair.first, pair.second)): pair for pair in item.record.powers}
    open_pairs = []
    for pair in pairs.values():
        found = prequential_advantage(pair.first, pair.second, list(state.collected), scores)
        if found is None or is_tie(found[0]):
            open_pairs.append({"pair": pair, "difference": found[0] if found else None})
    errors = Counter[str]()
    n_tried = 0
    for search in state.searches:
        n_tried += search.record.n_attempts
        for attempt in run.trace.artifacts.get_json(search.record.attempts):
            if attempt.get("error"):
                errors[str(attempt["error"])[:300]] += 1
    verdicts = [verdict_facts(item.record, state.resolved.get(digest)) for digest, item in state.verdicts.items()]
    settled = [item["log_score"] for item in verdicts if item["log_score"] is not None]
    mean = float(np.mean(settled)) if settled else None
    spread = float(np.std(settled, ddof=1) / np.sqrt(len(settled))) if len(settled) > 1 else None
    return {
        "open_pairs": open_pairs,
        "n_tried": n_tried,
        "attempt_errors": errors.most_common(5),
        "n_attempt_errors": errors.total(),
        "refused_designs": [item.record for item in state.designs.values() if not item.record.accepted],
        "verdicts": verdicts,
        "n_settled": len(settled),
        "overturned": [item for item in verdicts if item["overturned"]],
        "mean_log_score": mean,
        "mean_log_score_error": spread,
        "pitfalls": [pitfall for _, pitfall in state.library.pitfalls],
    }


def verdict_facts(verdict: Verdict, resolved: Recorded[VerdictResolved] | None) -> dict[str, Any]:
    """One verdict and what the data said."""
    favoured = resolved.record.favoured if resolved else None
    return {
        "verdict": verdict,
        "favoured": favoured,
        "experiment": resolved.record.experiment if resolved else "",
        "log_score": resolved.record.log_score if resolved else None,
        "overturned": favoured is not None and verdict.probability != 0.5 and favoured != (verdict.probability > 0.5),
    }


def error_facts(run: Reading, figures: Figures) -> dict[str, Any]:
    """Mean squared errors of choice proportions, with the published ones beside them."""
    concluded = run.concluded
    rows: list[dict[str, Any]] = []
    if concluded is not None:
        rows = [item.model_dump() | {"label": run.label(item.theory)} for item in concluded.errors]
    else:
        blank = {"sealed": None, "sealed_error": None, "all": None, "sealed_score": None}
        rows = [
            {"theory": line.theory, "label": run.label(line.theory), "open": line.error} | blank
            for line in run.board.standings
            if line.theory == run.leader or line.theory in run.state.seeds
        ]
    folds = [item.record for item in run.state.folds]
    truth = run.state.truth.record if run.state.truth else None
    names = sorted(truth.corrected, key=lambda name: (name != run.leader, truth.corrected[name])) if truth else []
    cross_validated = [
        {"name": item.name, "error": item.error, "standard_error": item.standard_error}
        for item in (concluded.cross_validated if concluded else ())
    ]
    return {
        "rows": rows,
        "sealed": run.state.sealed.record if run.state.sealed else None,
        "figure": figures.errors(rows, cross_validated, run.config.baselines) if rows else "",
        "cross_validated": cross_validated,
        "folds": folds,
        "folds_figure": figures.folds(folds, scattered_option(run)) if folds else "",
        "truth": truth,
        "truth_rows": [
            (name, truth.corrected[name], truth.uncorrected.get(name)) for name in names if truth is not None
        ],
    }


def check_facts(run: Reading) -> dict[str, Any]:
    """How far the trace can be trusted, and how to see for oneself."""
    seq, head = run.trace.journal.head
    place = shlex.quote(str(run.folder))
    return {
        "head": head,
        "seq": seq,
        "n_records": len(run.journal),
        "kinds": sorted(Counter(entry.kind for entry in run.journal.values()).items()),
        "report": verify(run.trace),
        "audit": f"lakatos audit {place}",
        "resume": f"lakatos resume {place}",
        "versions": run.state.started.record.versions if run.state.started else {},
        "study": run.config.digest,
        "epochs": [item.record for item in run.state.epochs],
        "engines": sorted({item.record.engine for item in run.state.scores.values()}),
        "sandbox": sorted({layer for item in run.checked.values() for layer in item.record.sandbox}),
    }


# --- limits ---------------------------------------------------------------------------------------------------------


def limits(run: Reading) -> list[str]:
    """What the result does not show, each from a fact of the run."""
    return [
        text
        for rule in (_limits_of_progress, _limits_of_people, _limits_of_evidence, _limits_of_search, _limits_of_scope)
        for text in rule(run)
    ]


def _limits_of_progress(run: Reading) -> list[str]:
    found = []
    if run.concluded is None:
        found.append("The run has not ended. Everything here can change with the next experiment.")
    stop = run.state.cycles[-1].record.stop if run.state.cycles else ""
    if stop.startswith("budget"):
        found.append("The search ended because its budget was spent, not because nothing better could be found.")
    return found


def _limits_of_people(run: Reading) -> list[str]:
    if run.simulated:
        return [
            "Nobody took part. A computer answered by a hidden rule, so the result says whether the laboratory finds "
            "a rule that is known to exist. It says nothing about how people choose."
        ]
    if not run.config.participants.archive:
        return [
            "Whoever took part chose to, and was paid or asked in one way only. What holds for them may not hold for "
            "people who were recruited elsewhere."
        ]
    found = [
        "The choices were made for other people's studies: only trials that were published could be asked, and a "
        "trial that would have told the theories apart better may be missing."
    ]
    collected = [item.record for item in run.state.collected.values()]
    if any(item.pooled for item in collected):
        found.append(
            "Only counts were published. People cannot be told apart, so differences between persons are not "
            "tested, and uncertainty is counted over problems."
        )
    if run.state.sealed is not None:
        found.append(
            "The sealed trials come from the same experiments, and the same people, as the trials the search has "
            "seen. They test the winner on new problems, not on new people."
        )
    return found


def _limits_of_evidence(run: Reading) -> list[str]:
    found = []
    standing = next((line for line in run.board.standings if line.theory == run.leader), None)
    untouched = run.state.sealed is not None or bool(run.state.folds) or (standing and standing.n_prequential)
    if run.board.standings and not untouched:
        found.append(
            "There are no untouched data for the winner: it was made from the same answers that it is scored on, so "
            "its score is too good by an unknown amount."
        )
    elif standing is not None and standing.n_prequential < len(run.board.experiments):
        new = len(run.board.experiments) - standing.n_prequential
        found.append(
            f"The leaderboard's main score counts all data, also the {new} of {len(run.board.experiments)} "
            "experiments whose answers were known when the winner was made. Frozen predictions, sealed trials and "
            "folds are the tests."
        )
    ties = [run.label(line.theory).tag for line in run.board.standings if line.tied and line.theory != run.leader]
    if ties:
        found.append(
            f"The winner is tied with {', '.join(ties)}: the data do not show that it is better than "
            f"{'them' if len(ties) > 1 else 'it'}."
        )
    n_open = len(failure_facts(run)["open_pairs"])
    if n_open:
        found.append(
            f"{n_open} pair{'s' if n_open > 1 else ''} of rivals could not be told apart by frozen predictions "
            "(section 6)."
        )
    n_trials = sum(item.record.n_trials for name, item in run.state.designs.items() if name in run.state.collected)
    people = min((item.record.n_people for item in run.state.collected.values() if item.record.n_people), default=0)
    sealed = run.state.sealed.record.n_trials if run.state.sealed else FEW
    if 0 < people < FEW:
        found.append(f"The smallest experiment has {people} people: differences between persons are known coarsely.")
    for count, what in ((n_trials, "distinct trials were asked in all"), (sealed, "trials were sealed")):
        if 0 < count < FEW:
            found.append(f"Only {count} {what}: intervals are wide, and rare kinds of trials may be missing.")
    if run.board.standings and mean_ceiling(run, run.state.collected) is None:
        found.append("No trial was repeated, so it is unknown how much of the choices could be predicted at all.")
    return found


def _limits_of_search(run: Reading) -> list[str]:
    found = []
    n_scored, n_tried = len(run.board.standings), sum(item.record.n_attempts for item in run.state.searches)
    if n_scored:
        found.append(
            f"The winner is the best of {n_scored} theories, which were themselves picked from {n_tried} that the "
            "search tried. The best of many looks better than it is on the data used for picking."
        )
    if run.leader and run.leader not in run.state.seeds:
        found.append(
            "Published theories keep the wide ranges they were declared with, while the winner's ranges were "
            "narrowed to earlier answers. Part of its advantage in scores with declared ranges can come from that "
            "and not from its idea; comparisons by frozen predictions and by folds fit both sides."
        )
        changes = [run.checked[item].record.change for item in run.ancestry if run.checked[item].record.change]
        if changes and all(change.startswith("narrow") for change in changes):
            found.append("The winner is a published theory with narrowed ranges, not a new mechanism.")
    found.append(
        f"This is one run with one seed ({run.config.seed}). Another seed tries other theories and, where designs "
        "are chosen, asks other trials; it may end with another winner."
    )
    return found


def _limits_of_scope(run: Reading) -> list[str]:
    return [
        f"All trials are of one kind of task ({run.config.domain}). The search combines published mechanisms; an idea "
        "outside them could not win.",
        "Predicting choices best does not make a theory true: another one with the same predictions would score the "
        "same.",
    ]


# --- family tree ----------------------------------------------------------------------------------------------------


def family_tree(run: Reading) -> dict[str, Any] | None:
    """Places of all theories in a tree drawn like a history: one line each, columns for cycles."""
    if not run.checked:
        return None
    digests = list(run.checked)
    if len(digests) > MOST_NODES:
        keep = set(run.state.pool) | run.ancestry
        digests = [digest for digest in digests if digest in keep]
    cycles = sorted({run.checked[digest].record.cycle for digest in digests})
    step = min(34.0, 200.0 / max(len(cycles) - 1, 1))
    height, top = 42, 34
    places = {
        digest: (18 + step * cycles.index(run.checked[digest].record.cycle), top + 20 + height * row)
        for row, digest in enumerate(digests)
    }
    nodes, edges = [], []
    for digest in digests:
        record = run.checked[digest].record
        x, y = places[digest]
        known = [parent for parent in record.parents if parent in places and parent != digest]
        for parent in known:
            from_x, from_y = places[parent]
            line = digest in run.ancestry and parent in run.ancestry
            # Straight down the parent's column, then over to the child.
            path = f"M{from_x:.1f} {from_y:.1f}V{y - 14:.1f}Q{from_x:.1f} {y:.1f} {x:.1f} {y:.1f}"
            edges.append({"path": path, "line": line})
        others = ", ".join(run.label(parent).tag for parent in known)
        how = record.change or ("published theory" if record.cycle == 0 else "")
        if record.reason:
            how = f"refused: {record.reason}"
        nodes.append(
            {
                "x": x,
                "y": y,
                "status": status_of(run, digest),
                "label": run.label(digest),
                "short": shortened(run.label(digest).name, 68),
                "change": shortened(how, 74),
                "parents": others,
                "cycle": record.cycle,
                "line": digest in run.ancestry,
                "leader": digest == run.leader,
                "full": how,
            }
        )
    edges.sort(key=lambda edge: bool(edge["line"]))
    text = 18 + step * (len(cycles) - 1) + 22
    return {
        "nodes": nodes,
        "edges": edges,
        "columns": [(18 + step * place, cycle) for place, cycle in enumerate(cycles)],
        "text": text,
        "width": text + 520,
        "height": top + 12 + height * len(digests),
        "left_out": len(run.checked) - len(digests),
        "rows": [
            (digest, run.label(digest), item.record, status_of(run, digest)) for digest, item in run.checked.items()
        ],
    }


def status_of(run: Reading, digest: Digest) -> str:
    """How far a theory came."""
    if digest not in run.state.theories:
        return "refused"
    return "admitted" if digest in run.state.pool else "not admitted"


# --- figures --------------------------------------------------------------------------------------------------------

INK, MUTED, RULE, PAPER = "#111112", "#777771", "#dddde1", "#fefefd"
SERIES = ("#0072b1", "#d55e01", "#009e72", "#cc79a6", "#e69f01")
"""Okabe and Ito's colours, which most people can tell apart; a letter off, so that they are found in the figure."""
MARKERS = ("s", "^", "D", "v", "P")
VARIABLES = {INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper"} | {
    color: f"--s{number}" for number, color in enumerate(SERIES, start=1)
}
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lakatos",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.size": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": RULE,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


class Figures:
    """Draws figures whose colours follow the page's light or dark scheme and whose text stays text."""

    def __init__(self) -> None:
        self.count = 0

    def draw(self, title: str, size: tuple[float, float], plot: Callable[[Figure], None]) -> Markup:
        """An ``svg`` element; ``size`` in inches."""
        self.count += 1
        buffer = io.StringIO()
        with mpl.rc_context(cast(Any, SETTINGS)), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # the browser has its own fonts
            figure = Figure(figsize=size, layout="constrained")
            plot(figure)
            metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(buffer, format="svg", metadata=metadata)
        svg = buffer.getvalue()
        svg = svg[svg.index("<svg") :]
        for color, variable in VARIABLES.items():
            svg = svg.replace(color, f"var({variable})")
        # Names must be unique in a page that holds several figures.
        svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>f{self.count}-", svg)
        svg = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", svg, count=1)
        svg = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", svg, count=1)
        head = Markup('<svg class="plot" style="max-width:{}px" role="img" aria-label="{}"').format(
            round(size[0] * 135), title
        )
        body = svg.removeprefix("<svg").replace(">", Markup("><title>{}</title>").format(title), 1)
        return head + Markup(body)

    def map(self, run: Reading) -> Markup:
        """Theories as points; the nearer, the more alike their people choose."""
        if run.state.map is None:
            return Markup("")
        found = run.state.map.record

        def plot(figure: Figure) -> None:
            axes = figure.subplots()
            for name, (x, y) in zip(found.theories, found.positions, strict=True):
                kind = 0 if name == run.leader else 1 if name in run.state.seeds else 2
                axes.plot(x, y, MARKERS[kind], markersize=7 if kind == 0 else 5, color=SERIES[kind])
                axes.annotate(run.label(name).tag, (x, y), textcoords="offset points", xytext=(5, 4), fontsize=8)
            axes.set_aspect("equal", adjustable="datalim")
            for kind, what in enumerate(("leader", "first rivals", "written in the campaign")):
                axes.plot([], [], MARKERS[kind], color=SERIES[kind], label=what)
            axes.set(xlabel="difference of choice proportions", ylabel="the same, at right angles")
            figure.legend(loc="outside lower center", ncols=3)

        return self.draw("Map of the theories", (5.6, 4.2), plot)

    def scatter(self, run: Reading, theory: Digest) -> Markup:
        """Predicted and observed shares on every trial; filled where the prediction came first."""
        sets = []
        for name in run.state.collected:
            score = run.state.scores.get((theory, name))
            if score is not None:
                trials = run.trials(name)
                predicted = np.asarray(score.record.proportions).reshape(len(trials.stimuli), -1)
                sets += [
                    (predicted[:, option], Shares.of(trials, option), score.record.learned)
                    for option in range(-predicted.shape[1], 0)
                ]
        if not sets:
            return Markup("")

        def plot(figure: Figure) -> None:
            axes = _square(figure, scattered_option(run))
            for first, what in ((True, "predicted before the answers came"), (False, "answers were known")):
                own = [item for item in sets if (item[2] is not None) == first]
                if not own:
                    continue
                x = np.concatenate([item[0] for item in own])
                y, low, high = (
                    np.concatenate([getattr(item[1], part) for item in own]) for part in ("share", "low", "high")
                )
                axes.vlines(x, low, high, color=MUTED, linewidth=0.6, alpha=0.45)
                axes.plot(
                    x, y, "o", markersize=4, color=SERIES[0], markerfacecolor=SERIES[0] if first else PAPER, label=what
                )
            figure.legend(loc="outside lower center", ncols=1)

        return self.draw(f"Choices against predictions of {run.label(theory).short}", (3.7, 4.1), plot)

    def folds(self, folds: Sequence[Any], option: str) -> Markup:
        """Predicted and observed share on trials that a fold's loop had not seen."""

        def plot(figure: Figure) -> None:
            axes = _square(figure, option)
            for number, fold in enumerate(folds):
                color, marker = SERIES[number % len(SERIES)], ("o", *MARKERS)[number % 6]
                axes.plot(
                    fold.predicted, fold.observed, marker, color=color, markersize=4, label=f"fold {fold.fold + 1}"
                )
            if len(folds) <= 10:
                figure.legend(loc="outside lower center", ncols=5)

        return self.draw("Choices against predictions on trials that each fold had not seen", (3.7, 4.1), plot)

    def history(self, run: Reading) -> Markup:
        """Scores at the end of every cycle, with the noise ceiling."""
        cycles = [item.record for item in run.state.cycles]
        lines: dict[Digest, list[tuple[int, float, float]]] = {}
        for record in cycles:
            for line in record.leaderboard:
                lines.setdefault(line.theory, []).append((record.cycle, line.score, 2 * line.standard_error))
        ceilings = [
            mean_ceiling(run, [name for name, item in run.state.designs.items()
                               if item.record.cycle <= record.cycle and name in run.state.collected])
            for record in cycles
        ]  # fmt: skip
        shown = [name for name in (run.leader, run.best_seed) if name in lines]
        seeds = [name for name in run.state.seeds if name in lines and name not in shown]

        def plot(figure: Figure) -> None:
            axes = figure.add_subplot()
            for name, points in lines.items():
                if name not in shown and name not in seeds:
                    table = np.array(points)
                    axes.plot(table[:, 0], table[:, 1], "o-", color=MUTED, alpha=0.35, markersize=2.5, linewidth=0.8)
            for number, name in enumerate((*shown, *seeds)):
                offset = 0.05 * (number - (len(shown) + len(seeds) - 1) / 2)
                cycle, score, error = np.array(lines[name]).T
                axes.errorbar(
                    cycle + offset,
                    score,
                    yerr=np.where(np.isfinite(error), error, 0),
                    label=run.label(name).short,
                    marker=("o", *MARKERS)[number % 6],
                    markersize=4,
                    color=SERIES[number % len(SERIES)],
                    linewidth=2.0 if name == run.leader else 1.0,
                    elinewidth=0.9,
                )
            if any(value is not None for value in ceilings):
                heights = [np.nan if value is None else value for value in ceilings]
                axes.plot([item.cycle for item in cycles], heights, "--", color=INK, label="noise ceiling")
                if len(cycles) == 1:
                    axes.axhline(heights[0], linestyle="--", color=INK)
            axes.set_xticks([item.cycle for item in cycles])
            axes.set_xlim(cycles[0].cycle - 0.5, cycles[-1].cycle + 0.5)
            axes.grid(axis="x", visible=False)
            axes.set_xlabel("cycle")
            axes.set_ylabel("nats per choice (higher is better)")
            figure.legend(loc="outside lower center", ncols=2)

        rows = (len(shown) + len(seeds) + 2) // 2
        return self.draw("Scores of the theories at the end of every cycle", (4.6, 3.1 + 0.19 * rows), plot)

    def experiment(
        self, run: Reading, name: str, shares: Shares, predictions: Mapping[Digest, Array], option: str
    ) -> tuple[Markup, int]:
        """People's share of the last option on every trial, between what the rivals had said."""
        rivals = list(predictions)[:MOST_SERIES]
        stack = np.stack([predictions[rival] for rival in rivals])
        rows = np.flatnonzero(~np.isnan(shares.share))
        if len(rows) > MOST_ROWS:
            spread = np.ptp(stack[:, 0, rows], axis=0)
            rows = rows[np.argsort(-spread, kind="stable")[:MOST_ROWS]]
        rows = rows[np.argsort(stack[0, 0, rows], kind="stable")]
        if not len(rows):
            return Markup(""), 0
        random = set(run.design(run.state.designs[name].record).random_coverage)

        def plot(figure: Figure) -> None:
            axes = figure.add_subplot()
            y = np.arange(len(rows), dtype=float)
            for place in y[::2]:
                axes.axhspan(place - 0.5, place + 0.5, color=RULE, alpha=0.4, linewidth=0)
            axes.grid(axis="y", visible=False)
            axes.hlines(y, shares.low[rows], shares.high[rows], color=MUTED, linewidth=6, alpha=0.35)
            axes.plot(shares.share[rows], y, "o", color=INK, markersize=5, label="people, with 95% interval")
            for number, rival in enumerate(rivals):
                height = y + (0.5 if len(rivals) == 1 else number / (len(rivals) - 1) - 0.5) * 0.6
                mean, low, high = predictions[rival][:, rows]
                axes.hlines(height, low, high, color=SERIES[number], linewidth=0.8, alpha=0.7)
                axes.plot(
                    mean, height, MARKERS[number], color=SERIES[number], markersize=3.6, label=run.label(rival).short
                )
            axes.set_yticks(y, [f"{row + 1}{'*' if row in random else ''}" for row in rows])
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.set_xlim(-0.02, 1.02)
            axes.set_xlabel(f"share choosing {option}")
            axes.set_ylabel("trial")
            figure.legend(loc="outside upper center", ncols=1)

        size = (4.6, 0.75 + 0.2 * (len(rivals) + 1) + 0.2 * len(rows))
        title = f"Experiment {name}: choices and the predictions frozen before them"
        return self.draw(title, size, plot), len(rows)

    def errors(
        self, rows: Sequence[Mapping[str, Any]], folds: Sequence[Mapping[str, Any]], baselines: Mapping[str, float]
    ) -> Markup:
        """Errors of the leader and the published theories beside published figures."""
        lines: list[tuple[str, float | None, float | None, float | None]] = [
            (row["label"].short, row["open"], row["sealed"], row["sealed_error"]) for row in rows
        ]
        lines += [
            (shortened(f"folds: {item['name']}", 34), None, item["error"],
             item["standard_error"])
            for item in folds
        ]  # fmt: skip
        height = len(lines) + len(baselines)

        def plot(figure: Figure) -> None:
            axes = figure.add_subplot()
            y = np.arange(len(lines), dtype=float)
            opened = [(place, item[1]) for place, item in zip(y, lines, strict=True) if item[1] is not None]
            if opened:
                axes.plot([v for _, v in opened], [p for p, _ in opened], "o", color=SERIES[0], markerfacecolor=PAPER,
                          label="on trials the search has seen")  # fmt: skip
            hidden = [(p, item[2], item[3] or 0) for p, item in zip(y, lines, strict=True) if item[2] is not None]
            if hidden:
                places, values, errors = (np.array(part, dtype=float) for part in zip(*hidden, strict=True))
                axes.errorbar(values, places, xerr=2 * errors, fmt="s", color=SERIES[1], markersize=5,
                              label="on trials it has not seen, with 95% interval")  # fmt: skip
            names = ["\n".join(textwrap.wrap(shortened(name, 60), 30)) for name in baselines]
            if baselines:
                places = len(lines) + np.arange(len(baselines))
                axes.plot(list(baselines.values()), places, "D", color=MUTED, label="published figure")
            axes.set_yticks(np.arange(height), [line[0] for line in lines] + names)
            axes.set_ylim(height - 0.4, -0.6)
            axes.set_xlim(left=0)
            axes.grid(axis="y", visible=False)
            axes.set_xlabel("mean squared error (lower is better)")
            figure.legend(loc="outside upper center", ncols=1)

        return self.draw("Errors side by side", (4.6, 1.2 + 0.26 * height), plot)


def _square(figure: Figure, option: str) -> Axes:
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")
    axes.set_xlabel(f"predicted share choosing {option}")
    axes.set_ylabel("observed share")
    return axes

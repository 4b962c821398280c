"""Stage: the advocates search for successors; what they submit is checked before it is a theory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lakatos.experiments.adoption.names import ORDER, SIDES
from lakatos.experiments.subset import some_people, some_trials
from lakatos.experiments.task import Domain, Trials
from lakatos.flows.roles.remember import advice_on
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.progress import CampaignProgress, duration
from lakatos.flows.run.run import Run
from lakatos.theories.discovery.condition_search import CONDITIONS, find_change
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.proposal import (
    AdvocateBrief,
    SearchProposal,
    SearchStart,
)
from lakatos.theories.discovery.grammar_search.search_tree import ArchiveMap
from lakatos.theories.discovery.grammar_search.size_path import size_path, smallest_near_best
from lakatos.theories.discovery.induction.pace import InductionReport
from lakatos.theories.discovery.roles.record import SuccessorsProposed
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.record import (
    Diagnosis,
    SearchFinished,
    SizeOnPath,
    SuccessorSubmitted,
)
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural

SEARCH = "search for new theories"
"""The stage, as progress is shown."""
SOURCES = {
    "grammar": "combinations of mechanisms",
    "induction": "rules induced from the responses",
    "language_model": "proposals of language models",
}
"""Source of new theories in words, by advocate."""
INDUCTION = "induction"
"""Author of rules found in the responses."""
LEFT_OUT = 0.02
"""Nats per choice that predicting left-out trials may cost against fitting all."""
KEPT = 4
"""Compositions that a search takes over from the one before."""
MOST_INDUCED = 60_000
"""Responses in which rules are looked for; those of some people where there are more."""
MOST_INDUCED_TRIALS = 1_500
"""Distinct trials in which rules without a memory are looked for, drawn by lot where there are more: what is tried
grows with them, and so does the memory that it takes."""


@task(name="revise")
async def revise(
    run: Run,
    cycle: int,
    diagnosis: Recorded[Diagnosis],
    proposed: Recorded[SuccessorsProposed] | None = None,
) -> Recorded[SearchFinished]:
    """Search for better theories: by composing, from the loser and the leader on, and in the answers themselves.

    What language models proposed joins what is found; what is recalled of other studies says what to try first.
    """
    settings = run.config.theories
    advocates = [
        name for name in settings.advocates if name != "language_model" or run.config.roles.reviser
    ]
    sources = ", ".join(SOURCES[name] for name in advocates)
    run.progress.stage(cycle, SEARCH, sources)
    advice = advice_on(run.evidence, diagnosis.record)
    if advice.n_campaigns:
        run.progress.note(
            f"prior odds of mechanisms rest on {plural(advice.n_campaigns, 'earlier campaign')}"
        )
    starts = (*_starts(run.evidence, diagnosis.record), *advice.starts)
    grammar = run.open_family.grammar
    brief = AdvocateBrief(
        starts=tuple(start for start in starts if grammar.has(start.composition)),
        remedies=diagnosis.record.remedies,
        odds=advice.odds,
        warnings=advice.warnings,
        published=tuple(composition for _, composition in run.open_family.seeds.values()),
        n_candidates=settings.candidates,
        n_successors=settings.successors,
    )
    trials = [run.trials(name) for name in run.state.experiments.collected]
    inputs = [diagnosis.digest, *(item.digest for item in run.state.experiments.collected.values())]
    inputs += advice.inputs
    inputs += [item.digest for item in run.state.theories.searches[-1:]]
    inputs += [proposed.digest] if proposed else []
    written = proposed.record.submissions if proposed else ()

    def work(context: StepContext) -> SearchFinished:
        from lakatos.theories.discovery.induction.induce import (
            looks_back,  # not before responses are there
        )

        (shuffles,) = context.rng.spawn(1)
        few = some_people(trials, MOST_INDUCED, context.rng)
        closed, sides = run.config.participants.closed, run.config.participants.first_option
        has_order = run.domain.sequential or ORDER not in closed
        past = has_order and looks_back(run.domain, few, shuffles)
        has_memory = ArchiveMap(grammar).has_memory
        remembers = past or (
            has_order and any(has_memory(start.composition) for start in brief.starts)
        )
        if not remembers:
            why = "responses do not depend on earlier trials" if has_order else closed[ORDER]
            run.progress.note(f"{why}, so theories with memory are not searched")
        proposal = SearchProposal(())
        if "grammar" in settings.advocates:
            looking = replace(brief, looks_back=remembers)
            telling = SearchReport(WorkReport(run.progress, cycle), brief.n_candidates)
            proposal = search(run.open_family, run.laboratory, looking, trials, context, telling)
        if "grammar" in settings.advocates:
            n_tried = len(proposal.attempts)
            run.progress.note(searched_in_words(n_tried, brief.n_candidates, proposal.unspent))
        best = max((attempt.criterion for attempt in proposal.submitted), default=-math.inf)
        if not past:
            few = some_trials(few, MOST_INDUCED_TRIALS, context.rng)
        reads = "induction" in settings.advocates
        if reads:
            run.progress.stage(cycle, SEARCH, "inducing rules from the responses")
        reading = WorkReport(run.progress, cycle)
        found = (
            induced(
                run.domain,
                few,
                best,
                context,
                past=past,
                report=reading,
                first_option=sides,
                has_places=SIDES not in closed,
            )
            if reads
            else ()
        )
        changed: tuple[SuccessorSubmitted, ...] = ()
        if run.config.conditions:
            run.progress.stage(cycle, SEARCH, "trying changes of parameters with conditions")
            leader = run.form(diagnosis.record.leader).program
            advocate = GrammarAdvocate(grammar)
            changed = changes_with_conditions(
                run.laboratory, advocate, leader, proposal, trials, context
            )
        return _record(context, cycle, proposal, (*found, *changed, *written))

    return await run.step(
        "revise", work, returns=SearchFinished, inputs=inputs, position={"cycle": cycle}
    )


def searched_in_words(n_tried: int, n_planned: int, unspent: str) -> str:
    """State how many candidates a search evaluated, as its record counts them.

    Args:
        n_tried: Number of candidates.
        n_planned: Number that was planned, to which those are added that arise while the best are simplified.
        unspent: Reason why fewer were tried.
    """
    words = f"{plural(n_tried, 'candidate')} evaluated"
    if unspent:
        return f"{words} of at most {n_planned}: {unspent}"
    n_added = n_tried - n_planned
    return f"{words}, {n_added} of them while the best were simplified" if n_added > 0 else words


def search(
    family: Family,
    laboratory: Laboratory,
    brief: AdvocateBrief,
    trials: Sequence[Trials],
    context: StepContext,
    report: Callable[[int, float], None] | None = None,
) -> SearchProposal:
    """The grammar advocate's search on the responses so far."""
    return search_compositions(
        laboratory, family.grammar, brief, trials, context.rng, report=report
    )


@dataclass
class WorkReport:
    """Says how far a piece of work is, how good its best theory is, and how long the rest takes at this pace."""

    progress: CampaignProgress
    cycle: int
    clock: Callable[[], float] = time.monotonic
    _what: str = ""
    _begun: tuple[float, float] = (0.0, 0.0)
    """Time, and share of the work that was done, when the pace is taken from."""

    def __call__(self, what: str, n_done: int, n_planned: int, best: float, share: float) -> None:
        """Say it.

        Args:
            what: Is counted, and done, in words.
            n_done: So many of it are.
            n_planned: There will be so many.
            best: Nats per choice of the best theory; infinite where there is none yet.
            share: Share of the work that this is, between 0 and 1, where some are more work than others.
        """
        now = self.clock()
        words = f"{min(n_done, n_planned)} of {n_planned} {what}"
        if math.isfinite(best):
            words += f", best search criterion {best:.4f} nats per choice"
        if what != self._what:  # the first round has no pace yet
            self._what, self._begun = what, (now, share)
        elif 1 > share > self._begun[1]:
            pace = (now - self._begun[0]) / (share - self._begun[1])
            words += f", about {duration(max(pace * (1 - share), 1.0))} left"
        self.progress.stage(self.cycle, SEARCH, words)


@dataclass(frozen=True)
class SearchReport:
    """Says how far the search for candidates is."""

    work: WorkReport
    n_candidates: int

    def __call__(self, n_tried: int, best: float) -> None:
        """Say it."""
        n = self.n_candidates
        self.work("candidates evaluated", n_tried, n, best, n_tried / n)


def induced(
    domain: Domain,
    trials: Sequence[Trials],
    best: float,
    context: StepContext,
    *,
    past: bool,
    report: InductionReport | None = None,
    first_option: str = "",
    has_places: bool = True,
) -> tuple[SuccessorSubmitted, ...]:
    """Rules found in the answers themselves that predict left-out trials nearly as well as the search's best fits all.

    Args:
        domain: Domain of the trials.
        trials: All responses so far.
        best: Criterion of what the grammar's advocate submits.
        context: Context of the step.
        past: Whether responses depend on one's own past.
        report: Hears how far it is.
        first_option: What the first option always is, where it is one thing.
        has_places: Whether it is known where options stood, so that rules may speak of places.
    """
    if any(item.pooled for item in trials):
        return ()
    from lakatos.theories.discovery.induction.induce import induce  # not before responses are there

    return tuple(
        SuccessorSubmitted(
            source=context.artifacts.put(item.source.encode()),
            author=INDUCTION,
            parents=(),
            change=f"found in the answers: {item.kind}",
            criterion=item.criterion,
        )
        for item in induce(
            domain,
            trials,
            context.rng,
            least=best - LEFT_OUT,
            past=past,
            report=report,
            first_option=first_option,
            has_places=has_places,
        )
    )


def changes_with_conditions(
    laboratory: Laboratory,
    advocate: GrammarAdvocate,
    leader: TheoryProgram,
    proposal: SearchProposal,
    trials: Sequence[Trials],
    context: StepContext,
) -> tuple[SuccessorSubmitted, ...]:
    """The leader, and the best theory of the search, each with the parameter that changes with a condition, if any."""
    bases = [leader]
    for attempt in proposal.submitted[:1]:
        source = advocate.grammar.write(Composition(attempt.composition.slots))
        bases.append(TheoryProgram(source, advocate.name))
    found = []
    for base in {item.source: item for item in bases}.values():
        proposed = find_change(laboratory, base, trials, advocate.price)
        if proposed is None:
            continue
        attempt = advocate.attempt(Composition({}), None, "", proposed.evaluated)
        if not math.isfinite(attempt.criterion):
            continue
        gain = proposed.advantage
        found.append(
            SuccessorSubmitted(
                source=context.artifacts.put(proposed.source.encode()),
                author=CONDITIONS,
                parents=(leader.digest,) if base is leader else (),
                change=f"{proposed.change.in_words} ({gain.value:+.4f} nats per choice of held-out participants)",
                criterion=attempt.criterion,
            )
        )
    return tuple(found)


def _starts(evidence: RunEvidence, diagnosis: Diagnosis) -> tuple[SearchStart, ...]:
    """Leader and loser, each with its advocate, and what came out best of the last search."""
    starts = []
    for name in dict.fromkeys((diagnosis.leader, diagnosis.loser)):
        literal = evidence.theory(name).composition
        if literal is not None:
            starts.append(SearchStart(name, composition_of(literal, {})))
    if evidence.state.theories.searches:
        attempts = evidence.artifacts.get_json(evidence.state.theories.searches[-1].record.attempts)
        for attempt in attempts[:KEPT]:
            if not attempt["error"]:
                composition = composition_of(attempt["composition"], {})
                starts.append(SearchStart(attempt["parent"], composition, attempt["change"]))
    return tuple(starts)


def _record(
    context: StepContext,
    cycle: int,
    proposal: SearchProposal,
    further: Sequence[SuccessorSubmitted],
) -> SearchFinished:
    attempts = [
        {
            "composition": attempt.composition.to_literal(),
            "parent": attempt.parent,
            "change": attempt.change,
            "criterion": None if attempt.evaluated is None else attempt.criterion,
            "error": attempt.error,
        }
        for attempt in proposal.attempts
    ]
    submissions = []
    for attempt in proposal.submitted:
        if attempt.evaluated is None:
            continue
        program = attempt.evaluated.theory.program
        submissions.append(
            SuccessorSubmitted(
                source=context.artifacts.put(program.source.encode()),
                author=program.author,
                parents=program.parents,
                change=attempt.change,
                criterion=attempt.criterion,
            )
        )
    return SearchFinished(
        cycle=cycle,
        attempts=context.artifacts.put_json(attempts),
        n_attempts=len(attempts),
        submissions=(*submissions, *further),
        unspent=proposal.unspent,
        path=_path(context, proposal),
    )


def _path(context: StepContext, proposal: SearchProposal) -> tuple[SizeOnPath, ...]:
    """The best theories of every size, with their sources."""
    path = size_path(proposal.sizes)
    chosen = smallest_near_best(path)
    found = []
    for item in path:
        evaluated = item.attempt.evaluated
        assert evaluated is not None
        found.append(
            SizeOnPath(
                n_clauses=item.n_clauses,
                source=context.artifacts.put(evaluated.theory.program.source.encode()),
                claim=evaluated.theory.claim,
                score=item.score.value,
                score_error=item.score.standard_error,
                behind=item.behind.value,
                behind_error=item.behind.standard_error,
                chosen=item is chosen,
            )
        )
    return tuple(found)

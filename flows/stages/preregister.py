"""Stage: freeze what every rival predicts, the exclusion rules and the analysis, before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.conditions import CONDITION
from lakatos.experiments.design import design_from_json
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.participants.model_words import words_of_missing_answers
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.timed import grid_words
from lakatos.experiments.preregistration import Preregistration, summarise_design
from lakatos.experiments.record import DesignChosen
from lakatos.experiments.task import Design, Domain
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.engine.fitting.known_people import depends
from lakatos.theories.language.dependence import OwnCenter
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[Any]
CONFIRMATION = "confirmation"
"""Name of the experiment that tests the winner's own predictions."""


@task(name="preregister")
async def preregister(
    run: Run, cycle: int, chosen: Recorded[DesignChosen]
) -> Recorded[Preregistration]:
    """Freeze every rival's predictions for every trial, the exclusion rules and the analysis."""
    run.progress.stage(
        cycle, "freeze predictions", f"experiment {experiment_in_words(chosen.record.experiment)}"
    )
    inputs = [chosen.digest, *(item.digest for item in run.state.theories.pool.values())]
    inputs += [item.digest for item in run.state.experiments.collected.values()]
    inputs += run.state.theories.fit_records(run.state.theories.pool)
    return await run.step(
        "preregister",
        lambda context: freeze_predictions(run.evidence, context, chosen.record),
        returns=Preregistration,
        inputs=inputs,
        position={"cycle": cycle, "experiment": chosen.record.experiment},
    )


def freeze_predictions(
    evidence: RunEvidence, context: StepContext, chosen: DesignChosen
) -> Preregistration:
    """Freeze proportions with 95% intervals, and who their people are, of all theories in the pool."""
    plan = design_from_json(context.artifacts.get_json(chosen.design))
    names = list(evidence.state.theories.pool)
    theories = [evidence.theory(name) for name in names]
    n_draws = evidence.config.theories.draws
    answers = evidence.laboratory.answers_of(theories, [plan.stimuli], n_draws)
    # Of responses that were there before, a trial has fewer than there are people.
    n_each = plan.n_participants
    if chosen.n_answers:
        n_each = min(max(round(chosen.n_answers / len(plan.stimuli)), 1), n_each)
    arrays: dict[str, Array] = {}
    for theory, name, (answer,) in zip(theories, names, answers, strict=True):
        shares = answer.mean(axis=0)
        if name in evidence.state.theories.fits and theory.priors:
            people = [(prior.center, prior.spread) for prior in theory.priors.values()]
            arrays[f"{name}:people"] = np.array(people)
            arrays |= {
                f"{name}:center:{key}": prior.own.as_array
                for key, prior in theory.priors.items()
                if prior.own is not None
            }
        arrays[f"{name}:proportions"] = with_interval(shares[:, -1], n_each)
        if shares.shape[1] > 2:
            arrays[f"{name}:shares"] = with_interval(shares, n_each)
    return Preregistration(
        experiment=chosen.experiment,
        design=chosen.design,
        design_summary=summarise_design(plan, chosen.n_answers, is_exhaustive=chosen.is_exhaustive),
        rivals={name: evidence.state.theories.name(name) for name in names},
        predictions=context.artifacts.put_arrays(arrays),
        n_draws=n_draws,
        n_participants=plan.n_participants,
        exclusion_rules=words_of_missing_answers(
            evidence.config.participants.model, sequential=evidence.domain.sequential
        )
        + (evidence.config.exclusions.words if evidence.config.source.one_by_one else ())
        + _words_of_times(evidence.config, evidence.domain),
        powers=chosen.powers,
        analysis=ANALYSIS
        + (f" {DEPENDENCES}" if any(depends(item.priors) for item in theories) else "")
        + (f" {_rules_of(evidence)} {chosen.groups}" if chosen.groups else "")
        + (
            confirmation_text(*map(evidence.state.theories.name, chosen.rivals))
            if chosen.experiment == CONFIRMATION
            else ""
        ),
        stopping_rule=_stopping_rule(evidence.config, chosen, plan),
    )


def _stopping_rule(config: CampaignConfig, chosen: DesignChosen, plan: Design) -> str:
    """State when collection of an experiment ends, and when no further experiment follows."""
    own = chosen.stopping or _fixed_sample(chosen, plan)
    if chosen.experiment == CONFIRMATION:
        return own
    return f"{own}; {config.stop.words(is_archive=config.source.is_archive)}"


def _fixed_sample(chosen: DesignChosen, plan: Design) -> str:
    """State how many responses there will be, where nothing ends collection early."""
    if chosen.n_answers:
        return f"all {chosen.n_answers:,} existing responses to these trials, of {plan.n_participants} participants"
    return (
        f"fixed sample: {plan.n_participants} participants, {plan.n_presentations} responses each"
    )


def _words_of_times(config: CampaignConfig, domain: Domain) -> tuple[str, ...]:
    """The treatment of times outside the bins, in tasks with response times."""
    task = timed_task(domain)
    if task is None or not config.source.one_by_one:
        return ()
    off_grid = config.page.timed.off_grid if config.source.on_page else "left_out"
    return (grid_words(task, off_grid),)


def frozen_theory(evidence: RunEvidence, name: Digest, frozen: Mapping[str, Array]) -> Theory:
    """A theory of the people whom a preregistration froze; of the declared ones where nobody had answered yet."""
    form = evidence.form(name)
    people = frozen.get(f"{name}:people", ())
    own = zip(form.priors.items(), people, strict=False)

    def learned(key: str, prior: Prior, values: Array) -> Prior:
        center = frozen.get(f"{name}:center:{key}")
        known = None if center is None else OwnCenter.from_array(center)
        return replace(prior.narrowed(*map(float, values)), own=known)

    return form.with_people(
        {
            key: learned(key, prior, values)
            for (key, prior), values in own
            if not np.isnan(values).any()  # no trial that was asked before depended on it
        }
    )


def with_interval(shares: Array, n_participants: int) -> Array:
    """``(3, *shares.shape)`` shares, and the ends of the range that holds those of so many people in 95% of samples."""
    standard_error = np.sqrt(np.maximum(shares * (1 - shares), 1e-12) / n_participants)
    return np.stack([shares, shares - 2 * standard_error, shares + 2 * standard_error]).clip(0, 1)


ANALYSIS = (
    "Each theory is scored by the log predictive probability of all responses in nats per choice, integrated "
    "over the population of parameters frozen here; this decides what counts as a test. Populations learned "
    "from the other experiments are scored beside it and rank the theories for the search. Theories are tied if "
    "the 95% interval of their paired difference, clustered by participant, includes zero (Student's t, two standard "
    f"errors at least), or if it is based on fewer than {LEAST_UNITS} participants."
)
"""Rule by which responses decide between theories."""


DEPENDENCES = (
    "In some theories parameters depend on known attributes of participants. The responses of each participant are "
    "then scored with the population of the same attributes, by the effects frozen here; frozen shares refer to all "
    "participants."
)
"""Rule by which responses of people with known attributes count, where a theory depends on these."""


GROUPS = (
    "Groups of participants are compared at the end, with the leading theories. They differ in a parameter if the 95% "
    "interval of the difference excludes 0 and the permutation test (group labels exchanged among the participants of "
    "an experiment; largest statistic over all parameters and groups) has p of at most 0.05."
)
"""Rule by which responses decide between groups, where a study compares some."""
EFFECTS = (
    "Effects of attributes of participants are estimated at the end, with the leading theories. A parameter depends on "
    "an attribute if the 95% interval of its change excludes 0 and the permutation test (values exchanged among the "
    "participants of an experiment; largest statistic over all parameters) has p of at most 0.05."
)
"""Rule by which responses decide on effects, where a study tests some."""


EFFECTS_WITHIN = (
    "Effects of conditions within participants are estimated at the end, with the leading theories. A parameter "
    "depends on a condition if the 95% interval of its change excludes 0 and the permutation test (labels of the "
    "conditions exchanged within participants; largest statistic over all parameters) has p of at most 0.05."
)
"""Rule by which responses decide on effects of conditions within participants."""


def _rules_of(evidence: RunEvidence) -> str:
    """The rules by which the study compares people."""
    settings = evidence.config.validation
    effects = (
        EFFECTS_WITHIN if settings.effects == CONDITION and evidence.config.conditions else EFFECTS
    )
    rules = (GROUPS if settings.groups else "", effects if settings.effects else "")
    return " ".join(rule for rule in rules if rule)


def confirmation_text(winner: str, rival: str) -> str:
    """The criterion of a confirmation, in words."""
    return (
        f" This is a confirmation of {winner}: it is confirmed if the 95% interval of its advantage over {rival}, in "
        "nats per choice under the populations frozen here, lies above 0, refuted if it lies below 0, and else open."
    )

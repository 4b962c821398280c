"""Input of a diagnosis: predictions of theories for every experiment, and features of its trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.experiments.subset import some_people
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.diagnosis import TheoryPredictions, TrialFeatures
from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.scoring.score import learn_population
from lakatos.traces.digest import Digest, digest_of

MOST_CELLS = 2**20
"""People times trials of all experiments that are looked at; of more, people drawn by lot."""


def predictions_of(evidence: TheoryEvidence, names: Sequence[Digest]) -> list[TheoryPredictions]:
    """Predict every experiment by theories with the people whom all open responses show.

    Replicas of everybody's responses to everything would take hours for tens of thousands of people, and show nothing
    that some thousands do not.
    """
    everything = [evidence.trials(name) for name in evidence.experiments.collected]
    trials = _few_enough(everything)
    n_left_out = sum(item.n_participants for item in everything)
    n_left_out -= sum(item.n_participants for item in trials)
    theories = [evidence.theory(name) for name in names]
    predicted = evidence.laboratory.evidence_of(theories, trials, evidence.terms.n_draws)
    return [
        TheoryPredictions(
            name,
            evidence.theories.name(name),
            learn_population(own),
            own,
            tuple(evidence.theories.score_records([name], evidence.experiments.collected)),
            n_left_out,
        )
        for name, own in zip(names, predicted, strict=True)
    ]


def _few_enough(trials: Sequence[Trials]) -> Sequence[Trials]:
    """All responses, or those of as many people drawn by lot as `MOST_CELLS` allows; always the same ones."""
    n_cells = sum(0 if item.pooled else item.n_participants * len(item.stimuli) for item in trials)
    if n_cells <= MOST_CELLS:
        return trials
    n_answers = sum(len(item.trial) for item in trials)
    rng = np.random.default_rng(int(digest_of([item.digest for item in trials])[:16], 16))
    return some_people(trials, round(n_answers * MOST_CELLS / n_cells), rng)


def features_of_trials(evidence: TheoryEvidence) -> list[TrialFeatures]:
    """Describe the trials of each experiment by features, with the record of its responses."""
    return [
        TrialFeatures(evidence.domain.features(evidence.trials(name).stimuli), (collected.digest,))
        for name, collected in evidence.experiments.collected.items()
    ]

"""What a diagnosis looks at: what theories say of every experiment, and what describes its trials."""

from __future__ import annotations

from collections.abc import Sequence

from lakatos.theories.diagnosis import TheoryPredictions, TrialFeatures
from lakatos.theories.evidence import TheoryEvidence
from lakatos.theories.scoring.score import learn_population
from lakatos.traces.digest import Digest


def predictions_of(evidence: TheoryEvidence, names: Sequence[Digest]) -> list[TheoryPredictions]:
    """What theories, with the people whom all open answers show, say of every experiment."""
    trials = [evidence.trials(name) for name in evidence.experiments.collected]
    theories = [evidence.theory(name) for name in names]
    said = evidence.laboratory.evidence_of(theories, trials, evidence.terms.n_draws)
    return [
        TheoryPredictions(
            name,
            evidence.theories.name(name),
            learn_population(own),
            own,
            tuple(evidence.theories.score_records([name], evidence.experiments.collected)),
        )
        for name, own in zip(names, said, strict=True)
    ]


def features_of_trials(evidence: TheoryEvidence) -> list[TrialFeatures]:
    """What describes the trials of each experiment, with the record of its answers."""
    return [
        TrialFeatures(evidence.domain.features(evidence.trials(name).stimuli), (collected.digest,))
        for name, collected in evidence.experiments.collected.items()
    ]

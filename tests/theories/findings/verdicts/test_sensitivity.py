"""The verdict without exclusions: experiments with excluded participants are scored anew, others are not."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.engine.scoring.score import log_predictive, mean_over_units, paired_difference
from lakatos.theories.findings.verdicts.sensitivity import without_exclusions

EXPERIMENTS = ("1.1", "2.1")


def test_where_nobody_was_excluded_nothing_changes(evidence: TheoryEvidence) -> None:
    """Populations were not estimated in this campaign, so that scoring again gives what was recorded."""
    leader, rival, *_ = names = [line.theory for line in evidence.board().standings]
    tables = {name: evidence.trials(name) for name in EXPERIMENTS}
    found = without_exclusions(evidence, names, tables, 0)
    assert (found.leader, found.rival, found.experiments) == (leader, rival, EXPERIMENTS)
    assert found.scores_without == pytest.approx(found.scores)
    assert found.advantage_without == pytest.approx(found.advantage)
    assert found.interval_without == pytest.approx(found.interval)
    scores = evidence.theories.scores
    own, other = (
        [scores[name, item].record.left_out.scores for item in EXPERIMENTS]
        for name in (leader, rival)
    )
    assert found.advantage == paired_difference(own, other).value
    means = [mean_over_units(item).value for item in own]
    assert found.scores[leader] == pytest.approx(np.mean(means))


def test_only_the_experiment_with_excluded_participants_is_scored_anew(
    evidence: TheoryEvidence,
) -> None:
    names = [line.theory for line in evidence.board().standings][:2]
    table = evidence.trials("2.1")
    table = table.of_people(np.arange(table.n_participants) < 12)
    found = without_exclusions(evidence, names, {"2.1": table}, 3)
    assert (found.experiments, found.n_excluded) == (("2.1",), 3)
    for name in names:
        (fresh,) = evidence.laboratory.evidence(
            evidence.theory(name), [table], evidence.terms.n_draws
        )
        kept = evidence.theories.scores[name, "1.1"].record.left_out.scores
        means = [mean_over_units(item).value for item in (kept, log_predictive(fresh))]
        assert found.scores_without[name] == pytest.approx(np.mean(means))
        assert found.scores_without[name] != pytest.approx(found.scores[name], abs=1e-9)
    best = max(names, key=found.scores_without.__getitem__)
    assert found.leader_without == best

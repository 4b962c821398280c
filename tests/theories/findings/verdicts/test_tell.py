"""What theories are called at the verdict, and which clauses of the leader hold on the presented trials."""

from __future__ import annotations

from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.findings.verdicts.tell import lacking_trials, tell_of
from lakatos.theories.language.account import Wording


def test_the_first_of_the_rivals_is_told_as_the_leader(evidence: TheoryEvidence) -> None:
    names = [line.theory for line in evidence.board().standings]
    found = tell_of(evidence, names)
    assert found.leader == names[0]
    assert set(found.names) == set(names)
    assert len(set(found.names.values())) == len(names)
    checked = evidence.theories.checked
    published = {name for name in names if checked[name].record.author == "published"}
    assert published <= set(found.published)
    assert all(found.published[name] == checked[name].record.name for name in published)
    # Every clause of the leader was tried, and no clause of another theory.
    assert len(found.tried) >= len(evidence.theory(names[0]).clauses)


def test_a_limit_lies_on_neither_side_of_itself(evidence: TheoryEvidence) -> None:
    """Whether a clause lacks its trials is asked of either side of a limit; the limit belongs to none."""
    stimuli = evidence.trials("1.1").stimuli
    values = evidence.domain.features(stimuli)
    name, column = next((name, item) for name, item in values.items() if item.max() > item.min())
    low, high = float(column.min()), float(column.max())
    needs = [f"{name} < {low}", f"{name} > {high}", f"{name} < {high}", f"{name} > {low}", "no > 0"]
    clauses = [Wording("a", if_presented=need) for need in needs[:3]]
    clauses += [Wording("b", unless_presented=need) for need in needs[3:]]
    lacking = lacking_trials(clauses, evidence.domain, [stimuli])
    assert lacking == {needs[0], needs[1], needs[4]}

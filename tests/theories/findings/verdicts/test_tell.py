"""What theories are called at the verdict, and which clauses of the leader hold on the presented trials."""

from __future__ import annotations

import pytest

from lakatos.theories.engine.evidence import TheoryEvidence
from lakatos.theories.findings.verdicts.tell import lacking_trials, published_twin, tell_of
from lakatos.theories.language.account import Wording
from lakatos.theories.language.theory import TheoryProgram, read_program

SUM = '''"""Sum of reasons: people add up the reasons for each product."""
PARAMETERS = {
    "strictness": {"prior": "log_uniform", "low": 0.1, "high": 200.0, "unit": "log odds", "meaning": "how strictly"},
    "slips": {"prior": "uniform", "low": 0.0, "high": 1.0, "unit": "probability", "meaning": "of slips"},
    "twist": {"prior": "uniform", "low": 0.0, "high": 1.0, "unit": "share", "meaning": "of nothing"},
}
def choose(parameters, trials, xp):
    ratings = trials["ratings"] / trials["rating_max"][:, None, None]
    lead = (trials["validities"] * (ratings[:, 1] - ratings[:, 0])).sum(axis=-1)
    share = 1 / (1 + xp.exp(-xp.clip(parameters["strictness"] * lead, -500.0, 500.0)))
    return (1 - parameters["slips"]) * share + parameters["slips"] / 2 + 0 * parameters["twist"]
'''


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


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (SUM, "Weighted additive"),
        (
            SUM.replace("(ratings[:, 1] - ratings[:, 0])", "(ratings[:, 1] - ratings[:, 0]) ** 3"),
            "",
        ),
    ],
)
def test_a_copy_of_a_published_theory_with_other_names_and_an_idle_part_is_published(
    source: str, title: str, evidence: TheoryEvidence
) -> None:
    assert published_twin(evidence, read_program(TheoryProgram(source, "AutoCog"))) == title

"""Whether people are asked about a candidate: its odds against what asking costs, or a place that costs nothing."""

import pytest

from lakatos.judges.decision import COST, CandidateDecided, decide
from lakatos.judges.judge import Verdict
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of, parse_record

CANDIDATE, INCUMBENT, RECORD = (digest_of(name) for name in ("candidate", "incumbent", "verdict"))


def verdict(probability: float) -> Verdict:
    return Verdict(
        epoch=digest_of("epoch"), candidate=CANDIDATE, incumbent=INCUMBENT, cycle=2, probability=probability,
        opinions={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("probability", "cost", "has_place", "action", "rule"),
    [
        (0.5, COST, False, "verify", "odds"),  # even odds are just worth asking
        (0.49, COST, False, "quit", "odds"),
        (0.49, COST, True, "verify", "place"),
        (0.81, 80.0, True, "verify", "odds"),
        (0.79, 80.0, False, "quit", "odds"),
    ],
)
def test_people_are_asked_where_the_odds_are_worth_it_or_the_next_experiment_has_a_place(
    probability: float, cost: float, has_place: bool, action: str, rule: str
) -> None:
    found = decide(verdict(probability), RECORD, cost, has_place=has_place)
    assert (found.action, found.rule, found.belief) == (action, rule, probability)
    assert (found.verdict, found.candidate, found.cycle) == (RECORD, CANDIDATE, 2)
    assert found.text.startswith({"verify": "chosen for a test: ", "quit": "not tested: "}[action])


def test_a_decision_of_an_earlier_version_is_read_without_what_it_rested_on_besides() -> None:
    body = body_of(decide(verdict(0.3), RECORD, COST, has_place=False)) | {
        "version": 1, "family": "risky", "critics": {}, "heard": {"fit": 2}, "mends": 0.5, "breaks": 0.5,
        "tables": RECORD, "n_lost": 1, "n_won": 2, "values": {"refine": 10.0}, "action": "refine", "rule": "plan",
    }  # fmt: skip
    found = parse_record("candidate_decided", body, {"candidate_decided": CandidateDecided})
    assert isinstance(found, CandidateDecided)
    assert (found.action, found.rule, found.version) == ("refine", "plan", 1)

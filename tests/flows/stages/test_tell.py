"""At the verdict theories are told by what was asked and learned, and known forms are recognised."""

from dataclasses import replace

import numpy as np

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.clause_check import telling_numbers
from lakatos.theories.engine.record import TheoriesTold, TheoryChecked
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.findings.verdicts.conclude import in_new_names
from lakatos.theories.findings.verdicts.tell import lacking_trials, published_forms
from lakatos.theories.language.account import Wording, tell_clause
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.step import Recorded

FAMILY = FAMILIES["multiattribute"]


def test_clauses_about_unlikely_outcomes_lack_trials_where_every_chance_is_a_half() -> None:
    domain = DOMAINS["risky"]
    gambles = domain.candidates({}, np.random.default_rng(2), 20)
    chances = np.zeros_like(gambles["probabilities"])
    chances[..., :2] = 0.5
    even = Stimuli({**gambles.arrays, "probabilities": chances})
    curve = [Wording("overweight the rare", if_presented="rare_outcome < 0.36")]
    assert lacking_trials(curve, domain, [even]) == {"rare_outcome < 0.36"}
    assert not lacking_trials(curve, domain, [even, gambles])
    assert not lacking_trials([Wording("add")], domain, [gambles])


def test_a_composition_with_the_mechanisms_of_a_published_theory_has_its_form() -> None:
    title, known = FAMILY.seeds["diminishing_returns"]
    noisier = Composition({**known.slots, "lapse": ("random",)})
    other = Composition({**known.slots, "accent": ("majority",)})
    forms = [
        read_program(TheoryProgram(FAMILY.grammar.write(item), "grammar"))
        for item in (known, noisier, other)
    ]
    induced = replace(forms[0], composition=None)
    found = published_forms(FAMILY, [*forms, induced])
    assert found[forms[0].digest] == title
    assert forms[2].digest not in found


def test_a_clause_that_only_tells_a_number_is_tried_against_the_far_end_of_its_range() -> None:
    clause = Wording("revise by a share ({rate%})")
    low, high = (Prior("normal", 0.1, 0.9, center, 0.01) for center in (0.2, 0.8))
    ends = []
    for prior in (low, high):
        (tried,) = telling_numbers([tell_clause(clause, {"rate": prior})], {"rate": prior})
        ends.append((tried.wording.parameter, tried.wording.neutral, tried.direction))
    assert ends == [("rate", 0.9, 1), ("rate", 0.1, 1)]
    open_range = {"rate": Prior("uniform", 0.1, 0.9)}
    assert not telling_numbers([tell_clause(clause, open_range)], open_range)


def test_a_text_of_before_the_verdict_has_the_names_that_theories_have_since() -> None:
    def known(theory: str, name: str) -> Recorded[TheoryChecked]:
        record = TheoryChecked(
            theory=theory, passed=True, name=name, claim="", author="x", parents=(), change="",
            cycle=0, n_parameters=1, checks=(), reason="",
        )  # fmt: skip
        return Recorded(record, theory)

    first, second = "a" * 64, "b" * 64
    told = TheoriesTold(
        leader=second, names={second: "Adding with diminishing returns"}, published={}, lacking=(),
        idle=(), refused=(), tried=(),
    )  # fmt: skip
    theories = TheoriesState(
        checked={
            first: known(first, "Adding"),
            second: known(second, "Adding with curved values"),
        },
        told=Recorded(told, first),
    )
    text = in_new_names(theories, "Adding with curved values is ahead of Adding.")
    assert text == "Adding with diminishing returns is ahead of Adding."
    assert theories.both_names(first) == "Adding"
    twins = replace(theories, checked={one: known(one, "Adding") for one in (first, second)})
    text = in_new_names(twins, "Adding (bbbbbb) is ahead of Adding (aaaaaa).")
    assert text == "Adding with diminishing returns is ahead of Adding (aaaaaa)."
    now = "Adding with diminishing returns (named Adding with curved values during the run)"
    assert theories.both_names(second) == now

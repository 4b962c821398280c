"""Planted truths about cues: recovered from simulated responses, and not mistaken for their rivals."""

import numpy as np
import pytest

from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.learning.task import LearningDomain
from lakatos.domains.learning.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive, paired_difference
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = LearningDomain()
PAIRS = {"n_steps": 180, "n_cues": 3, "best": 0.75, "others": 0.25}
KEYS = {"task": "go_nogo", "n_steps": 160, "best": 0.8, "others": 0.2}
SETS = {
    "n_steps": 240, "n_blocks": 5, "n_cues": 6, "fewest_cues": 2, "n_options": 3, "best": 1.0, "others": 0.0,
}  # fmt: skip
PRONOUNCED = {
    "rate": uniform(0.1, 0.4, "share", "x"), "rate_up": uniform(0.3, 0.6, "share", "x"),
    "rate_down": uniform(0.02, 0.15, "share", "x"), "sensitivity": log_uniform(3.0, 8.0, "x", "x"),
    "lapse": uniform(0.0, 0.1, "share", "x"), "go_bias": normal(0.8, 0.3, 2.0, "x", "x"),
    "pavlovian": normal(1.0, 0.2, 2.0, "x", "x"), "loss_weight": log_uniform(2.0, 4.0, "x", "x"),
    "reliance": uniform(0.7, 1.0, "share", "x"), "capacity": uniform(2.0, 4.0, "cues", "x"),
    "decay": uniform(0.02, 0.15, "share", "x"),
}  # fmt: skip
"""Ranges in which what a theory states shows."""
CASES = {
    "pst_gainloss_q": (PAIRS, ("pst_q", "pst_gainloss_q", "win_stay_lose_shift")),
    "gng_pavlovian": (KEYS, ("gng_noise", "gng_bias", "gng_pavlovian")),
    "rlwm": (SETS, ("rescorla_wagner", "pst_q", "rlwm")),
}
"""Of each truth the task, and the theories that are compared."""
N_PEOPLE, N_SEEDS = 20, 20


def people_who_follow(name):
    """A theory with pronounced numbers, as the truth of simulated responses."""
    composition = SEEDS[name][1]
    known = set(GRAMMAR.parameters(composition))
    own = {key: value for key, value in PRONOUNCED.items() if key in known}
    source = GRAMMAR.write(Composition(composition.slots, own), "Hidden")
    return read_program(TheoryProgram(source, "test"))


def scores_of(laboratory, hidden, seed):
    """Log predictive probability of new participants under each theory, fitted to others; and the fitted truth."""
    settings, names = CASES[hidden]
    forms = {name: read_program(FAMILY.program(name)) for name in names}
    rng, truth = np.random.default_rng(seed), people_who_follow(hidden)
    stimuli = DOMAIN.candidates(settings, rng, 1)
    taught, new = laboratory.simulate([truth, truth], stimuli, N_PEOPLE, rng, n_draws=64)
    people = laboratory.people_of(list(forms.values()), [{}] * len(forms), [taught])
    found = {}
    for (name, form), own in zip(forms.items(), people, strict=True):
        evidence = laboratory.evidence(form.with_people(own), [new], 256)[0]
        found[name] = log_predictive(evidence)
    return found, dict(zip(forms, people, strict=True))[hidden]


@pytest.mark.long
@pytest.mark.parametrize("hidden", CASES)
def test_a_planted_truth_leads_and_no_rival_is_clearly_ahead(hidden):
    every, medians = [], []
    with Laboratory(DOMAIN, 1) as laboratory:
        for seed in range(N_SEEDS):
            scores, people = scores_of(laboratory, hidden, seed)
            every.append(scores)
            medians.append(
                {name: prior.quantile(np.array([0.5]))[0] for name, prior in people.items()}
            )
    for name in set(every[0]) - {hidden}:
        pairs = [(own[name], own[hidden]) for own in every]
        n_ahead = sum(paired_difference([one], [other]).interval[0] > 0 for one, other in pairs)
        # at most one of 20 intervals of 95% may exclude 0 on the wrong side, and two by chance
        assert n_ahead <= 2, name
        rivals, truths = zip(*pairs, strict=True)
        assert paired_difference(list(rivals), list(truths)).interval[1] < 0, name
    truth = people_who_follow(hidden)
    for name in set(medians[0]) & {"rate", "rate_up", "go_bias", "pavlovian", "capacity"}:
        known = truth.priors[name].quantile(np.array([0.1, 0.5, 0.9]))
        found = np.array([own[name] for own in medians])
        # a median of 20 has an error of 1.25 standard deviations over their root, and shrinkage adds as much
        error = 1.25 * (known[2] - known[0]) / 2.56 / np.sqrt(N_PEOPLE)
        assert abs(np.median(found) - known[1]) < 3 * error, name

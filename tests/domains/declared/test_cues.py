"""Declared tasks whose steps have cues."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from lakatos.domains.declared.feedback_task import FeedbackDomain
from lakatos.domains.declared.learning_theories import feedback_family
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import StimuliError, TaskFileError, TrialsError
from lakatos.experiments.task import Trials
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox.client import Sandbox
from tests.domains.declared.feedback_tasks import BANDIT, KEYS, changed

DOMAIN = FeedbackDomain(KEYS)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("steps = 24", "steps = 3", "in blocks of 3 steps some of 2 cues come once"),
        ("steps = 24", "steps = 24\nset_sizes = [3]", "set_sizes: 3 of 2 cues"),
        ('go = "press"', 'go = "push"', "feedback.go: 'push' is none of two options"),
        (
            "press = { amounts = [1, 0], chances = [0.8, 0.2] }",
            "",
            "feedback.by_cue.circle: press is missing",
        ),
        ('"black square"', "circle.wait", "by_cue"),
    ],
)
def test_wrong_cues_are_refused(old: str, new: str, words: str) -> None:
    with pytest.raises((TaskFileError, StimuliError), match=re.escape(words)):
        FeedbackDomain(changed(KEYS, (old, new)))


def test_sets_of_cues_belong_to_cues() -> None:
    with pytest.raises((TaskFileError, StimuliError), match="set_sizes belong to outcomes by_cue"):
        FeedbackDomain(changed(BANDIT, ("steps = 24", "steps = 24\nset_sizes = [2]")))


def test_each_step_has_a_cue_which_is_shown_and_told() -> None:
    made = DOMAIN.candidates({}, np.random.default_rng(2), 1)
    DOMAIN.check(made)
    assert sorted(np.bincount(made["cue"].astype(int))) == [12, 12]
    assert set(made["go"]) == {1.0}
    row = int(np.flatnonzero(made["cue"] == 1)[0])
    assert DOMAIN.describe(made, row).startswith(f"step {row + 1}, black square")
    assert ">black square</p>" in DOMAIN.picture(made, row)
    own = made["payoff"][np.arange(24), made["cue"].astype(int)]
    assert (own[made["cue"] == 0] >= 0).all()
    assert (own[made["cue"] == 1] <= 0).all()


def test_blocks_may_have_sets_of_several_sizes() -> None:
    text = changed(KEYS, ("steps = 24", "steps = 24\nblocks = 3\nset_sizes = [1, 2]"))
    made = FeedbackDomain(text).candidates({}, np.random.default_rng(2), 1)
    assert made["set_size"].tolist() == [1] * 8 + [2] * 8 + [1] * 8


def test_only_tasks_with_cues_have_theories_of_them() -> None:
    own, other = feedback_family(DOMAIN), feedback_family(FeedbackDomain(BANDIT))
    added = set(own.seeds) - set(other.seeds)
    assert added == {
        "pst_q", "pst_gainloss_q", "gng_noise", "gng_bias", "gng_pavlovian", "gng_pavlovian_losses", "rlwm",
    }  # fmt: skip
    assert "position" not in {item.slot for item in own.grammar.mechanisms}
    assert not {"bias", "memory", "outcome"} & {slot.name for slot in other.grammar.slots}


def test_go_nogo_with_outcomes_as_shares_is_that_of_hbayesdm() -> None:
    """Amounts from -1 to 1 are shares (r + 1) / 2, so that weights of values are twice those of hBayesDM."""
    rng = np.random.default_rng(1)
    made = DOMAIN.candidates({}, rng, 1)
    response, reward = rng.integers(2, size=24), rng.choice([-1.0, 0.0, 1.0], 24)
    trials = Trials(
        "x", made, np.zeros(24, int), np.arange(24), response, np.ones(24, int),
        feedback={"reward": reward, "next_state": np.zeros(24)},
    )  # fmt: skip
    xi, ep, rho, rho_pun, b, pi = 0.1, 0.25, 3.0, 4.5, -0.6, 0.4
    qv, sv, wanted = np.zeros((2, 2)), np.zeros(2), 0.0
    for c, chosen, r in zip(made["cue"].astype(int), response, reward, strict=True):
        p_go = 1 / (1 + np.exp(-(qv[c, 1] + b + pi * sv[c] - qv[c, 0])))
        p_go = p_go * (1 - xi) + xi / 2
        wanted += np.log(p_go if chosen else 1 - p_go)
        scaled = (rho if r >= 0 else rho_pun) * r
        sv[c] += ep * (scaled - sv[c])
        qv[c, chosen] += ep * (scaled - qv[c, chosen])
    parameters = {
        "lapse": xi, "rate": ep, "value_weight": 2 * rho, "loss_weight": rho_pun / rho, "go_bias": b,
        "pavlovian": 2 * pi * rho,
    }  # fmt: skip
    drawn = {name: np.array([value]) for name, value in parameters.items()}
    source = feedback_family(DOMAIN).program("gng_pavlovian_losses").source
    with Sandbox() as sandbox, sandbox.open_session(source, [], n_options=2) as session:
        found = follow(session, DOMAIN, drawn, trials).log_likelihood
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def test_a_file_names_the_declared_cues() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "participant": np.repeat(["a", "b"], 24),
            "cue": rng.permuted(np.tile(["circle", "black square"], (2, 12)), axis=1).ravel(),
            "choice": rng.choice(["wait", "press"], 48),
            "reward": rng.choice([-1, 0, 1], 48),
        }
    )
    table = table_of_frame("a.csv", frame)
    found = describe_table(table, DOMAIN)
    (trials,) = adopt(table, found.mapping, DOMAIN).trials
    assert (
        trials.stimuli["cue"][trials.trial].tolist()
        == (frame["cue"] == "black square").astype(int).tolist()
    )
    assert trials.response.tolist() == (frame["choice"] == "press").astype(int).tolist()
    wrong = table_of_frame("a.csv", frame.replace({"cue": {"circle": "ring"}}))
    with pytest.raises(TrialsError, match=r"is none of the declared cues circle, black square"):
        adopt(wrong, found.mapping, DOMAIN)

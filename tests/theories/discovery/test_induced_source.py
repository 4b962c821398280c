"""What induction writes runs, whichever score of a vocabulary it is about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.discovery.induction.library import values, vocabulary
from lakatos.theories.discovery.induction.source import ParameterSpread, needed_lines, write_tree
from lakatos.theories.discovery.induction.terms import ChoiceTerm, StateMemory, TermTable, side
from lakatos.theories.discovery.induction.tree import ConstantLeaf, LeadLeaf
from lakatos.theories.engine.sandbox.evaluator import NamedArrays, load
from lakatos.theories.language.option_score import OptionScore, TermVocabulary

ROOT = Path(__file__).resolve().parents[3]
SPACE = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
TASK = ROOT / "studies" / "tasks" / "fairness.toml"
CONSISTENCY = 0.9


def some_trials(domain: Domain) -> Stimuli:
    """Trials with two options of a domain."""
    space = SPACE if domain.name == "multiattribute" else {}
    return domain.candidates(space, np.random.default_rng(1), 30)


def words_for(name: str) -> tuple[TermVocabulary, Stimuli]:
    """A vocabulary, and trials for which it was made."""
    if name == "shapes alone":
        domain: Domain = DeclaredDomain(TASK.read_text("utf-8"))
        shown = some_trials(domain)
        return vocabulary(domain, [shown]), shown
    domain = DOMAINS["multiattribute" if name == "two scales" else name]
    shown = some_trials(domain)
    further = []
    if name == "two scales":
        doubled = {key: shown[key] * 2 for key in ("ratings", "rating_max")}
        further = [Stimuli({**shown.arrays, **doubled})]
    return vocabulary(domain, [shown, *further]), shown


def scores_of(words: TermVocabulary) -> list[OptionScore]:
    """Its scores, and sums of its lists, of which further ones are made."""
    sums = [OptionScore(f"({item.code}).sum(axis=-1)", item.words, 1.0) for item in words.lists]
    return [*words.scores, *words.further, *sums]


def source_of(words: TermVocabulary, score: OptionScore, *, remembers: bool) -> str:
    """A theory by which people take the option with more of a score; perhaps one that remembers something as well."""
    memory = (StateMemory("last", "response[..., 1] - response[..., 0]", "nothing"),)
    code = 'side(lead({0}) + 0.0 * state["last"], xp)' if remembers else "side(lead({0}), xp)"
    term = ChoiceTerm(code, "take more", 1.0, (score,), memory if remembers else ())
    table = TermTable((term,), np.zeros((1, 1), dtype=np.float32))
    node = LeadLeaf(0, CONSISTENCY, ConstantLeaf(0.5))
    source, _ = write_tree(node, table, table, words, "first", ParameterSpread(0.0, 0.01))
    return source


@pytest.mark.parametrize("remembers", [False, True], ids=["forgets", "remembers"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("multiattribute", marks=pytest.mark.slow),
        pytest.param("two scales", marks=pytest.mark.slow),
        "risky",
        "intertemporal",
        "games",
        "shapes alone",
    ],
)
def test_every_score_of_a_vocabulary_runs_as_it_was_counted(name: str, remembers: bool) -> None:
    words, shown = words_for(name)
    assert scores_of(words)
    for score in scores_of(words):
        program = load(source_of(words, score, remembers=remembers))
        parameters = {"lapse": np.zeros((1, 1)), "consistency_1": np.full((1, 1), CONSISTENCY)}
        state = {"last": np.zeros((1, len(shown)))}
        arguments = (parameters, NamedArrays(shown.arrays), np)
        with np.errstate(all="ignore"):
            found = program.choose(*arguments, state) if remembers else program.choose(*arguments)
        (counted,) = values(words, [score.code], shown)
        towards = side(counted[:, 1] - counted[:, 0])
        expected = np.where(towards == 0, 0.5, np.where(towards > 0, CONSISTENCY, 1 - CONSISTENCY))
        np.testing.assert_allclose(
            np.broadcast_to(found, (1, len(expected)))[0], expected, err_msg=score.code
        )


def test_lines_are_kept_that_other_lines_need() -> None:
    prelude = "a, b = one, two\nc = a + 1\nd = c * 2\nd = d / b\ne = d\nf = 3"
    assert needed_lines(prelude, "d > 0") == prelude.splitlines()[:4]
    assert needed_lines(prelude, "f + 1") == ["f = 3"]
    assert needed_lines(prelude, "0") == []


def test_a_line_that_is_overwritten_before_it_is_used_is_left_out() -> None:
    assert needed_lines("a = 1\na = 2", "a") == ["a = 2"]
    assert needed_lines("a = 1\na = a + 2", "a") == ["a = 1", "a = a + 2"]

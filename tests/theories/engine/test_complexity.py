"""How simple theories are, which can be read, and which texts are one theory."""

import pytest

from lakatos.domains import FAMILIES
from lakatos.theories.engine.checks.complexity import (
    code_length,
    decision_rank,
    form_of_source,
    why_unreadable,
)
from lakatos.theories.language.theory import TheoryProgram, read_program

HEAD = '"""{}: {}."""\nPARAMETERS = {{"k": {{"prior": "uniform", "low": {}, "high": 2.0}}}}\n'


def source(body, name="T", claim="people do", low=0.0):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return HEAD.format(name, claim, low) + f"def choose(parameters, trials, xp):\n{lines}"


PLAIN = "x = trials['outcomes'].sum(axis=-1)\nreturn 1 / (1 + xp.exp(-parameters['k'] * (x[:, 1] - x[:, 0])))"


TREE = """z = trials['outcomes'].sum(axis=(1, 2))
a = {inner}
one = xp.where(z > 2, a, {inner})
other = xp.where(z > 3, {inner}, a)
return xp.where(z > 4, one, other)"""
FOLLOWED = """
def follow(direction, otherwise, consistency, xp):
    followed = xp.where(direction > 0, consistency, 1 - consistency)
    return xp.where(direction == 0, otherwise, followed)


def best_of(score, allowed, xp):
    return allowed * (score >= xp.where(allowed > 0, score, -1e9).max(axis=-1)[..., None])


def share(within, best, allowed, xp):
    others = allowed - best
    number = others.sum(axis=-1)[..., None]
    return xp.where(number > 0, within + others / xp.maximum(number, 1.0), within)

"""


def test_names_words_and_ranges_make_no_other_theory_and_other_code_does():
    assert form_of_source(source(PLAIN)) == form_of_source(
        source(PLAIN, "Another", "they are said to", 0.5)
    )
    assert form_of_source(source(PLAIN)) != form_of_source(
        source(PLAIN.replace("-parameters", "-2 * parameters"))
    )


def test_what_is_never_used_costs_nothing_and_what_is_used_does():
    unused = "y = trials['probabilities'] * 3 + 1\n"
    assert code_length(source(unused + PLAIN)) == code_length(source(PLAIN))
    assert (
        code_length(source(PLAIN.replace("[:, 0]", "[:, 0] + 0.1 * x[:, 1]")))
        == code_length(source(PLAIN)) + 6
    )


@pytest.mark.slow
@pytest.mark.parametrize("domain", FAMILIES)
def test_a_mechanism_more_is_a_longer_code_where_something_depends_on_it(domain):
    grammar = FAMILIES[domain].grammar
    seeds = {name: seed for name, seed in FAMILIES[domain].seeds.items() if name != "random"}
    for name, (title, composition) in list(seeds.items())[:3]:
        plain = code_length(grammar.write(composition, title))
        added = [edit for words, edit in grammar.edits(composition) if words.startswith("add ")]
        assert all(code_length(grammar.write(edit, title)) > plain for edit in added), name


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (PLAIN, ""),
        ("x, q = trials['outcomes'], trials['probabilities']\nreturn (x * q).sum(axis=(1, 2))", ""),
        ("gain = trials['amounts'][:, 1]\nreturn gain - 0.5 * trials['delays_days'][:, 1]", ""),
        ("q = trials['probabilities'].max(axis=-1)\nreturn q[:, 0] > xp.argmax(trials['outcomes'], axis=-1)[:, 0]",
         "it mixes units: a probability is added to or compared with a place in a list"),
        ("x, q = trials['outcomes'], trials['probabilities']\nreturn xp.abs(x).max(axis=-1) - q.min(axis=-1)",
         "it mixes units: an amount is added to or compared with a probability"),
        ("a = xp.where(parameters['k'] > 1, 0.1, 0.2)\nb = xp.where(parameters['k'] > 0.5, a, 0.3)\nreturn b", ""),
        ("a = xp.where(parameters['k'] > 1, 0.1, 0.2)\nb = xp.where(parameters['k'] > 0.5, a, 0.3)\n"
         "return xp.where(parameters['k'] > 0.2, b, 0.4)", ""),
        (TREE.format(inner="xp.where(z > 1, 0.1, 0.2)"), "it nests 3 conditions"),
        (TREE.format(inner="0.5 * z"), ""),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(body, reason):
    found = why_unreadable(read_program(TheoryProgram(source(body), "somebody")))
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("body", "rank"),
    [
        ("d = trials['outcomes'][:, 0, 0]\nreturn follow(d, 0.5, 0.9, xp)", 1),
        ("d = trials['outcomes'][:, 0, 0]\nreturn follow(d, follow(-d, follow(d, 0.5, 0.8, xp), 0.9, xp), 1.0, xp)", 1),
        ("d = trials['outcomes'][:, 0, 0]\nreturn xp.where(d > 3, follow(d, 0.5, 1, xp), follow(-d, 0.5, 1, xp))", 2),
        ("allowed = trials['available']\nscore = 1.0 * allowed\nfirst = best_of(score, allowed, xp)\n"
         "return share(first, first, allowed, xp)", 0),
        ("allowed = trials['available']\nx = trials['outcomes'].sum(axis=-1)\nfirst = best_of(x, allowed, xp)\n"
         "second = share(first, best_of(-x, allowed, xp), allowed, xp)\n"
         "return xp.where((x[:, 0] > 2)[:, None], first, second)", 1),
    ],
)  # fmt: skip
def test_ties_sides_and_the_layout_of_trials_are_no_conditions(body, rank):
    text = source(body)
    text = text.replace("def choose", FOLLOWED + "\ndef choose")
    assert decision_rank(text) == rank


def test_an_argument_by_name_is_followed():
    called = "d = trials['outcomes'][:, 0, 0]\nreturn follow(xp=xp, direction=d, otherwise=0.5, consistency=0.9)"
    assert decision_rank(source(called).replace("def choose", FOLLOWED + "\ndef choose")) == 1

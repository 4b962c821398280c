"""Rules that were induced are stated in English: conditions first, ties last, and both sides of each term."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.theories.discovery.induction.induce import _with_names
from lakatos.theories.discovery.induction.lesson_source import _noun
from lakatos.theories.discovery.induction.phrase import at_cut, superlatives
from lakatos.theories.discovery.induction.source import (
    rule_clauses,
    rule_words,
    sum_claim,
    sum_clauses,
    weighed_clause,
    weighing_title,
)
from lakatos.theories.discovery.induction.terms import ChoiceTerm, TermTable, option_with
from lakatos.theories.discovery.induction.tree import ConstantLeaf, LeadLeaf, Node, SplitNode
from lakatos.theories.language.account import tell_clause
from lakatos.theories.language.option_score import OptionScore
from lakatos.theories.language.prior import Prior

GUESS = ConstantLeaf(0.5)
OFTEN = "in 80% of cases and the other one in the rest"
LEADS = TermTable(
    (
        ChoiceTerm("a", "take more", 1.0, opposite="take less"),
        ChoiceTerm("b", "take early", 1.0, opposite="take late"),
    ),
    np.zeros((2, 1), dtype=np.float32),
)
GATES = TermTable(
    (ChoiceTerm("c", "both are high", 1.0), ChoiceTerm("d", "both are near", 1.0)),
    np.zeros((2, 1), dtype=np.float32),
)
MORE, EARLY = LeadLeaf(0, 1.0, GUESS), LeadLeaf(1, 1.0, GUESS)
FIRST = "follow the first of these rules that applies: "


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (MORE, ["take more", "guess at ties"]),
        (LeadLeaf(0, 0.2, ConstantLeaf(1.0)), [f"take less {OFTEN}, or at ties choose B"]),
        (LeadLeaf(0, 1.0, EARLY), ["take more, or at ties take early", "guess at ties"]),
        (
            SplitNode(0, MORE, ConstantLeaf(0.0)),
            ["take more if both are high, and otherwise choose A", "guess at ties"],
        ),
        (
            SplitNode(0, SplitNode(1, ConstantLeaf(0.8), GUESS), GUESS),
            [f"choose B {OFTEN}, if both are high and both are near, and otherwise guess"],
        ),
        (SplitNode(0, MORE, GUESS), ["take more if both are high, and otherwise guess"]),
        (
            SplitNode(0, MORE, SplitNode(1, EARLY, ConstantLeaf(0.0))),
            [FIRST + "(1) if both are high, take more; (2) if both are near, take early; (3) otherwise, choose A",
             "guess at ties"],
        ),
    ],
)  # fmt: skip
def test_a_rule_list_states_each_condition_before_what_is_done(node: Node, words: list[str]):
    assert rule_words(node, LEADS, GATES) == words


@pytest.mark.parametrize(
    ("code", "words", "greater", "smaller"),
    [
        ("x", "mean rating", "the product with the higher mean rating", "the product with the lower mean rating"),
        ("x", "total, weighted by validity", "the product whose total, weighted by validity, is higher",
         "the product whose total, weighted by validity, is lower"),
        ("x", "worst outcome", "the product whose worst outcome is better", "the product whose worst outcome is worse"),
        ("x", "delay", "the product with the longer delay", "the product with the shorter delay"),
        ("x", "log amount minus log delay", "the product with the larger log amount minus log delay",
         "the product with the smaller log amount minus log delay"),
        ("x", "mean payoff, minus 2 times the range of payoffs",
         "the product whose mean payoff, minus 2 times the range of payoffs, is higher",
         "the product whose mean payoff, minus 2 times the range of payoffs, is lower"),
        ("x", "number of outcomes", "the product with more outcomes", "the product with fewer outcomes"),
        ("x", "highest rating", "the product whose highest rating is higher",
         "the product whose highest rating is lower"),
        ("x", "closeness of the total to 8.334", "the product whose total is closer to 8.3",
         "the product whose total is further from 8.3"),
        ("x", "closeness of the ratings to 2, weighted by validity",
         "the product whose ratings are closer to 2, weighted by validity",
         "the product whose ratings are further from 2, weighted by validity"),
        ("x", "oddness of the number of zeros", "the product with the odd number of zeros",
         "the product with the even number of zeros"),
        ("x >= 3", "a top rating", "the product with a top rating", "the product without a top rating"),
        ("x > y", "being better", "the product being better", "the product not being better"),
    ],
)  # fmt: skip
def test_both_sides_of_a_comparison_are_english(code, words, greater, smaller):
    score = OptionScore(code, words, 1.0)
    assert (option_with(score, more=True), option_with(score, more=False)) == (greater, smaller)


@pytest.mark.parametrize(
    ("words", "cut", "whole", "stated"),
    [
        ("the total is above {cut}", 5.5, False, "the total is above 5.5"),
        ("the total is above {cut}", 5.5, True, "the total is at least 6"),
        ("they differ by more than {cut}", 2.0, True, "they differ by more than 2"),
        ("it is above {cut}", 0.03333, False, "it is above 0.033"),
        ("it is above {cut}", 128.5, False, "it is above 130"),
        ("the amounts differ by more than {percent} of the smaller one", 0.3, False,
         "the amounts differ by more than 30% of the smaller one"),
    ],
)  # fmt: skip
def test_thresholds_have_two_digits_and_whole_numbers_reach_the_next(words, cut, whole, stated):
    assert at_cut(words, cut, whole=whole) == stated


def test_two_options_are_called_what_the_domain_calls_them():
    text = "if the delay of A is above 3, take B, and otherwise choose A"
    assert _with_names("option", ("sooner", "later"), text) == (
        "if the delay of the sooner option is above 3, take the later option, "
        "and otherwise choose the sooner option"
    )
    assert _with_names("gamble", ("A", "B"), "choose A among products") == (
        "choose gamble A among gambles"
    )


def test_a_sum_states_each_tendency_and_says_only_of_several_that_they_add_up():
    gate = GATES.items[0]
    clauses = [
        weighed_clause("one", 1.0, LEADS.items[0], gate),
        weighed_clause("two", 1.0, LEADS.items[1], None),
    ]
    one, two = (
        Prior("normal", -4, 4, center, 1.0, doubt=0.1) if center == 0.5 else Prior("normal", -4, 4, center, 0.01)
        for center in (-1.0, 0.5)
    )  # fmt: skip
    priors = {"one": one, "two": two}
    assert tell_clause(clauses[0], priors).text == "tend to take less if both are high"
    assert tell_clause(clauses[1], priors).text == (
        "most people (69%, 95% interval 58% to 79%) tend to take early, and others to do the opposite"
    )
    *_, added = sum_clauses(clauses)
    assert (added.clause, added.taken_for_granted) == ("add up these tendencies", True)
    assert sum_clauses(clauses[:1]) == clauses[:1]
    assert sum_claim(["take more", "take early"]) == (
        "people tend to take more; to take early; they add up these tendencies."
    )


def test_superlatives_fit_the_noun():
    assert superlatives("contract length") == ("longest", "shortest")
    assert superlatives("amount") == ("largest", "smallest")
    assert superlatives("price") == ("highest", "lowest")
    assert superlatives("worst outcome") == ("best", "worst")


def test_random_choices_are_apart_from_how_consistently_a_rule_is_followed():
    stated = [wording.clause for wording in rule_clauses(["take less"])]
    assert stated == [
        "take less",
        "choose at random {lapse~}",
    ]


def test_a_sum_of_reasons_is_named_by_what_its_first_reasons_are_about() -> None:
    assert weighing_title(["learned value (learning rate 35%)"]) == "Weighing learned value"
    assert weighing_title(["learned value (learning rate 35%)", "last choice"]) == (
        "Weighing learned value and last choice"
    )
    assert weighing_title(["a price", "price"]) == "Weighing price"
    long = "surplus of wins over losses since the last switch to it"
    assert weighing_title(["last outcome", long]) == "Weighing last outcome"
    assert weighing_title([long]) == weighing_title([]) == "Weighed reasons"


@pytest.mark.parametrize(
    ("words", "noun"),
    [
        ("having won last, or not lost", "last choice"),
        ("not having lost last", "last choice"),
        ("merit of doing with it what has the better outcome the last time", "gain from switching"),
        ("at least 2 wins in a row", "number of wins in a row"),
        ("learned value (learning rate 35%)", "learned value (learning rate 35%)"),
    ],
)
def test_an_option_is_compared_by_a_noun(words: str, noun: str) -> None:
    assert _noun(words) == noun

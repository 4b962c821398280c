"""What a theory says follows its numbers: the side, the strength, the share of people, the limit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.theories.errors import TheorySourceError
from lakatos.theories.language.account import (
    Wording,
    account_of,
    declared_title,
    general_clause,
    is_as_declared,
    names_held_back,
    read_clauses,
    tell_clause,
    true_title,
)
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import Prior, parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program

PULL = Wording(
    "{much}like it", parameter="pull", opposite_clause="{much}dislike it", unit=0.5, label="liking"
)


DOUBT = 0.15
"""Standard error of the logarithm of a spread that 22 people taught, known without error."""


def learned(
    center: float, spread: float = 0.01, low: float = -4.0, high: float = 4.0, doubt: float = DOUBT
) -> Prior:
    return Prior("normal", low, high, center, spread, doubt=doubt)


@pytest.mark.parametrize(
    ("center", "words"),
    [
        (0.02, "hardly like it"),
        (0.2, "like it"),
        (0.7, "like it"),
        (1.5, "like it"),
        (-0.2, "dislike it"),
        (-1.5, "dislike it"),
    ],
)
def test_sign_and_size_choose_the_words(center, words):
    assert tell_clause(PULL, {"pull": learned(center)}).text == words


def test_where_people_differ_in_sign_their_share_is_told_but_not_where_they_cannot_be_told_apart():
    priors = {"pull": learned(0.45, 1.0)}  # 67% lie above 0
    assert tell_clause(PULL, priors).text == (
        "most people (67%, 95% interval 50% to 82%) like it, and others dislike it"
    )
    assert tell_clause(PULL, priors, pooled=True).text == (
        "the data do not show whether people like it or dislike it"
    )


def test_people_are_divided_only_where_their_answers_show_that_they_differ():
    def told(doubt: float) -> str:
        return tell_clause(PULL, {"pull": learned(0.45, 1.0, doubt=doubt)}).text

    assert told(0.15).startswith("most people (67%, 95% interval 50% to 82%) like it")
    assert told(0.05).startswith("most people (67%, 95% interval 62% to 73%) like it")
    assert told(0.6) == "the data do not show whether people like it or dislike it"
    kind = Wording("{who} count", parameter="type")
    doubtful = Prior("normal", -4, 4, -0.45, 1.0, doubt=0.6)
    assert tell_clause(kind, {"type": doubtful}).text == "some people count"


def test_what_no_trial_depends_on_is_kept_apart_and_no_part_of_the_claim():
    idle = Prior("uniform", -4, 4, idle=True)
    told = tell_clause(PULL, {"pull": idle})
    assert (told.text, told.idle, told.direction) == ("like it", True, 0)
    kind = Wording("{who} count", parameter="pull")
    assert tell_clause(kind, {"pull": idle}).text == "some people count"
    account = account_of("Counting", [PULL, Wording("count")], {"pull": idle})
    assert (account.name, account.claim) == ("Counting", "People count.")


def test_a_centre_at_a_limit_is_named_and_leaves_the_claim_as_it_is():
    assert tell_clause(PULL, {"pull": learned(4.0)}).text == "like it"
    assert tell_clause(PULL, {"pull": learned(-4.0)}).text == "dislike it"
    # What the range holds back is not called slight.
    near = learned(0.2, low=-4.0, high=0.2)
    assert tell_clause(PULL, {"pull": near}).text == "like it"
    # Zero is no limit that the declaration draws: nobody has less than nothing of a share.
    share = {"lapse": learned(0.0, 0.1, low=0.0, high=0.4), "gain": learned(2.0, low=0.1, high=2.0)}
    assert names_held_back(share) == ("gain",)


def test_a_centre_at_a_limit_or_a_flat_fit_says_that_people_differ_without_a_share():
    at_a_limit = learned(-0.5, 0.6, low=-0.5, high=2.0)
    flat = learned(0.3, 3.0, low=-2.0, high=2.0)
    texts = [tell_clause(PULL, {"pull": prior}).text for prior in (at_a_limit, flat)]
    assert texts == [
        "people differ: some dislike it, and others like it",
        "people differ: some like it, and others dislike it",
    ]
    inside = learned(0.3, 0.6, low=-2.0, high=2.0)
    assert tell_clause(PULL, {"pull": inside}).text.startswith(
        "most people (69%, 95% interval 52% to 83%) "
    )


def test_the_same_change_after_two_events_is_stated_once() -> None:
    clauses = [Wording("aim higher after each burst"), Wording("aim higher after each collection")]
    assert account_of("Target", clauses, {}).claim == (
        "People aim higher after each burst and after each collection."
    )


def strictness(center: float) -> Prior:
    return Prior("log_normal", 0.1, 200.0, np.log(center), 0.1, unit="log odds per point")


def test_choices_that_nothing_moves_are_called_almost_random():
    """Choice sensitivity has no clause: at its lower bound the claim states it before anything else."""
    rule = Wording("choose the better row")

    def claim(clauses: list[Wording], **priors: Prior) -> str:
        return account_of("Sum", clauses, priors).claim

    weak = "People choose almost at random. As far as they do not, they choose the better row."
    assert claim([rule], sensitivity=strictness(0.1)) == weak
    assert claim([rule], sensitivity=strictness(5.0)) == "People choose the better row."
    declared = Prior("log_uniform", 0.1, 200.0, unit="log odds per point")
    assert claim([rule], sensitivity=declared) == "People choose the better row."
    lapse = Wording("choose at random {lapse~}", sentence=3)
    assert claim([rule, lapse], sensitivity=strictness(0.1), lapse=learned(0.6, low=0.0)) == (
        "People choose almost at random. They choose at random on 60% of trials. Their other choices show that they "
        "choose the better row."
    )
    # A strong bias moves choices, too.
    bias = replace(learned(2.0), unit="log odds")
    assert claim([rule, PULL], sensitivity=strictness(0.1), pull=bias) == (
        "People choose the better row and like it."
    )


def test_choices_on_which_each_clause_has_hardly_an_effect_are_called_almost_random():
    price = Wording("{much}prefer lower prices", parameter="pull", unit=1.0)
    prior = replace(learned(0.02, low=0.01), unit="log odds per cent")
    assert account_of("Price", [price, Wording("compare prices")], {"pull": prior}).claim == (
        "People choose almost at random. As far as they do not, they compare prices."
    )


@pytest.mark.parametrize(
    ("envy", "guilt", "title"),
    [
        (1.0, 1.0, "Inequity aversion, level 2"),
        (-1.0, -1.0, "Inequity seeking, level 2"),
        (-1.0, 1.0, "Concern for inequity, level 2"),
        (-0.01, 1.0, "Inequity aversion, level 2"),
    ],
)
def test_a_title_turns_with_the_signs_of_the_clauses_that_carry_it(
    envy: float, guilt: float, title: str
) -> None:
    clauses = [
        Wording(f"dislike {name}", name, f"like {name}", label=name, opposite_label="pride")
        for name in ("envy", "guilt")
    ]
    found = account_of(
        "Inequity aversion, level 2", clauses, {"envy": learned(envy), "guilt": learned(guilt)}
    )
    assert found.name.partition(" with ")[0] == title


def test_a_title_that_names_the_opposite_side_turns_too() -> None:
    clause = Wording(
        "find runs more random", "pull", "find runs less random", label="streaks", opposite_label="streaks"
    )  # fmt: skip
    titles = [
        true_title("Streak aversion", [tell_clause(clause, {"pull": learned(center)})])
        for center in (-1.0, 1.0)
    ]
    assert titles == ["Streak aversion", "Streak seeking"]


def test_two_sides_without_a_clear_majority_give_no_name() -> None:
    two_sides = replace(PULL, opposite_label="aversion")
    found = account_of("Sum", [Wording("count"), two_sides], {"pull": learned(0.05, 1.0)})
    assert found.claim == (
        "People count. People differ: some (52%, 95% interval 35% to 68%) like it, and others dislike it."
    )
    assert found.name == "Sum"


def test_a_title_of_a_declared_range_on_both_sides_names_both() -> None:
    """A third of the people whom a range describes may do the opposite of what the title says."""
    curve = replace(PULL, label="increasing returns", opposite_label="diminishing returns")

    def title(low: float, high: float) -> str:
        return declared_title(
            "Adding with diminishing returns", [curve], {"pull": Prior("uniform", low, high)}
        )

    assert title(-2.0, 1.0) == "Adding with diminishing or increasing returns"
    assert title(-2.0, 0.1) == "Adding with diminishing returns"


def test_the_others_are_told_in_the_words_that_differ():
    def told(says: str, opposite: str, **more: str) -> str:
        clause = Wording(says, parameter="pull", opposite_clause=opposite, unit=0.5, **more)
        return tell_clause(clause, {"pull": learned(0.45, 1.0)}).text.partition("others ")[2]

    assert told("give {far}more in a round", "give {far}less in a round") == "less"
    assert told("tend to the side taken last", "tend away from the side taken last") == (
        "tend away from it"
    )
    assert told("like giving less than others", "dislike giving less than others") == "dislike it"
    assert told("look at {much}high ones", "look at {much}low ones") == "look at low ones"
    assert told("feel more", "feel the reverse", opposite_short="do not") == "do not"


def test_effects_on_incongruent_trials_share_their_verb():
    wordings = [
        Wording(f"are {what} on incongruent trials") for what in ("slower", "less accurate")
    ]
    claim = account_of("X", wordings, {}).claim
    assert claim == "People are slower and less accurate on incongruent trials."


def test_sides_that_are_not_established_end_the_claim():
    unknown = Wording("like it", opposite_clause="dislike it", parameter="pull", unit=0.5)
    claim = account_of("X", [unknown, Wording("add")], {"pull": learned(0.1, 1.0, doubt=0.9)}).claim
    assert claim == "People add. The data do not show whether people like it or dislike it."


def test_of_several_open_sides_each_has_its_sentence():
    other = Wording("seek it", opposite_clause="avoid it", parameter="push", unit=0.5)
    priors = {name: learned(0.1, 1.0, doubt=0.9) for name in ("pull", "push")}
    assert account_of("X", [PULL, other], priors).claim == (
        "The data do not show whether people like it or dislike it. "
        "Nor do they show whether people seek it or avoid it."
    )


def test_effects_beside_the_main_rule_have_a_sentence_each():
    clauses = [
        Wording(text, sentence=n) for text, n in [("add", 1), ("sum", 1), ("tire", 2), ("err", 2)]
    ]
    assert account_of("X", clauses, {}).claim == "People add and sum. They tire. They err."


def test_how_often_something_is_done_is_stated_as_a_share_of_trials_and_rarely_is_a_detail():
    clause = Wording("guess {lapse~}")

    def told(center: float, spread: float = 0.001) -> str:
        return tell_clause(clause, {"lapse": learned(center, spread, 0.0, 1.0)}).text

    assert told(0.03) == "guess on 3% of trials"
    assert told(0.004) == "guess on less than 1% of trials"
    assert told(0.5, 0.2) == "guess on 25 to 75% of trials (middle 80% of people)"
    assert tell_clause(clause, {"lapse": Prior("uniform", 0.0, 1.0)}).text == "guess on some trials"
    rare = {"lapse": learned(0.003, 0.001, 0.0, 1.0)}
    assert tell_clause(clause, rare).is_detail
    (former,) = read_clauses(["{lapse~} guess ({lapse%} of the time)"], rare)
    assert former == clause


def test_where_people_differ_much_a_range_is_told_in_place_of_a_median():
    clause = Wording("expect a price (about {price} cents)")
    alike, apart = learned(10.0, 0.5, 0.0, 30.0), learned(10.0, 5.0, 0.0, 30.0)
    assert tell_clause(clause, {"price": alike}).text == (
        "expect a price (10 [95% interval 9.8 to 10] cents)"
    )
    told = tell_clause(clause, {"price": apart}).text
    assert told == "expect a price (4.1 to 16 cents for the middle 80% of people)"
    pooled = tell_clause(clause, {"price": apart}, pooled=True).text
    assert pooled == "expect a price (10 [95% interval 3.4 to 20] cents)"
    unsure = Prior("normal", 0.0, 30.0, 10.0, 5.0, doubt=0.8)
    assert tell_clause(clause, {"price": unsure}).text == "expect a price (about 10 cents)"


def test_numbers_of_times_are_words_and_stand_for_a_text_where_they_were_not_learned():
    clause = Wording("leave what failed [{runs#}|a number of times]")

    def told(center: float, spread: float = 0.01) -> str:
        prior = learned(center, spread, 0.5, 5.5)
        return tell_clause(clause, {"runs": prior}).text.removeprefix("leave what failed ")

    assert [told(0.75), told(1.5), told(2.5)] == ["once", "twice in a row", "3 times in a row"]
    assert told(2.5, 1.2) == "2 to 5 times in a row"
    assert tell_clause(clause, {"runs": Prior("uniform", 0.5, 5.5)}).text.endswith("of times")


def test_what_is_taken_for_granted_hardly_done_or_without_effect_is_no_part_of_the_claim():
    adding, plain = Wording("add"), Wording("choose the better one", taken_for_granted=True)
    weak = {"pull": learned(0.02)}
    account = account_of("Adding", [adding, PULL, plain], weak)
    assert account.claim == "People add."
    assert [clause.text for clause in account.clauses if clause.is_detail] == [
        "hardly like it",
        "choose the better one",
    ]
    assert account_of("Adding", [plain], weak).claim == "People choose the better one."
    strong = {"pull": learned(1.5)}
    assert account_of("Adding", [adding, PULL], strong).claim == "People add and like it."
    silent = account_of("Adding", [adding, PULL], strong, silent=[PULL.clause])
    assert (silent.name, silent.claim) == ("Adding", "People add.")
    based = replace(PULL, neutral_clause="look at it")
    assert account_of("Adding", [adding, based], weak).claim == "People add and look at it."


def test_clauses_that_need_trials_are_told_only_where_such_were_asked():
    rare, even = (
        Wording("fear the rare", if_presented="p < 0.3"),
        Wording("b", unless_presented="p < 0.3"),
    )
    assert account_of("Adding", [rare, even], {}).claim == "People fear the rare."
    assert account_of("Adding", [rare, even], {}, lacking=["p < 0.3"]).claim == "People b."


def test_a_name_repeats_nothing_and_tells_first_what_is_true_of_most_people():
    mixed = Wording("{much}stay", parameter="stay", opposite_clause="{much}go", label="repetition",
                          opposite_label="alternation", unit=0.5)  # fmt: skip
    priors = {"pull": learned(0.6), "stay": learned(0.3, 3.0, -9.0, 9.0)}
    assert account_of("Adding", [mixed, PULL], priors).name == "Adding with liking"
    assert account_of("Liking products", [mixed, PULL], priors).name == "Liking products"
    decided = priors | {"stay": learned(1.5, 3.0, -9.0, 9.0)}
    assert account_of("Liking products", [mixed, PULL], decided).name == (
        "Liking products with sequential dependence"
    )


def test_a_title_names_no_side_that_people_or_some_of_them_are_not_on():
    curve = replace(PULL, label="increasing returns", opposite_label="diminishing returns")

    def title(center: float, spread: float = 0.01) -> str:
        pull = {"pull": learned(center, spread, doubt=0.05)}
        return account_of("Adding with diminishing returns", [curve], pull).name

    assert title(-1.5) == title(0.02) == "Adding with diminishing returns"
    assert title(1.5) == "Adding with increasing returns"
    assert title(-0.45, 1.0) == "Adding with diminishing or increasing returns"
    declared = {"pull": Prior("uniform", -4.0, 4.0)}
    assert account_of("Diminishing returns", [curve], declared).name == "Diminishing returns"


def test_a_published_title_has_no_label_added_to_it():
    for family in FAMILIES.values():
        for title, composition in family.seeds.values():
            clauses = family.grammar.clauses(composition, title)
            declared = {
                name: parse_prior(name, prior)
                for name, prior in family.grammar.parameters(composition).items()
            }
            high = {name: high_in_its_range(prior) for name, prior in declared.items()}
            assert account_of(title, clauses, declared).name == title
            assert len(account_of(title, clauses, high).name.split()) <= len(title.split()) + 1


def test_neighbouring_clauses_with_one_verb_share_it():
    def claim(*clauses: str) -> str:
        return account_of("Adding", [Wording(clause) for clause in clauses], {}).claim

    assert claim("strongly like long ones", "strongly like old ones") == (
        "People strongly like long ones and old ones."
    )
    assert claim("like long ones", "strongly like old ones") == (
        "People like long ones and strongly like old ones."
    )
    assert claim("find A much more random", "find B much more random") == (
        "People find A and B much more random."
    )
    assert claim("give about A", "give about B") == "People give amounts between A and B."
    assert claim("give about A") == "People give about A."
    assert claim("give much less late", "give more after gains", "give less at first") == (
        "People give much less late, but more after gains. They give less at first."
    )
    assert claim("tend to take the row with A", "tend to take the row with B") == (
        "People tend to take the row with A and with B."
    )
    assert claim("tend to avoid A if B", "tend to avoid C") == (
        "People tend to avoid A if B. They tend to avoid C."
    )
    assert claim("are less likely to wait, the later", "are less likely to wait, the more") == (
        "People are less likely to wait, the later and the more."
    )


def test_what_is_stated_of_all_trials_is_not_stated_again_of_some():
    general, some = Wording("decide by A and ignore B"), Wording("but decide by A if C", sentence=2)
    assert account_of("A", [general, some], {}).claim == "People decide by A and ignore B."
    assert account_of("A", [Wording("decide by B"), some], {}).claim == (
        "People decide by B. They decide by A if C."
    )


def test_a_claim_explains_its_ranges_once():
    clauses = [Wording("stop (at {pull})"), Wording("guess (by {stay})")]
    priors = {"pull": learned(2.0, 2.0, doubt=0.05), "stay": learned(1.0, 2.0, doubt=0.05)}
    claim = account_of("A", clauses, priors).claim
    assert claim.count("middle 80% of people") == 1
    assert claim.count("middle 80%") == 2


def test_claims_of_published_forms_have_some_sixty_words_at_most():
    counts = []
    for family in FAMILIES.values():
        for _, composition in family.seeds.values():
            priors = {
                name: high_in_its_range(parse_prior(name, prior))
                for name, prior in family.grammar.parameters(composition).items()
            }
            account = account_of("X", family.grammar.clauses(composition), priors)
            counts.append(len(account.claim.split()))
    assert np.mean(np.array(counts) > 65) < 0.1
    assert max(counts) <= 85


def high_in_its_range(prior: Prior) -> Prior:
    """People who are alike, in the upper half of a range."""
    low, high = prior.latent(np.array([prior.low, prior.high]))
    return prior.narrowed(float(low + 0.7 * (high - low)), float(0.01 * (high - low)))


def test_a_range_that_was_not_learned_leaves_the_side_open():
    clause = tell_clause(PULL, {"pull": Prior("uniform", -1.0, 1.0)})
    assert clause.text.endswith("(or the opposite: the direction is estimated)")
    assert clause.direction == 0


def test_a_learned_value_at_the_null_value_is_hardly_said_even_at_a_limit():
    assert tell_clause(PULL, {"pull": learned(0.0)}).text == "hardly like it"
    bounded = Wording(
        "say all alike",
        parameter="focus",
        opposite_clause="look at the best {much}above the rest",
        neutral=1.0,
    )
    told = tell_clause(bounded, {"focus": learned(1.0, 0.001, low=0.0, high=1.0)})
    assert told.strength == "hardly"
    assert tell_clause(PULL, {"pull": learned(0.0, 1.0)}).direction == 0  # as declared


def test_ratios_and_shares_of_people_are_told():
    curved = Wording(
        "{much}more",
        parameter="curve",
        opposite_clause="{much}less",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
    )
    assert tell_clause(curved, {"curve": learned(0.7, low=0.1, high=2.0)}).text == "less"
    assert tell_clause(curved, {"curve": learned(0.97, low=0.1, high=2.0)}).text == "hardly less"
    kind = Wording("{who} count", parameter="type")
    assert tell_clause(kind, {"type": learned(-0.45, 1.0)}).text == (
        "some people (33%, 95% interval 18% to 50%) count"
    )


def test_learned_values_are_written_and_those_not_learned_left_out():
    level = Wording("stop at a level ({level%} of the top)")
    assert (
        tell_clause(level, {"level": learned(0.6, low=0.0, high=1.0)}).text
        == "stop at a level (60% of the top)"
    )
    assert tell_clause(level, {"level": Prior("uniform", 0.0, 1.0)}).text == "stop at a level"


def test_a_name_takes_the_label_of_the_strongest_clause_on_its_side_and_a_claim_has_three_sentences_at_most():
    other = Wording(
        "{much}turn",
        parameter="turn",
        opposite_clause="{much}stay",
        label="turning",
        opposite_label="staying",
        unit=0.5,
        sentence=3,
    )
    priors = {"pull": learned(0.6), "turn": learned(-1.5)}
    account = account_of("Adding", [PULL, other], priors)
    assert account.name == "Adding with staying"
    assert account.claim == "People like it. They stay."
    assert account_of("Adding", [PULL], {"pull": learned(0.01)}).name == "Adding"


def test_clauses_are_read_and_written_with_the_keys_that_were_released():
    every = {
        "says": "{much}stay", "by": "pull", "opposite": "{much}go", "null": 1.0, "unit": 0.5, "ratio": True,
        "times": "pull", "shows": "last_choice", "label": "staying", "opposite_label": "going", "sentence": 2,
        "turns": True, "reverses": True, "rest": "go", "opposite_rest": "stay", "base": "look", "plain": True,
        "needs": "p < 0.3", "lacks": "p > 0.6",
    }  # fmt: skip
    (wording,) = read_clauses([every], {"pull": learned(0.0)})
    assert wording.to_literal() == every
    assert list(wording.to_literal()) == list(every)
    assert (wording.neutral, wording.opposite_short, wording.clause_short) == (1.0, "go", "stay")
    assert read_clauses(["stay"], {})[0].to_literal() == "stay"


def test_a_mechanism_states_in_general_both_sides_of_its_range_and_no_values():
    either, above = Prior("normal", -5.0, 5.0, center=2.0, spread=1.0), Prior("uniform", 0.0, 1.0)
    assert (
        general_clause([PULL], {"pull": either})
        == "like it (or the opposite: the direction is estimated)"
    )
    assert general_clause([PULL], {"pull": above}) == "like it"
    level = Wording("stop at a level ({level%} of the top)")
    granted, late = (
        Wording("choose", taken_for_granted=True),
        Wording("b", unless_presented="p < 1"),
    )
    priors = {"pull": either, "level": above}
    text = general_clause([level, PULL, granted, late], priors)
    assert text == "stop at a level, and like it (or the opposite: the direction is estimated)"
    assert general_clause([granted], {}) == "choose"
    kind = Wording("{who} count", parameter="pull")
    assert general_clause([kind], priors) == "some people count"


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        ("like it", "must be a list"),
        ([{"by": "pull"}], "must have 'says'"),
        ([{"says": "x", "by": "push"}], "push is no declared parameter"),
        ([{"says": "x ({push})"}], "push is no declared parameter"),
        ([{"says": "x", "by": b"pull"}], "'by' is b'pull', and must be a str"),
        ([{"says": "x", "plain": 1}], "'plain' is 1, and must be a bool"),
    ],
)
def test_clauses_that_cannot_be_read_are_refused(literal, words):
    with pytest.raises(TheorySourceError, match=words):
        read_clauses(literal, {"pull": learned(0.0)})


def test_the_source_of_a_composition_is_told_by_its_numbers_and_again_by_newer_ones():
    grammar = FAMILIES["multiattribute"].grammar
    slots = dict(FAMILIES["multiattribute"].seeds["diminishing_returns"][1].slots)
    declared = parse_prior("curvature", grammar.parameters(Composition(slots))["curvature"])

    def at(center: float) -> Prior:
        return declared.narrowed(center, 0.05)

    source = grammar.write(Composition(slots, {"curvature": at(-0.7).to_literal()}))
    theory = read_program(TheoryProgram(source, "test"))
    assert theory.name == "Weighted adding with diminishing returns"
    assert "value each further rating point less than the one before" in theory.claim
    lying = read_program(
        TheoryProgram(source.replace("point less than", "point more than", 1), "test")
    )
    assert lying.claim == theory.claim  # the docstring decides nothing
    again = theory.account(dict(theory.priors) | {"curvature": at(0.7)})
    assert again.name == "Weighted adding with increasing returns"
    assert "value each further rating point more than the one before" in again.claim


@pytest.mark.parametrize("domain", FAMILIES)
def test_published_names_have_five_words_at_most_and_so_have_those_of_all_forms(domain):
    family = FAMILIES[domain]
    labels = [getattr(wording, key) for item in family.grammar.mechanisms for wording in item.wordings
              for key in ("label", "opposite_label")]  # fmt: skip
    heads = [head for _, head in family.grammar.heads]
    longest = max(len(label.split()) for label in labels)
    assert (
        max(len(head.split()) for head in heads) + 1 + longest <= 7
    )  # the longest of both never meet below
    assert all(len(title.split()) <= 5 for title, _ in family.seeds.values())


def test_numbers_of_times_are_told_whole():
    clause = Wording("give up after some failures (about {patience+})")
    once = Prior("normal", 0.5, 8.0, center=0.75, spread=0.01)
    often = Prior("normal", 0.5, 8.0, center=4.7, spread=0.01)
    texts = [tell_clause(clause, {"patience": prior}).text for prior in (once, often)]
    assert texts == [
        "give up after some failures (about 1)",
        "give up after some failures (about 5)",
    ]
    assert tell_clause(clause, {"patience": Prior("uniform", 0.5, 8.0)}).text == (
        "give up after some failures"
    )


def test_a_range_outside_parentheses_is_said_to_differ_between_people():
    clause = Wording("like it most at {level%} of the top (up to {level%})")
    (alike, apart) = ({"level": learned(0.5, spread, 0.0, 1.0)} for spread in (0.01, 0.2))
    assert tell_clause(clause, alike).text == "like it most at 50% of the top (up to 50%)"
    assert tell_clause(clause, apart).text == (
        "like it most at 25 to 75% of the top (up to 25 to 75% for the middle 80% of people)"
    )


def test_a_share_has_the_interval_of_as_many_people_as_its_spread_is_known_from():
    # z = 0.5 is known to doubt * sqrt(2 + z^2): the normal distribution at 0.5 -+ 1.96 * 0.15 * 1.5.
    told = tell_clause(PULL, {"pull": learned(0.5, 1.0)}).text
    assert told.startswith("most people (69%, 95% interval 52% to 83%) like it")
    even = tell_clause(PULL, {"pull": learned(0.05, 1.0)}).text
    assert even == (
        "people differ: some (52%, 95% interval 35% to 68%) like it, and others dislike it"
    )
    below = tell_clause(PULL, {"pull": learned(-0.5, 1.0)}).text
    assert below.startswith("most people (69%, 95% interval 52% to 83%) dislike it")
    nearly = tell_clause(
        Wording("{who} count", parameter="type"), {"type": learned(3.0, 1.0, doubt=0.02)}
    )
    assert nearly.text == "virtually all people count"
    unknown = tell_clause(PULL, {"pull": learned(0.5, 1.0, doubt=0.0)}).text
    assert unknown == "people differ: some like it, and others dislike it"


def test_a_share_that_may_be_anything_is_not_stated():
    # With a doubt of 0.9 the center is known to 1.3 spreads: from 6% to 95% of people.
    stated = tell_clause(PULL, {"pull": learned(0.05, 1.0, doubt=0.9)})
    assert stated.text == "the data do not show whether people like it or dislike it"
    claim = account_of("Liking", [PULL], {"pull": learned(0.05, 1.0, doubt=0.9)}).claim
    assert claim == "The data do not show whether people like it or dislike it."


def test_random_responses_are_a_sentence_of_their_own():
    clauses = [Wording("slow down"), Wording("press a random key {lapse~}")]
    claim = account_of("Slowing", clauses, {"lapse": learned(0.1, 0.001, 0.0, 1.0)}).claim
    assert claim == "People slow down. They press a random key on 10% of trials."


def test_a_share_of_trials_beside_prevailing_random_choices_is_of_the_others():
    clauses = [
        Wording("copy the last choice {copies~}"),
        Wording("choose at random {lapse~}", sentence=3),
    ]
    shares = {"copies": learned(0.7, 0.001, 0.0, 1.0), "lapse": learned(0.6, 0.001, 0.0, 1.0)}
    assert account_of("Copying", clauses, shares).claim == (
        "People choose at random on 60% of trials. Their other choices show that they copy the last choice on 70% of "
        "the other trials."
    )


def test_random_choices_on_most_trials_are_stated_first():
    clauses = [Wording("add"), Wording("choose at random {lapse~}", sentence=3)]
    often, seldom = ({"lapse": learned(center, 0.001, 0.0, 1.0)} for center in (0.91, 0.2))
    assert account_of("Adding", clauses, often).claim == (
        "People choose at random on 91% of trials. Their other choices show that they add."
    )
    assert account_of("Adding", clauses, seldom).claim == (
        "People add. They choose at random on 20% of trials."
    )
    both = [Wording("copy the last choice {copies~}"), *clauses]
    for share, is_first in ((0.7, False), (0.9, True)):
        shares = seldom | {"copies": learned(share, 0.001, 0.0, 1.0)}
        claim = account_of("Adding", both, shares).claim
        assert (
            claim.startswith(
                "People choose at random on 20% of trials. Their other choices show that"
            )
            == is_first
        )


def test_a_kind_of_people_that_hardly_anybody_is_of_is_not_stated():
    kinds = Wording("{who} count", parameter="type", opposite_short="weigh")
    several = {
        center: tell_clause(kinds, {"type": learned(center, 1.0, doubt=0.02)}).text
        for center in (-3.5, 0.5, 3.5)
    }
    assert several[3.5] == "count (a mixture of two kinds of people was not supported)"
    assert several[-3.5] == "weigh (a mixture of two kinds of people was not supported)"
    assert several[0.5].startswith("most people (69%, 95% interval")
    assert several[0.5].endswith(" count, and the others weigh")
    assert (
        tell_clause(kinds, {"type": Prior("uniform", -4.0, 4.0)}).text
        == "some people count, and others weigh"
    )
    kinds = replace(kinds, label="two kinds of people", opposite_label="one rule for all people")
    names = [
        account_of("Two kinds of people", [kinds], {"type": learned(center, 1.0, doubt=0.02)}).name
        for center in (0.5, 3.5)
    ]
    assert names == ["Two kinds of people", "One rule for all people"]


def test_a_theory_keeps_the_clause_that_it_is_named_after_where_that_has_hardly_an_effect():
    pull = replace(PULL, label="attraction")
    weak = {"pull": learned(0.01, 0.001)}
    assert "hardly" not in account_of("Adding", [Wording("add"), pull], weak).claim
    assert account_of("Adding by attraction", [Wording("add"), pull], weak).claim == (
        "People add and hardly like it."
    )


def test_clauses_of_one_sentence_are_simple_and_those_about_some_people_stand_alone():
    clauses = [
        Wording("add"),
        Wording("weigh"),
        Wording("round"),
        Wording("compare sums"),
        Wording("stop at the first, if it is good"),
        Wording("but go on at ties"),
        PULL,
        Wording("rest"),
        Wording("forget", sentence=2),
    ]
    account = account_of("Adding", clauses, {"pull": learned(0.5, 1.0)})
    assert account.claim == (
        "People add, weigh, and round. They compare sums. They stop at the first, if it is good, but go on at ties. "
        "Most people (69%, 95% interval 52% to 83%) like it, and others dislike it. "
        "People rest. They forget."
    )


def test_a_claim_of_nothing_but_lapses_states_what_hardly_has_an_effect():
    lapse = Wording("guess {lapse~}", sentence=3)
    priors = {"pull": learned(0.01), "lapse": learned(0.2, 0.001, 0.0, 1.0)}
    claim = account_of("Adding", [PULL, lapse], priors).claim
    assert claim == "People hardly like it. They guess on 20% of trials."


def test_nearly_everybody_and_hardly_anybody_have_their_intervals_where_these_are_wide():
    def told(center: float, doubt: float) -> str:
        kind = Wording("{who} count", parameter="type")
        return tell_clause(kind, {"type": learned(center, 1.0, doubt=doubt)}).text

    assert told(3.0, 0.02) == "virtually all people count"
    assert told(3.0, 0.25) == "virtually all people (95% interval 91% to 100%) count"
    assert told(-3.0, 0.02) == "at most 1% of people (95% interval 0% to 1%) count"


def test_a_clause_with_a_subject_of_its_own_does_not_continue_people():
    criterion = Wording(
        "is {much}conservative",
        parameter="pull",
        opposite_clause="is {much}liberal",
        clause_short="conservative",
        opposite_short="liberal",
        unit=0.5,
        subject="the criterion",
    )
    spread = Wording("is wide", subject="the criterion")

    def claim(*prior: float) -> str:
        clauses = [Wording("look"), criterion, spread, Wording("guess")]
        return account_of("Signals", clauses, {"pull": learned(*prior)}).claim

    assert claim(1.5) == ("People look. The criterion is conservative and is wide. People guess.")
    assert claim(0.5, 1.0) == (
        "People look. For most people (69%, 95% interval 52% to 83%), the criterion is conservative, and for others, "
        "liberal. The criterion is wide. People guess."
    )
    assert tell_clause(criterion, {"pull": learned(1.5)}).statement == (
        "the criterion is conservative"
    )
    open_range = {"pull": Prior("uniform", -4.0, 4.0)}
    assert general_clause([criterion], open_range) == (
        "the criterion is conservative (or the opposite: the direction is estimated)"
    )


def test_an_estimate_at_the_limit_of_its_range_has_a_one_sided_interval():
    lapse = Wording("guess {lapse~}")
    high = Prior("normal", 0.0, 0.9, 0.9, 0.05, doubt=0.4)
    assert tell_clause(lapse, {"lapse": high}).text == (
        "guess on 87% [95% interval at least 84%] of trials"
    )


def test_a_side_is_that_of_most_people_if_the_range_beside_it_includes_the_neutral_value():
    ratio = Wording(
        "weight losses {far}more than gains",
        parameter="ratio",
        opposite_clause="weight losses {far}less than gains",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
    )

    def told(center: float) -> str:
        prior = Prior("log_normal", 0.05, 20.0, center, 0.6, unit="ratio", doubt=0.2)
        return account_of("Losses", [ratio], {"ratio": prior}).claim

    assert told(0.72) == (
        "Most people weight losses more than gains (ratio 0.95 to 4.4 for the middle 80% of people)."
    )
    assert told(1.0) == (
        "People weight losses more than gains (ratio 1.3 to 5.9 for the middle 80% of people)."
    )


def test_an_interval_that_excludes_one_does_not_print_one():
    ratio = Wording(
        "weight losses {far}more than gains",
        parameter="ratio",
        opposite_clause="weight losses {far}less than gains",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
    )
    prior = Prior("log_normal", 0.05, 20.0, 0.1, 0.06, unit="ratio", doubt=0.49)
    assert account_of("Losses", [ratio], {"ratio": prior}).claim == (
        "People weight losses more than gains (ratio 1.1 [95% interval 1.02 to 1.2])."
    )


def test_a_slight_tendency_is_not_called_a_rare_one():
    clause = Wording("{much}tend to take the first one", parameter="pull", unit=0.5)
    assert tell_clause(clause, {"pull": learned(0.02)}).text == (
        "have hardly any tendency to take the first one"
    )


@pytest.mark.parametrize(
    ("first", "further", "words"),
    [
        ("add", "prefer round sums", "They also prefer round sums."),
        ("add", "are less likely to wait", "They are also less likely to wait."),
        ("add", "stop at a bound", "They stop at a bound."),
        ("do not learn", "avoid repetitions", "They avoid repetitions."),
    ],
)
def test_a_tendency_beside_a_rule_is_stated_as_a_further_one(first, further, words):
    clauses = [Wording(first), Wording(further, sentence=2)]
    assert account_of("Rule", clauses, {}).claim == f"People {first}. {words}"


def test_a_name_with_a_label_gets_no_second_one() -> None:
    prior = {"pull": learned(0.7)}
    labelled = replace(PULL, label="attraction")
    assert account_of("Adding", [Wording("add"), labelled], prior).name == "Adding with attraction"
    for head in ("Adding with lapses", "Adding without lapses"):
        assert account_of(head, [Wording("add"), labelled], prior).name == head


def test_another_rule_on_some_trials_comes_first_and_the_rest_of_trials_after_it() -> None:
    lapse = Wording("choose at random {lapse~}", sentence=3)
    other = Wording(
        "instead take the sooner option, whatever the amounts, {share~}", "share", unit=0.1
    )
    clauses = [Wording("weigh amounts"), Wording("add them up"), other, lapse]
    few = {"share": learned(0.44, low=0.0, high=1.0), "lapse": learned(0.03, low=0.0, high=0.4)}
    assert account_of("Adding", clauses, few).claim == (
        "People choose at random on 3% of trials. On 44% of the other trials, they take the sooner option, whatever "
        "the amounts. Otherwise, they weigh amounts and add them up."
    )
    by_cue = replace(other, clause="instead decide by the cue on which they differ {share~}")
    assert account_of("Adding", [*clauses[:2], by_cue], few).claim == (
        "On 44% of trials, people decide by the cue on which they differ. Otherwise, they weigh amounts and add them "
        "up."
    )
    two = {**few, "second": learned(0.7, low=0.0, high=1.0)}
    second = Wording("instead guess {second~}", "second", unit=0.1)
    assert account_of("Adding", [*clauses[:2], other, second], two).claim == (
        "On 70% of trials, people guess. On 44% of the rest, they take the sooner option, whatever the "
        "amounts. Otherwise, they weigh amounts and add them up."
    )
    most = {**few, "lapse": learned(0.6, low=0.0, high=1.0)}
    assert account_of("Adding", clauses, most).claim == (
        "People choose at random on 60% of trials. On 44% of the other trials, they take the sooner option, whatever "
        "the amounts. Otherwise, they weigh amounts and add them up."
    )


def test_no_comma_is_left_where_instead_is_removed():
    kinds = Wording("{who} tally, weighted by validity, instead", parameter="tally")
    prior = {"tally": learned(0.5, 1.0, doubt=0.02)}
    assert account_of("Kinds", [Wording("add"), kinds], prior).claim == (
        "Most people (69%, 95% interval 67% to 72%) tally, weighted by validity. The rest add."
    )


def test_a_side_that_the_data_do_not_show_is_left_open_in_a_sentence_of_its_own():
    priors = {"pull": learned(0.45, 1.0, doubt=0.6)}
    assert account_of("Adding", [Wording("add"), Wording("sum"), PULL], priors).claim == (
        "People add and sum. The data do not show whether people like it or dislike it."
    )


def test_all_numbers_of_parentheses_with_a_range_are_ranges() -> None:
    rates = Wording("run (rate {pull} for one, {rate} for the other)")
    alike = {"pull": learned(1.0, 0.02), "rate": learned(2.0, 0.02)}
    assert tell_clause(rates, alike).text == (
        "run (rate 1 [95% interval 0.99 to 1.01] for one, 2 for the other)"
    )
    differing = alike | {"rate": learned(2.0, 1.0, doubt=0.01)}
    assert tell_clause(rates, differing).text == (
        "run (rate 0.97 to 1 for one, 0.71 to 3.2 for the other; middle 80% of people)"
    )


def test_a_range_of_percentages_from_below_one_percent_has_an_upper_end_alone() -> None:
    share = Wording("expect a burst ({rate%} of pumps)")
    low = {"rate": learned(0.005, 0.02, low=0.0, high=0.3, doubt=0.01)}
    assert tell_clause(share, low).text == (
        "expect a burst (up to 4% of pumps for the middle 80% of people)"
    )


def test_objects_of_one_verb_are_listed_whatever_their_number_and_three_anchors_are_averaged() -> (
    None
):
    told = [
        Wording(f"find sequences {which} less random") for which in ("of a", "of b", "of c", "of d")
    ]
    assert account_of("Sequences", told, {}).claim == (
        "People find sequences of a, sequences of b, sequences of c, and sequences of d less random."
    )
    anchors = [Wording(f"give about what {who} gave") for who in ("others", "they", "the lowest")]
    assert account_of("Gifts", anchors[:2], {}).claim == (
        "People give amounts between what others gave and what they gave."
    )
    assert account_of("Gifts", anchors, {}).claim == (
        "People give weighted averages of what others gave, what they gave, and what the lowest gave."
    )


def test_a_distribution_as_wide_as_its_declared_range_is_recognised() -> None:
    assert is_as_declared(learned(0.0, 8.0))
    assert not is_as_declared(learned(0.0, 1.0))
    assert not is_as_declared(Prior("uniform", -4.0, 4.0))


def test_of_two_kinds_of_people_the_second_are_a_share_of_the_others():
    tallying = Wording("{who} tally instead", parameter="tally")
    stopping = Wording("{who} stop at one cue instead", parameter="stop")
    contrary = Wording("{who} do the opposite", parameter="stop", overrides=True)
    priors = {"tally": learned(3.0, 1.0, doubt=0.02), "stop": learned(-0.45, 1.0)}
    account = account_of("Kinds", [Wording("add"), tallying, stopping, contrary], priors)
    assert account.claim == (
        "Some people (33%, 95% interval 18% to 50%) stop at one cue. Of the others, "
        "virtually all tally. Any others add. "
        "Some people (33%, 95% interval 18% to 50%) do the opposite."
    )
    alone = account_of(
        "Kinds", [Wording("add"), Wording("round"), stopping, Wording("guess")], priors
    )
    assert alone.claim == (
        "People add and round. Some people (33%, 95% interval 18% to 50%) stop at one cue instead. People guess."
    )


def test_a_rate_has_two_digits_however_small_it_is():
    rate = Prior("log_normal", 1e-6, 1.0, float(np.log(0.00123)), 0.01, doubt=DOUBT)
    clause = Wording("discount (k = {rate} per day)")
    assert tell_clause(clause, {"rate": rate}).text == "discount (k = 0.0012 per day)"
    plain = learned(0.0012, doubt=0.0)
    assert tell_clause(clause, {"rate": plain}).text == "discount (k = 0 per day)"


def test_a_value_has_its_interval_in_brackets_which_the_first_one_explains():
    lapse = Wording("choose at random {lapse~}", sentence=3)
    priors = {
        "k": Prior("log_normal", 1e-4, 9.0, float(np.log(0.2)), 0.2, doubt=0.2),
        "lapse": learned(0.12, 0.02, low=0.0, high=0.4, doubt=0.3),
    }
    clauses = [Wording("discount (k = {k} per day)"), lapse]
    # The ends are those of 1.96 * 0.2 * sqrt(2) * 0.2 around log 0.2, and of 1.96 * 0.3 * sqrt(2) * 0.02 around 0.12.
    assert account_of("Rate", clauses, priors).claim == (
        "People discount (k = 0.2 [95% interval 0.18 to 0.22] per day). They choose at random on "
        "12% [10 to 14%] of trials."
    )
    # Where a spread is hardly known, the interval would be far too wide.
    hardly = {name: replace(prior, doubt=0.6) for name, prior in priors.items()}
    unknown = {name: replace(prior, doubt=0.0) for name, prior in priors.items()}
    assert account_of("Rate", clauses, hardly).claim == account_of("Rate", clauses, unknown).claim
    assert account_of("Rate", clauses, unknown).claim == (
        "People discount (k = 0.2 per day). They choose at random on 12% of trials."
    )
    # Of pooled responses, the spread is what is not known of the shared value.
    shared = tell_clause(clauses[0], unknown, pooled=True).text
    assert shared == "discount (k = 0.2 [95% interval 0.14 to 0.3] per day)"


def test_of_people_on_one_side_of_a_limit_a_range_is_stated() -> None:
    lapse = Wording("choose at random {lapse~}", sentence=3)
    rare = Prior("normal", 0.0, 0.4, 0.0, 0.016, doubt=3.0)
    assert tell_clause(lapse, {"lapse": rare}).text == (
        "choose at random on up to 3% of trials (middle 80% of people)"
    )


def test_a_direction_whose_interval_includes_the_neutral_value_is_called_uncertain():
    time = Wording(
        "weight each further day {far}more than the one before",
        parameter="power",
        opposite_clause="weight each further day {far}less than the one before",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
        label="stretched time",
        opposite_label="contracted time",
    )

    def told(center: float) -> str:
        prior = Prior("log_normal", 0.2, 5.0, center, 0.1, unit="exponent", doubt=0.5)
        return account_of("Discounting, contracted time", [time], {"power": prior}).claim

    assert told(0.1) == (
        "The data do not show whether people weight each further day more than the one before or less "
        "(exponent 1.1 [95% interval 0.96 to 1.3])."
    )
    # However few people are known, a side that may not be theirs has its interval.
    few = Prior("log_normal", 0.2, 5.0, 0.1, 0.1, unit="exponent", doubt=0.9)
    assert tell_clause(time, {"power": few}).text.endswith(
        "(exponent 1.1 [95% interval 0.86 to 1.4])"
    )
    assert told(0.2) == (
        "People weight each further day more than the one before (exponent 1.2 [95% interval 1.1 to 1.4])."
    )
    names = [
        account_of(
            "Discounting, contracted time",
            [time],
            {"power": Prior("log_normal", 0.2, 5.0, center, 0.1, unit="exponent", doubt=0.5)},
        ).name
        for center in (-0.2, 0.1, 0.2)
    ]
    assert names == [
        "Discounting, contracted time",
        "Discounting, stretched or contracted time",
        "Discounting, stretched time",
    ]


def test_a_last_choice_that_is_repeated_whatever_its_outcome_is_named_once():
    wordings = [
        Wording(f"tend to repeat their last choice after {what}")
        for what in ("a reward", "no reward")
    ]
    assert account_of("Habit", wordings, {}).claim == (
        "People tend to repeat their last choice after a reward and after no reward."
    )


def test_an_exponent_or_a_ratio_stands_beside_its_clause_and_no_word_of_strength():
    curved = Wording(
        "value gains {far}more",
        "power",
        "value gains {far}less",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
    )
    for unit, beside in (("exponent", " (exponent 0.3)"), ("log odds", "")):
        prior = replace(learned(0.3, 0.01, 0.05, 4.0), unit=unit)
        assert tell_clause(curved, {"power": prior}).text == f"value gains less{beside}"
    near = replace(learned(1.01, 0.01, 0.05, 4.0), unit="exponent")
    assert tell_clause(curved, {"power": near}).text == "value gains hardly more"


def test_two_sides_without_a_clear_majority_are_stated_with_the_share_and_its_interval():
    subject = replace(PULL, clause="is high", opposite_clause="is low", subject="the criterion")
    prior = {"pull": learned(0.05, 1.0)}
    assert tell_clause(subject, prior).text == (
        "people differ: for some (52%, 95% interval 35% to 68%), the criterion is high, and for others, is low"
    )
    assert account_of("Adding", [Wording("add"), PULL], prior).claim == (
        "People add. People differ: some (52%, 95% interval 35% to 68%) like it, and others dislike it."
    )


def test_what_few_people_do_is_stated_of_these_after_what_most_people_do():
    tallying = Wording("{who} tally instead", parameter="tally")
    lapse = Wording("guess {lapse~}", sentence=3)

    def claim(tally: float, share: float) -> str:
        priors = {
            "tally": learned(tally, 1.0, doubt=0.02),
            "lapse": learned(share, 0.001, 0.0, 1.0),
        }
        clauses = [Wording("add"), Wording("choose", sentence=2), tallying, lapse]
        return account_of("Kinds", clauses, priors).claim

    assert claim(0.5, 0.2) == (
        "Most people (69%, 95% interval 67% to 72%) tally. The rest add. They choose. People guess on 20% of trials."
    )
    assert claim(0.5, 0.8) == (
        "People guess on 80% of trials. Their other choices show that most people (69%, "
        "95% interval 67% to 72%) tally. "
        "The rest add. They choose."
    )
    assert claim(3.0, 0.2).startswith("Virtually all people tally. Any others add.")


def test_a_ratio_is_stated_in_the_order_of_the_clause_that_it_stands_beside():
    wording = Wording(
        "weight losses {far}more than gains",
        "ratio",
        "weight gains {far}more than losses",
        neutral=1.0,
        log_ratio=True,
    )

    def told(center: float, spread: float = 0.001) -> str:
        prior = Prior("normal", 0.1, 5.0, center, spread, unit="ratio", doubt=0.05)
        return tell_clause(wording, {"ratio": prior}).text

    assert told(4.0) == "weight losses more than gains (ratio 4)"
    assert told(0.25) == "weight gains more than losses (ratio 4)"
    assert told(0.4, 0.15) == (
        "weight gains more than losses (ratio 1.7 to 4.5 for the middle 80% of people)"
    )


def test_of_two_values_in_parentheses_a_range_is_not_followed_by_a_second_for():
    clause = Wording("add (rate {slow} for a wrong one, {fast} for the right one)")
    priors = {"slow": learned(0.5), "fast": learned(1.0, 0.4)}
    assert tell_clause(clause, priors).text == (
        "add (rate 0.49 to 0.51 for a wrong one, 0.49 to 1.5 for the right one; middle 80% of people)"
    )


def test_a_side_that_is_open_is_stated_with_the_range_of_its_parameter() -> None:
    curve = Wording(
        "underweight it (exponent {power})",
        parameter="power",
        opposite_clause="overweight it (exponent {power})",
        unit=0.4,
        neutral=1.0,
        log_ratio=True,
    )
    prior = Prior("log_normal", 0.4, 5.0, math.log(0.4), 0.7, doubt=0.8)
    assert tell_clause(curve, {"power": prior}).text == (
        "the data do not show whether people overweight it or underweight it (exponent 0.44 to 1.3 for the middle "
        "80% of people)"
    )


def test_a_clause_whose_side_the_data_do_not_show_gives_no_name() -> None:
    found = account_of("Sum", [Wording("count"), PULL], {"pull": learned(0.45, 1.0, doubt=0.6)})
    assert found.claim == (
        "People count. The data do not show whether people like it or dislike it."
    )
    assert found.name == "Sum"

"""Domains that a file declares: their trials, pictures and texts, and what is refused."""

from __future__ import annotations

import pickle
import re
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tasks import EXAMPLES, GIFTS, example, gifts

from lakatos.domains.declared.declaration import TaskAttribute, as_shown, read_task
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError, TaskFileError
from lakatos.experiments.participants.web.texts import texts_for_domain
from lakatos.experiments.task import Stimuli, with_random_sides
from lakatos.experiments.testing import DomainContract


class TestTwoOptions(DomainContract):
    @pytest.fixture
    def domain(self):
        return DeclaredDomain(GIFTS)

    @pytest.fixture
    def settings(self):
        return {}

    @pytest.fixture
    def empty_settings(self):
        return {"wrapping": ["red"]}  # more is always better then


@pytest.mark.parametrize("name", EXAMPLES)
class TestExamples(DomainContract):
    @pytest.fixture
    def domain(self, name):
        return DeclaredDomain(example(name))

    @pytest.fixture
    def settings(self):
        return {}

    @pytest.fixture
    def empty_settings(self, domain):
        return {name: [item.lowest] for name, item in domain.task.attributes.items()}


def trial(domain, **arrays):
    return Stimuli({name: np.array([values], dtype=float) for name, values in arrays.items()})


def pairs_of(text):
    space = DeclaredDomain(text).space({})
    return {
        tuple(zip(*(space[name][row] for name in space.arrays), strict=True))
        for row in range(len(space))
    }


def test_a_space_holds_every_pair_of_which_neither_is_better_whatever_ones_taste():
    options = [(worth, float(word)) for worth in (1.0, 2.0, 4.0, 8.0) for word in range(3)]
    # of two with one wrapping, the dearer is better
    expected = {(a, b) for a, b in combinations(options, 2) if a[1] != b[1]}
    assert pairs_of(GIFTS) == expected


def test_options_that_are_worse_are_admitted_where_they_are_wanted():
    text = gifts(add="[space]\ndominated = true\n")
    assert len(pairs_of(text)) == len(list(combinations(range(12), 2)))


def test_the_same_options_in_another_order_are_another_trial_where_that_is_declared():
    add = '[space]\ndominated = true\nsame = "in this order"\n'
    assert len(pairs_of(gifts(add=add))) == len(list(permutations(range(12), 2)))


def test_a_sample_is_as_large_as_declared_the_same_each_time_and_another_with_another_seed():
    domain = DeclaredDomain(gifts(add="[space]\ntrials = 20\n"))
    assert len(domain.space({})) == 20
    assert domain.space({}).keys == domain.space({}).keys
    assert set(domain.space({}).keys) != set(domain.space({"seed": 1}).keys)


def test_a_space_too_large_to_list_is_sampled_without_repetition():
    domain = DeclaredDomain(gifts(("levels = [1, 2, 4, 8]", "from = 0\nto = 100\nstep = 1")))
    with pytest.raises(
        StimuliError, match=r"holds 45,753 trials .303 different options, 2 at a time"
    ):
        domain.space({})
    some = domain.space({"trials": 500})
    assert len(set(some.keys)) == len(some) == 500
    assert domain.admits({}, some).all()


def test_a_study_may_take_other_levels_within_the_declared_range():
    domain = DeclaredDomain(GIFTS)
    space = domain.space({"worth": [2, 3], "wrapping": ["gold", "plain"]})
    assert set(np.unique(space["worth"])) == {2.0, 3.0}
    assert set(np.unique(space["wrapping"])) == {0.0, 2.0}
    with pytest.raises(StimuliError, match="within the declared range, 1 to 8"):
        domain.space({"worth": [2, 9]})
    with pytest.raises(StimuliError, match="its words: plain, red, gold"):
        domain.space({"wrapping": ["blue"]})
    with pytest.raises(
        StimuliError, match=r"unknown setting .* worths. It has: worth, wrapping, trials"
    ):
        domain.space({"worths": [1]})


def test_two_levels_and_too_many_options_leave_no_trial():
    text = gifts(('options = ["left", "right"]', 'options = ["a", "b", "c"]'))
    with pytest.raises(EmptyDesignSpaceError, match="make 2 different options, and 3 are needed"):
        DeclaredDomain(text).space({"worth": [1, 2], "wrapping": ["red"]})


def test_trials_outside_the_declaration_are_refused():
    domain = DeclaredDomain(GIFTS)
    with pytest.raises(StimuliError, match=r"trial 0 .* worth is \[1.0, 9.0\]"):
        domain.check(trial(domain, worth=[1, 9], wrapping=[0, 1]))
    with pytest.raises(StimuliError, match="the number of a word"):
        domain.check(trial(domain, worth=[1, 2], wrapping=[0, 0.5]))
    with pytest.raises(StimuliError, match=r"shape \(1, 3\), not \(1, 2\)"):
        domain.check(trial(domain, worth=[1, 2, 4], wrapping=[0, 1, 2]))


def test_cues_go_from_0_to_1_and_say_so_in_code():
    domain = DeclaredDomain(example("menu"))
    stimuli = domain.space({})
    for cue in domain.cues:
        values = cue.values(domain.task, stimuli)
        assert values.min() == 0
        assert values.max() == 1
        assert eval(cue.code, {"trials": stimuli.arrays}) == pytest.approx(values)
    price = next(cue for cue in domain.cues if cue.name == "price")
    assert (price.values(domain.task, stimuli)[stimuli["price"] == 400] == 1).all()


def test_features_of_a_decoy_say_which_option_gains():
    domain = DeclaredDomain(example("menu"))
    menu = trial(domain, price=[400, 800, 800], battery=[4, 10, 12], rating=[3, 4, 4])
    found = {name: values[0] for name, values in domain.features(menu).items()}
    assert found["dominating"] == 0.5  # the last is better than one of the two others
    assert found["price_difference"] == pytest.approx(0 - (1 + 0) / 2)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_variation_changes_what_it_says_and_nothing_else(name):
    domain = DeclaredDomain(example(name))
    space = domain.space({})
    some = space.take(range(min(50, len(space))))
    made = domain.variations(some, np.random.default_rng(1))
    for what, variation in made.items():
        before, after = variation.before, variation.after
        domain.check(before)
        domain.check(after)
        attribute = what.removeprefix("shared_")
        for other in before.arrays:
            assert (other == attribute) or np.array_equal(before[other], after[other])
        if what.startswith("shared_"):
            assert np.ptp(before[attribute], axis=1).max() == 0
            assert np.ptp(after[attribute], axis=1).max() == 0
            assert (before[attribute] != after[attribute]).all()
        else:
            assert (after[attribute][:, 1] > before[attribute][:, 1]).all()
            assert np.array_equal(after[attribute][:, ::2], before[attribute][:, ::2])


def test_a_field_of_dots_has_the_number_of_dots_none_of_which_touch():
    import re

    domain = DeclaredDomain(example("dots"))
    stimuli = trial(domain, number=[24, 60], size=[6, 6])
    fields = domain.picture(stimuli, 0).split("<svg")[1:]
    found = [
        np.array(re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', field), dtype=float)
        for field in fields
    ]
    assert [len(dots) for dots in found] == [24, 60]
    for dots in found:
        apart = np.hypot(*(dots[:, None, :2] - dots[None, :, :2]).transpose(2, 0, 1))
        assert (apart[~np.eye(len(dots), dtype=bool)] >= 2 * dots[0, 2] - 0.2).all()
        assert (dots[:, :2] >= dots[0, 2] - 0.1).all()
    assert domain.picture(stimuli, 0) == domain.picture(stimuli, 0)


def test_labels_and_words_cannot_bring_html_into_the_page():
    text = gifts(('"plain"', '"<b>plain</b>"'), ('label = "Worth"', 'label = "<script>x</script>"'))
    domain = DeclaredDomain(text)
    picture = domain.picture(trial(domain, worth=[1, 2], wrapping=[0, 1]), 0)
    assert "<b>" not in picture
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture


def test_people_read_the_declared_texts_in_english_only():
    texts = texts_for_domain(DeclaredDomain(GIFTS))
    assert list(texts) == ["en"]
    part = texts["en"]["domains"]["gifts"]
    assert part["question"] == "Which gift do you take?"
    assert part["instructions"] == ["Choose a gift."]
    assert part["questions"][0]["right"] == 1  # one is asked where none is declared
    own = {"en": {"domains": {"gifts": {"question": "Which one?"}}}}
    changed = texts_for_domain(DeclaredDomain(GIFTS), own)["en"]["domains"]["gifts"]
    assert changed == {**part, "question": "Which one?"}


def test_equal_texts_are_equal_domains_in_another_process_too():
    domain = DeclaredDomain(GIFTS)
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert hash(domain) == hash(DeclaredDomain(GIFTS))
    assert domain != DeclaredDomain(gifts(('"left"', '"first"')))


WORTH = 'kind = "amount"\nlabel = "Worth"\nunit = "€"\nlevels = [1, 2, 4, 8]\nbetter = "more"'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = ", "not valid TOML"),
        (gifts(add="[attributes.worth]\nkind = 'number'\n"), "same name, rename one"),
        (gifts(('["left", "right"]', '["left"]')), "options: 1 label; people choose among 2 to 21"),
        (gifts(('["left", "right"]', '["left", "Left"]')), "are not different labels"),
        (gifts(('label = "Wrapping"', 'label = "worth"')), "two of them have the label 'worth'"),
        (gifts(("attributes.worth", "attributes.sides")), "attributes.sides: no name for an"),
        (gifts(("attributes.worth", "attributes.Worth")), "attributes.Worth: no name for an"),
        (gifts(("[1, 2, 4, 8]", "[1, 2, 2]")), "attributes.worth: the level 2.0 stands there twice"),
        (gifts(("[1, 2, 4, 8]", "[1]")), "attributes.worth: 1 level; give 2 to 2001"),
        (gifts(("levels = [1, 2, 4, 8]", "")), "give its levels, or from, to and step"),
        (gifts(("levels = [1, 2, 4, 8]", "from = 3\nto = 1\nstep = 1")), "3 to 1 is no range"),
        (gifts(("levels = [1, 2, 4, 8]", "from = 0\nto = 1e9\nstep = 1")), "give a larger step"),
        (gifts(("[1, 2, 4, 8]", '["low", "high"]')), "belong to the kind 'category'"),
        (gifts(("[1, 2, 4, 8]", '[1, "high"]')), "attributes.worth.levels"),
        (gifts(("[1, 2, 4, 8]", "[1, nan]")), "attributes.worth.levels"),
        (gifts(('"amount"', '"money"')), "attributes.worth.kind: Input should be 'amount'"),
        (gifts(('"amount"', '"probability"')), "probabilities go from 0 to 1"),
        (gifts(('better = "more"', 'beter = "more"')), "unknown key 'attributes.worth.beter'; did"),
        (gifts(('question = "Which gift do you take?"', "")), "the key 'question' is missing"),
        (gifts(('name = "gifts"', 'name = "My gifts"')), "is no name for a task; take 2 to 40"),
        (gifts((WORTH, WORTH + '\nshow = "dot_size"')), "show one as 'dots'"),
        (gifts(("[1, 2, 4, 8]", "[1, 2.5]"), (WORTH[-15:], WORTH[-15:] + '\nshow = "dots"')), "whole"),
        (gifts(add='[space]\ntrials = 1000000\n'), "space.trials: Input should be less than"),
        (gifts(add='[[comprehension]]\ntext="?"\nanswers=["a","b"]\nright=2\n'), "right = 2, but"),
        (gifts(add="[feedback]\nreward = 1\n"), "unknown key 'feedback.reward'; known here: shows, unit"),
        (
            gifts(('"amount"', '"own"'), ('kind = "category"', 'kind = "own"'),
                  ('["plain", "red", "gold"]', "[1, 2]")),
            "worth and wrapping are both of the kind 'own'",
        ),
    ],
)  # fmt: skip
def test_what_declares_no_task_is_refused_with_what_to_write(text, words):
    with pytest.raises(TaskFileError) as refused:
        read_task(text, "gifts.toml")
    assert words in str(refused.value)
    assert str(refused.value).startswith("gifts.toml")


NUMBERED = ('options = ["left", "right"]', 'options = { from = 0, to = 10, unit = "coins" }')
ELEVEN = "\n".join(
    [
        "",
        "[[space.listed]]",
        f"worth = {[1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4]}",
        f"wrapping = {(['plain'] * 4 + ['red'] * 4 + ['gold'] * 3)}".replace("'", '"'),
        "",
    ]
)


def test_options_may_be_numbers_which_keep_their_places_and_trials_may_be_listed():
    domain = DeclaredDomain(gifts(NUMBERED, ('better = "more"', ""), add=ELEVEN))
    assert domain.options == ("0 coins", "1 coin", *(f"{n} coins" for n in range(2, 11)))
    space = domain.space({})
    assert space["worth"].tolist() == [[1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4]]
    assert space["wrapping"].tolist() == [[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]]
    assert with_random_sides(domain, space, np.random.default_rng(1)).keys == space.keys
    assert domain.admits({}, space).all()
    page = domain.picture(space, 0)
    assert page.count("<tr>") == 12  # a line for each option, below the heads
    with pytest.raises(EmptyDesignSpaceError, match="of those that are listed"):
        domain.space({"worth": [1, 2]})


@pytest.mark.parametrize(
    ("unit", "value", "words"),
    [
        ("coins", 1, "1 coin"),
        ("coins", 1.5, "1.5 coins"),
        ("ms", 1, "1 ms"),
        ("Celsius", 1, "1 Celsius"),
        ("glass", 1, "1 glass"),
        ("", 1, "1"),
    ],
)
def test_one_of_what_is_counted_is_told_in_the_singular(unit, value, words):
    attribute = TaskAttribute(kind="other", label="You get", unit=unit, levels=[1, 1.5])
    assert as_shown(attribute, value) == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("wrapping = [", "wrappings = ["), "trial 1 has worth, wrappings; give each attribute"),
        (("worth = [1, ", "worth = ["), "worth has 10 values; there are 11 options"),
        (("worth = [1, ", "worth = [9, "), "worth cannot be 9.0; it is outside its levels"),
        (('["plain", ', '["blue", '), "wrapping cannot be 'blue'"),
    ],
)
def test_a_listed_trial_that_is_none_is_refused(change, words):
    with pytest.raises(TaskFileError, match=re.escape(words)):
        DeclaredDomain(gifts(NUMBERED, add=ELEVEN.replace(*change)))


@pytest.mark.parametrize(
    "numbers", ["from = 0, to = 40", "to = 10, by = 2", "from = 3, to = 1", "to = nan"]
)
def test_numbers_of_options_that_are_none_are_refused(numbers):
    with pytest.raises(TaskFileError, match="options: "):
        DeclaredDomain(gifts((NUMBERED[0], f"options = {{ {numbers} }}")))

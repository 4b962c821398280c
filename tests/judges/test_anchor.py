"""The anchor set: parts that share nothing, labels that are read only where they may be, a vault that opens once."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakatos.judges.anchor import (
    AnchorItem,
    AnchorSet,
    LabelAccess,
    check_disjoint,
    components,
    split,
    without,
)
from lakatos.judges.answer import ask
from lakatos.judges.errors import AnchorError, VaultError
from lakatos.judges.hard_case import collect, matched, trap
from lakatos.judges.record import SHARES
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of, parse_record
from tests.judges.support import Scripted, answers, item


def many(n, **strata):
    return [
        item(number, number % 2 == 0, origin=("human", "machine")[number // 2 % 2], **strata)
        for number in range(n)
    ]


def test_parts_have_their_shares_of_every_stratum():
    anchor = split(many(400), seed=1)
    for part, share in SHARES.items():
        for origin in ("human", "machine"):
            n = sum(one.strata["origin"] == origin for one in anchor.parts[part])
            assert n == pytest.approx(200 * share, abs=1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.sets(st.integers(0, 30), min_size=1, max_size=2),
            st.sets(st.integers(0, 30), max_size=2),
        ),
        min_size=60,
        max_size=80,
    ),
    st.integers(0, 5),
)
def test_no_problem_and_no_person_is_in_two_parts(shared, seed):
    items = [
        item(
            number,
            problems=[f"problem {p}" for p in problems],
            people=[f"person {p}" for p in people] or None,
        )
        for number, (problems, people) in enumerate(shared)
    ]
    if len(set(components(items))) < 10:  # too few groups may leave a part empty
        return
    anchor = split(items, seed)
    check_disjoint(anchor)
    assert sorted(one.digest for part in anchor.parts.values() for one in part) == sorted(
        one.digest for one in items
    )


def test_items_are_connected_through_others():
    items = [
        item(1, problems=["a"]),
        item(2, problems=["a"], people=["x"]),
        item(3, people=["x"]),
        item(4),
    ]
    found = components(items)
    assert found[0] == found[1] == found[2] != found[3]


def test_parts_that_share_a_person_are_named():
    shared = AnchorSet(
        {"dev": (item(1, people=["x"]),), "confirm": (item(2, people=["x"]),), "vault": ()}
    )
    with pytest.raises(AnchorError, match=r"dev and confirm .* share the group of people 'x'"):
        check_disjoint(shared)


def test_what_the_campaign_asks_is_left_out():
    items = [item(1, problems=["a"]), item(2, people=["x"]), item(3)]
    assert without(items, ["a"], ["x"]) == (items[2],)


def test_an_item_without_label_or_stratum_is_refused():
    value = item(1).to_json()
    with pytest.raises(AnchorError, match="has the label None"):
        AnchorItem.from_json(value | {"label": None})
    with pytest.raises(AnchorError, match="has no stratum"):
        AnchorItem.from_json(value | {"strata": {}})
    with pytest.raises(AnchorError, match="has no label"):
        AnchorItem.from_json({name: part for name, part in value.items() if name != "label"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"problems": "abc"}, "bad problems"),
        ({"people": None}, "bad people"),
        ({"strata": {"origin": 3}}, "bad strata.origin"),
        ({"provenance": None}, "bad provenance"),
        ({"weight": 100}, "bad weight"),
        ({"submission": "x"}, "bad submission"),
        ({"submission.advantage": float("nan")}, "bad submission.advantage"),
        ({"submission.advantage": "large"}, "bad submission.advantage"),
        ({"submission.n_choices": 10**400}, "bad submission.n_choices"),
        ({"submission.features": {"a": "b"}}, "bad submission.features.a"),
        ({"submission.more": 1}, "bad submission.more"),
    ],
)
def test_an_item_of_a_file_holds_what_it_must_and_nothing_else(change, said):
    value = item(1).to_json()
    for name, told in change.items():
        place, _, inner = name.partition(".")
        if inner:
            value[place][inner] = told
        else:
            value[place] = told
    with pytest.raises(AnchorError, match=f"an anchor item has a {said}"):
        AnchorItem.from_json(value)


def test_a_theory_is_not_compared_with_itself():
    value = item(1).to_json()
    value["submission"]["incumbent"] = value["submission"]["candidate"]
    with pytest.raises(AnchorError, match="compares a theory with itself"):
        AnchorItem.from_json(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["parts"].pop("vault"),
        lambda value: value["parts"].update(more=[]),
        lambda value: value["parts"].update(dev={}),
        lambda value: value.pop("hard_cases"),
    ],
)
def test_a_set_that_lacks_a_part_or_holds_no_items_is_refused(change):
    value = split(many(40), seed=1).to_json()
    change(value)
    with pytest.raises(AnchorError, match=r"of an anchor set|an anchor set has the parts"):
        AnchorSet.from_json(value)


@pytest.mark.parametrize("part", ["confirm", "vault"])
def test_what_is_tested_on_is_no_hard_case_on_which_judges_are_bred(part):
    anchor = split(many(40), seed=1)
    forged = AnchorSet(anchor.parts, anchor.parts[part][:1])
    with pytest.raises(AnchorError, match=f"the parts dev and {part} of the anchor set share"):
        check_disjoint(forged)


def test_an_item_is_not_there_twice():
    with pytest.raises(AnchorError, match="is there 2 times"):
        split([item(1), item(1), item(2)], seed=1)
    anchor = split(many(40), seed=1)
    twice = AnchorSet({**anchor.parts, "dev": anchor.parts["dev"] * 2})
    with pytest.raises(AnchorError, match="is there 2 times"):
        check_disjoint(twice)


def test_a_set_reads_back_with_its_version_and_any_change_is_another_version():
    anchor = split(many(40), seed=1)
    assert AnchorSet.from_json(anchor.to_json()).digest == anchor.digest
    turned = item(0, label=False)
    assert turned.digest != item(0, label=True).digest
    assert split(many(41), seed=1).digest != anchor.digest


def test_every_look_at_labels_is_recorded_with_who_was_judged_by_them():
    anchor = split(many(40), seed=1)
    items, access = LabelAccess().read(anchor, "confirm", "gate", [digest_of("a"), digest_of("b")])
    assert items == anchor.parts["confirm"]
    record = access.exposed[-1]
    assert (record.part, record.purpose, record.n_items) == ("confirm", "gate", len(items))
    assert record.anchor == anchor.digest_of("confirm")
    assert (
        parse_record("anchor_exposed", body_of(record), {"anchor_exposed": type(record)}) == record
    )


def test_confirm_is_never_read_to_breed_judges():
    with pytest.raises(
        AnchorError, match="confirm part of the anchor set may not be read to breed"
    ):
        LabelAccess().read(split(many(40), seed=1), "confirm", "breed", [])


def test_the_vault_opens_once():
    anchor = split(many(40), seed=1)
    _, access = LabelAccess().read(anchor, "vault", "report", [digest_of("a")])
    with pytest.raises(VaultError, match=f"was opened before, for judges {digest_of('a')[:8]}"):
        access.read(anchor, "vault", "report", [digest_of("b")])


# hard cases


def test_false_accepts_and_false_rejects_are_told_apart_and_failures_are_neither():
    settled = [item(1, False), item(2, True), item(3, True), item(4, False), item(5, True)]
    accepts, rejects = collect(answers("a", [0.9, 0.1, 0.9, float("nan"), float("nan")]), settled)
    assert accepts == [settled[0]]
    assert rejects == [settled[1]]


def test_each_false_verdict_is_matched_with_the_other_class_of_its_origin():
    wrong = [
        item(1, False, origin="machine"),
        item(2, False, origin="machine"),
        item(3, True, origin="human"),
    ]
    free = [
        item(4, True, origin="machine"),
        item(5, True, origin="human"),
        item(6, False, origin="human"),
    ]
    found = matched(wrong, [*wrong, *free])
    assert found == [wrong[0], free[0], wrong[2], free[2]]  # nobody is left for the second


def test_hard_cases_join_dev_only_in_two_classes_and_never_outnumber_the_rest():
    anchor = split(many(100), seed=1)
    settled = [item(number, number % 2 == 0, origin="machine") for number in range(1000, 1100)]
    said = ask(Scripted(lambda submission: 0.9), [one.submission for one in settled])
    grown = trap(anchor, said, settled)
    labels = [one.label for one in grown.hard_cases]
    assert labels.count(True) == labels.count(False) > 0
    assert len(grown.hard_cases) <= 0.3 * len(grown.dev)
    assert grown.parts == anchor.parts
    assert grown.digest_of("confirm") == anchor.digest_of("confirm")
    assert (
        trap(grown, said, [one for one in settled if one in grown.hard_cases]).hard_cases
        == grown.hard_cases
    )


def test_what_shares_a_problem_with_confirm_is_no_hard_case():
    anchor = split(many(100), seed=1)
    name = anchor.parts["confirm"][0].problems[0]
    settled = [item(1000, False, problems=[name]), item(1001, True, problems=[name])]
    assert trap(anchor, answers("a", [0.9, 0.9]), settled).hard_cases == ()

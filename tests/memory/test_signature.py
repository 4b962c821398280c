"""Plans that do the same have one signature, plans that do not have two."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.memory.words import steps_of_words
from lakatos.memory.plan import PlanStep, StepArgument, follow_plan
from lakatos.memory.signature import canonical_form, follow_form, in_form, signature


def of_words(text):
    return signature(steps_of_words(text))


PLAYLIST = "find playlist 'Rock' and delete song 12"


def test_other_values_make_no_other_plan():
    assert of_words(PLAYLIST) == of_words("find playlist 'Jazz' and delete song 7")


def test_adding_is_not_deleting():
    assert of_words(PLAYLIST) != of_words("find playlist 'Rock' and add song 12")


def test_the_order_of_writes_counts():
    assert of_words("delete song 3, add song 4") != of_words("add song 4, delete song 3")


def test_the_order_of_reads_that_need_not_one_another_does_not_count():
    one, other = (
        "find playlist 'A', read budget 3 and delete song 1",
        "read budget 9, find playlist 'B', delete song 2",
    )
    assert of_words(one) == of_words(other)


def test_a_read_does_not_pass_a_write():
    assert of_words("find playlist 'A' and delete song 1") != of_words(
        "delete song 1 and find playlist 'A'"
    )


def test_another_kind_of_thing_is_another_plan():
    assert of_words("find playlist 'A' and delete song 1") != of_words(
        "find playlist 'A' and delete artist 1"
    )


def test_one_value_used_twice_is_not_two_values():
    assert of_words("find song 1 and delete song 1") == of_words("find song 2 and delete song 2")
    assert of_words("find song 1 and delete song 1") != of_words("find song 1 and delete song 2")


def test_a_repeated_read_is_one_operation_however_often(shop):
    def ranked(*names):
        return signature(
            shop.plan_of(
                *[("rank", {"theories": [name], "experiment": "first"}) for name in names]
            ).steps
        )

    assert ranked("a", "b") == ranked("d", "e", "f", "g")
    assert ranked("a", "b") != ranked("a")
    assert ranked("a", "a") == ranked("a")  # a retry is nothing new


def test_what_comes_from_an_earlier_result_is_no_hole(shop):
    flows = shop.plan_of(
        ("draw", {"theories": ["a", "b"], "n_trials": 4}),
        ("attempt", {"theory": "a", "design": "<0.design"}),
    )
    given_ = shop.plan_of(
        ("draw", {"theories": ["a", "b"], "n_trials": 4}),
        ("attempt", {"theory": "a", "design": "another"}),
    )
    assert "@0[0].design" in canonical_form(flows.steps).text
    assert canonical_form(flows.steps).digest != canonical_form(given_.steps).digest


def test_numbers_that_happen_to_be_equal_are_not_tied_to_each_other(shop):
    def drawn(first, second):
        return signature(
            shop.plan_of(
                ("draw", {"theories": ["a"], "n_trials": first}),
                ("attempt", {"theory": "a", "design": "<0.design"}),
                ("draw", {"theories": ["b", "c"], "n_trials": second}),
            ).steps
        )

    assert drawn(4, 4) == drawn(4, 9)


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(range(4)),
    st.lists(st.text("abcdefgh", min_size=3), min_size=4, max_size=4, unique=True),
)
def test_reads_in_any_order_with_any_names_have_one_form_and_its_results(order, names):
    def read(number, value):
        return PlanStep(
            tool=f"tool{number}",
            arguments=(StepArgument(name="x", kind="theory", value=value),),
            reading=True,
        )

    steps = [read(number, names[number]) for number in order]
    plain = [read(number, f"value{number}") for number in range(4)]
    form = canonical_form(steps)
    assert form.digest == canonical_form(plain).digest
    answers = follow_form(
        form.operations, form.values, lambda name, arguments: [name, arguments["x"]]
    )
    assert answers == in_form(
        form.operations, [[step.tool, step.arguments[0].value] for step in steps]
    )


def test_following_the_form_gives_what_following_the_plan_gives(shop, study_of):
    plan = study_of("one", "prospect", "regret")
    form = canonical_form(plan.steps)
    direct = in_form(form.operations, follow_plan(plan, shop.caller()))
    assert follow_form(form.operations, form.values, shop.caller()) == direct

"""What a model says against what the records say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.language_models.client import ToolCall
from lakatos.language_models.quotes import check_against, check_answer, numbers, sentences
from lakatos.language_models.tool import ToolUse


def values(text: str) -> list[float]:
    return [number.value for number in numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the skill is 0.43.", [0.43]),
        ("it fell by -0.5, then \u22120.25 and minus 3", [-0.5, -0.25, -3]),
        (".05 and 1,234.5 and 12,000", [0.05, 1234.5, 12000]),
        ("1.2e-3, 3 \u00d7 10^-2, 5E4", [0.0012, 0.03, 50000]),
        ("45% of people, 45 percent, 12 per cent", [45, 45, 12]),
        (
            "from 0.2 to 0.4; 0.2\u20130.4; 10-20; [0.1, 0.3]",
            [0.2, 0.4, 0.2, 0.4, 10, 20, 0.1, 0.3],
        ),
        ("between -0.2 and -0.1", [-0.2, -0.1]),
        ("-0.3 - -0.1", [-0.3, -0.1]),
        ("10k trials in 200ms, 3x", [10000, 200, 3]),
        ("theory_2, T1, v1.2, 3rd, x2y and #ab12cd34ef", []),
        ("Erev et al. (2010) and Luhn (1958)", []),
        ("1. First\n2) Second\n(3) Third\n- 4 people", [4]),
        ("3/4 of 12", [3, 4, 12]),
        ("1.2.3", []),
        ("p < .001, at least 30, over 5", [0.001, 30, 5]),
    ],
)
def test_numbers_are_read_as_people_write_them(text, expected):
    assert values(text) == pytest.approx(expected)


def test_the_precision_is_that_of_the_last_digit():
    found = numbers("0.43 and 12% and 1,200 and about 1,200 and 1.5e3")
    assert [number.tolerance for number in found] == pytest.approx([0.005, 0.5, 0.5, 50, 50])
    assert [number.percent for number in found] == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("text", "value", "agrees"),
    [
        ("0.43", 0.4349, True),
        ("0.43", 0.425, True),
        ("0.43", 0.4251, True),
        ("0.43", 0.4249, False),
        ("43%", 0.4349, True),
        ("43%", 0.4351, False),
        ("43%", 43.2, True),
        ("43", 0.43, False),
        ("-0.5", 0.5, False),
        ("-0.5", -0.52, True),
        ("< 0.05", 0.01, True),
        ("< 0.05", 0.06, False),
        ("at least 30", 31, True),
        ("at least 30", 28, False),
        ("about 1,200", 1234, True),
        ("1,200", 1234, False),
        ("0", 0.4, True),
        ("0.0", 0.06, False),
        ("100%", 1.0, True),
        ("0%", 0.004, True),
        ("0%", 0.006, False),
    ],
)
def test_a_number_agrees_with_a_record_to_the_precision_quoted(text, value, agrees):
    assert numbers(text)[0].agrees(value) is agrees


def test_shares_and_percent_are_told_apart_by_the_records_name():
    assert numbers("0.43")[0].agrees(43, is_percent=True)
    assert numbers("43")[0].agrees(43, is_percent=True)
    assert not numbers("43%")[0].agrees(0.43, is_percent=True)


def test_sentences_end_where_people_end_them():
    text = "Skill is 0.43. It rose! [#ab12cd34ef] Then e.g. nothing\nNext line"
    assert sentences(text) == (
        "Skill is 0.43.",
        "It rose [#ab12cd34ef]!",
        "Then e.g.",
        "nothing",
        "Next line",
    )


def use(
    name="compare", arguments=None, value=None, reference="ab12cd34" * 8, outcome="returned"
) -> ToolUse:
    return ToolUse(
        call=ToolCall(call_id="a", name=name, arguments="{}"),
        arguments=arguments or {},
        outcome=outcome,
        reference=reference,
        value=value,
        shown="",
    )


COMPARED = use(
    arguments={"first": "prospect", "n_draws": 512},
    value={
        "skill": 0.4321,
        "loser": {"skill": 0.3105},
        "difference": -0.0213,
        "n_people": 250,
        "note": "12.5% left",
    },
)
OTHER = use("simulate", {"theory": "x", "n_people": 40}, {"mean": 0.77}, "99ffee00" * 8)


@pytest.mark.parametrize(
    "text",
    [
        "The skill is 0.43 [#ab12cd34].",
        "The skill is 43% [#ab12cd34].",
        "Skills are 0.43 and 0.31, a difference of -0.02. [#ab12cd34ab12]",
        "250 people, of whom 12.5% left [#ab12cd34].",
        "I called compare(first='prospect', n_draws=512): the loser has 0.311 [#ab12cd34].",
        "It is 0.43 here [#ab12cd34]. The mean is 0.77 [#99ffee00].",
        "Skill 0.432 and mean 0.8 [#ab12cd34] [#99ffee00].",
        "Two of 3 theories remain.",
        "The skill is 0.43 [#ab12cd34]. The loser has 0.31.",
        "The skill lies in 0.31\u20130.43 [#ab12cd34].",
        "More than 200 people answered [#ab12cd34].",
        "With compare at n_draws = 512 the skill was 0.43 [#ab12cd34].",
        "",
    ],
)
def test_what_the_records_bear_out_is_let_pass(text):
    assert check_answer(text, [COMPARED, OTHER]) == ()


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("The skill is 0.44 [#ab12cd34].", "result", "'skill' in #ab12cd34ab12 is 0.4321"),
        ("The difference is 0.02 [#ab12cd34].", "result", "'difference' in"),
        ("It wins by 0.02 [#ab12cd34].", "result", "the sign differs"),
        ("n_people is 5 [#ab12cd34].", "result", "'n_people' in #ab12cd34ab12 is 250"),
        ("A gain of 7.5 [#ab12cd34].", "result", "holds no such number"),
        ("The skill is 0.3105 but n_people was 0.43 [#ab12cd34].", "result", "'n_people'"),
        ("The mean is 0.77 [#ab12cd34].", "result", "holds no such number"),
        ("The skill is 0.43 [#deadbeef].", "citation", "no record #deadbeef was shown"),
        ("The skill is 0.43.", "citation", "cites no record"),
        ("About 45% agree.", "citation", "cites no record"),
        ("I ran recover(n_people=50) and it holds.", "tool", "no call of 'recover'"),
        (
            "compare(first='cumulative') agrees.",
            "argument",
            "no call of 'compare' was made with these",
        ),
        ("I used simulate with n_people=4000.", "argument", "no call of 'simulate'"),
    ],
)
def test_what_they_contradict_is_found_by_its_class(text, kind, problem):
    found = check_answer(text, [COMPARED, OTHER])
    assert [finding.kind for finding in found] == [kind]
    assert problem in found[0].problem


def test_a_call_that_failed_bears_nothing_out():
    failed = use("recover", {"n_people": 50}, None, "77" * 32, "failed")
    assert [finding.kind for finding in check_answer("recover(n_people=50) holds.", [failed])] == [
        "tool"
    ]


def test_further_records_can_be_cited():
    record = {"aa00bb11" * 8: {"gain": 0.2}}
    assert check_answer("The gain is 0.2 [#aa00bb11].", [], record) == ()


def test_a_tool_that_returned_nothing_can_be_cited():
    assert check_answer("It is done [#ab12cd34].", [use()]) == ()


WRITERS = {
    "plain": lambda x, d: f"The measure came to {x:.{d}f} [#ab12cd34].",
    "percent": lambda x, d: f"The measure came to {100 * x:.{d}f}% [#ab12cd34].",
    "sign": lambda x, d: (
        f"The measure came to {f'{x:.{d}f}'.replace('-', chr(0x2212))} [#ab12cd34]."
    ),
    "power": lambda x, d: f"The measure came to {x:.{d}e} [#ab12cd34].",
    "thousands": lambda x, d: f"The measure came to {x:,.{d}f} [#ab12cd34].",
}


@given(
    st.floats(min_value=-1e6, max_value=1e6, allow_nan=False).filter(lambda x: abs(x) > 1e-6),
    st.integers(min_value=0, max_value=6),
    st.sampled_from(sorted(WRITERS)),
)
def test_a_rounded_value_is_always_let_pass(value, n_decimals, form):
    text = WRITERS[form](value, n_decimals)
    assert check_answer(text, [use(value={"x": value})]) == ()


@pytest.mark.statistical
def test_numbers_changed_beyond_their_precision_are_found_and_true_ones_are_not():
    rng = np.random.default_rng(11)
    n_found = n_false = 0
    n_cases = 2000
    for _ in range(n_cases):
        record = {
            f"m{place}": float(value)
            for place, value in enumerate(rng.normal(size=8) * 10 ** rng.uniform(-2, 3, 8))
        }
        value, n_decimals = record[f"m{rng.integers(8)}"], int(rng.integers(2, 5))
        form = WRITERS[str(rng.choice(["plain", "sign", "power"]))]
        n_false += bool(check_answer(form(value, n_decimals), [use(value=record)]))
        off = (
            value * rng.choice([0.5, 0.9, 1.1, 2, -1]) + rng.choice([-1, 1]) * 2 * 10.0**-n_decimals
        )
        n_found += bool(check_answer(form(off, n_decimals), [use(value=record)]))
    assert n_false == 0
    # A changed number passes only where it happens to round to another value of the record, mostly zeros of small ones.
    assert n_found / n_cases > 0.97


def test_a_summary_is_checked_against_its_source():
    assert check_against("Skill 0.43, 250 people.", COMPARED.value) == ()
    assert [f.kind for f in check_against("Skill 0.53, 250 people.", COMPARED.value)] == ["result"]
    assert check_against("43 of 100", "43 of 100 chose it") == ()


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_can_be_checked(text):
    check_answer(text, [COMPARED, OTHER])
    assert all(math.isfinite(number.tolerance) for number in numbers(text))


@pytest.mark.parametrize(
    "text", ["9" * 400, "1e999999999999", "1" + ",000" * 200, "- " * 5000, "a(" * 5000, "1 " * 5000]
)
def test_absurd_texts_take_no_time(text):
    check_answer(text, [COMPARED])

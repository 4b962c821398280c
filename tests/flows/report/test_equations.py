"""Equations of a theory are its own statements without what only serves arrays."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.flows.report.equations import equations_of

HEAD = '"""A: people choose."""\nPARAMETERS = {}\ndef choose(parameters, trials, xp):\n'


def written(*statements: str) -> list[str]:
    return equations_of(HEAD + "".join(f"    {line}\n" for line in statements))


def test_a_published_theory_has_the_equations_of_its_publication() -> None:
    assert equations_of(FAMILIES["intertemporal"].program("hyperbolic").source) == [
        "discount = 1 / (1 + discount_rate · delays_days)",
        "value = discount · amounts",
        "evidence = sensitivity · (value[2] − value[1])",
        "p = 1 / (1 + exp(−evidence))",
        "p = lapse / 2 + (1 − lapse) · p",
    ]


def test_a_theory_that_learns_has_equations_by_which_its_state_is_renewed() -> None:
    lines = equations_of(FAMILIES["learning"].program("rescorla_wagner").source)
    assert "value = value + step" in lines
    assert lines.index("p = strength / Σ(strength)") < lines.index("value = value + step")


def test_values_that_the_probability_does_not_depend_on_are_left_out() -> None:
    assert written(
        'gain = trials["gain"]', "unused = gain + 1", 'p = parameters["w"][..., None] * gain', "return p"
    ) == ["p = w · gain"]  # fmt: skip


def test_terms_that_are_zero_and_factors_that_are_one_are_left_out() -> None:
    lines = written("bias = 0.0", 'p = bias + 1.0 * (2 * parameters["w"]) - 0', "return p")
    assert lines == ["p = 2 · w"]


def test_limits_against_overflow_are_left_out_and_others_stay() -> None:
    assert written('p = xp.exp(xp.clip(parameters["w"] * 2, -500.0, 500.0))', "return p") == [
        "p = exp(w · 2)"
    ]
    assert written('p = xp.clip(parameters["w"] * 2, 0.0, 1.0)', "return p") == [
        "p = clip(w · 2, 0.0, 1.0)"
    ]


@pytest.mark.parametrize(
    "statement",
    [
        'for k in range(3): p = parameters["w"] * k',
        'def f(x): return parameters["w"] * x',
        'p = xp.asarray([parameters["w"] * k for k in range(3)])',
        'p = (parameters["w"] > parameters["w"]) * 1.0',
    ],
)
def test_statements_that_are_no_formula_are_refused_and_not_written_in_part(statement: str) -> None:
    name = "f" if statement.startswith("def") else "p"
    assert written(statement, f"return {name}") == []


def test_a_name_that_stands_for_a_former_value_is_refused() -> None:
    assert (
        written('p = parameters["w"] + 1', "old = p", "p = p + 2", "p = p * old", "return p") == []
    )


@pytest.mark.parametrize("domain", sorted(FAMILIES))
def test_equations_of_published_theories_name_parameters_and_no_arrays(domain: str) -> None:
    family = FAMILIES[domain]
    texts = [equations_of(family.program(name).source) for name in family.seeds]
    lines = [line for text in texts for line in text]
    assert not [line for line in lines if "xp." in line or "parameters[" in line or "axis" in line]


def test_equations_give_the_probability_that_the_program_gives() -> None:
    program = FAMILIES["intertemporal"].program("hyperbolic").source
    spread: dict[str, object] = {}
    exec(program, spread)
    amounts, delays = np.array([[8.0, 14.0]]), np.array([[10.0, 60.0]])
    numbers = {"discount_rate": 0.02, "sensitivity": 0.7, "lapse": 0.1}
    parameters = {name: np.array([[value]]) for name, value in numbers.items()}
    trials = {"amounts": amounts, "delays_days": delays}
    p = spread["choose"](parameters, trials, np)  # type: ignore[operator]
    by_hand = value_of(equations_of(program), numbers, amounts[0], delays[0])
    assert by_hand == pytest.approx(float(np.squeeze(p)))


def value_of(
    lines: list[str], numbers: dict[str, float], amounts: np.ndarray, delays: np.ndarray
) -> float:
    known: dict[str, object] = {"exp": np.exp, "amounts": amounts, "delays_days": delays} | numbers
    for line in lines:
        target, _, text = line.partition(" = ")
        text = text.replace("[1]", "[0]").replace("[2]", "[1]")
        for sign, python in (("·", "*"), ("^", "**"), ("−", "-")):
            text = text.replace(sign, python)
        known[target] = eval(text, {}, known)
    return float(known["p"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        'state[name] = parameters["w"]; p = parameters["w"] * 2',
        "p = xp.clip()",
        'p = xp.round(parameters["w"], decimals=2)',
        'a, b = parameters["w"]; p = a',
        "p = " + "-" * 700 + 'parameters["w"]',
    ],
)
def test_any_program_that_can_be_read_is_written_or_refused_without_an_error(
    statement: str,
) -> None:
    assert isinstance(written(statement, "return p"), list)

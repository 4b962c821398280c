"""Theories as formulas of single numbers, and as programs in R, Stan and PyMC."""

import json
import math
import re
import shutil
import subprocess
import tarfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials
from lakatos.flows.notebook.exchange import export_theory, import_theory
from lakatos.flows.notebook.study import read_run
from lakatos.flows.operations.people_export import EXPORTS_FILE
from lakatos.theories.findings.exchange.export import exported, log_likelihood, to_json
from lakatos.theories.findings.exchange.formula import (
    UnwritableError,
    apply,
    cells,
    choose_between,
    formulas_of,
    joined,
    number,
    symbol,
    value_of,
)
from lakatos.theories.findings.exchange.likelihood import read_likelihood, vectors_within
from lakatos.theories.findings.exchange.stan_model import StanProgram
from lakatos.theories.findings.exchange.written import (
    PROGRAMS,
    ExportedTheory,
    R,
    own_name,
    statements,
)
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.conftest import require
from tests.golden.released import GOLDEN

STUDIES = Path(lakatos.__file__).resolve().parent.parent / "studies"


def some_trials(name: str) -> Trials:
    """One participant's random responses to trials of a kind of task."""
    domain, rng = DOMAINS[name], np.random.default_rng(3)
    stimuli = domain.probes(np.random.default_rng(0))[0].take(range(8))
    n = len(stimuli)
    feedback = (
        {"reward": rng.integers(0, 2, n).astype(float), "next_state": np.zeros(n)}
        if name == "learning"
        else {}
    )
    return Trials(
        "x", stimuli, np.zeros(n, int), np.arange(n), rng.integers(0, 2, n), np.ones(n, int),
        n_options=domain.n_options(stimuli), feedback=feedback,
    )  # fmt: skip


@cache
def published(name: str, theory: str) -> ExportedTheory:
    return exported(
        read_program(FAMILIES[name].program(theory)), DOMAINS[name], [some_trials(name)]
    )


def of_two(*formulas: Any) -> list[float]:
    return [value_of(item, {"a": 2.0, "b": 3.0}) for item in formulas]


A, B = symbol("a"), symbol("b")


def test_hyperbolic_discounting_is_the_formula_of_the_textbook() -> None:
    found = published("intertemporal", "hyperbolic").formulas
    assert found.parameters == ("discount_rate", "sensitivity", "lapse")
    values = {
        "amounts_1": 10.0, "delays_days_1": 0.0, "amounts_2": 25.0, "delays_days_2": 30.0,
        "discount_rate": 0.05, "sensitivity": 0.4, "lapse": 0.1,
    }  # fmt: skip
    advantage = 25 / (1 + 0.05 * 30) - 10  # both are worth 10
    later = 0.05 + 0.9 / (1 + math.exp(-0.4 * advantage))
    assert [value_of(item, values) for item in found.probabilities] == pytest.approx(
        [1 - later, later]
    )


def test_both_ways_of_a_branch_are_joined_by_its_condition() -> None:
    def code() -> Any:
        x = cells([A])
        if (x > 2.5).any():
            return x * 10
        return x + 1 if (cells([B]) > 2.5).any() else x

    (found,) = np.asarray(joined(code))
    given = [(3.0, 0.0), (2.0, 3.0), (2.0, 1.0)]
    assert [value_of(found, {"a": a, "b": b}) for a, b in given] == [30.0, 3.0, 2.0]


def test_truth_values_add_up_as_numpy_adds_them() -> None:
    true, false = apply("less", A, B), apply("less", B, A)
    assert of_two(apply("add", true, true), apply("multiply", true, false)) == [1.0, 0.0]
    assert of_two(cells([true, true, false]).sum().item()) == [2.0]
    assert of_two(apply("multiply", true, 3.0), apply("subtract", 1.0, true)) == [3.0, 0.0]


@pytest.mark.parametrize("kind", ["plain", "ties"])
def test_orders_and_places_are_those_of_numpy(kind: str) -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(3, 4)) if kind == "plain" else rng.integers(0, 3, (3, 4)).astype(float)
    names = np.array([[symbol(f"x{i}{j}") for j in range(4)] for i in range(3)], dtype=object)
    held = {f"x{i}{j}": float(table[i, j]) for i in range(3) for j in range(4)}
    own = cells(names)

    def numbers(found: Any) -> np.ndarray:
        flat = [value_of(item, held) for item in np.asarray(cells(found), dtype=object).ravel()]
        return np.array(flat).reshape(np.shape(found))

    order = np.argsort(table, axis=-1, kind="stable")
    np.testing.assert_allclose(numbers(np.argsort(own, axis=-1)), order)
    np.testing.assert_allclose(numbers(np.sort(own, axis=-1)), np.sort(table, axis=-1))
    np.testing.assert_allclose(numbers(np.sort(own, axis=0)), np.sort(table, axis=0))
    np.testing.assert_allclose(numbers(own.argmax(axis=-1)), table.argmax(axis=-1))
    np.testing.assert_allclose(numbers(own.argmin(axis=0)), table.argmin(axis=0))
    np.testing.assert_allclose(numbers(own.cumsum(axis=-1)), table.cumsum(axis=-1))
    np.testing.assert_allclose(
        numbers(np.take_along_axis(own, own.argmax(axis=-1)[..., None], axis=-1)),
        np.take_along_axis(table, table.argmax(axis=-1)[..., None], axis=-1),
    )
    np.testing.assert_allclose(
        numbers(own.max(axis=-1, initial=0.5)), table.max(axis=-1, initial=0.5)
    )
    np.testing.assert_allclose(numbers(np.round(own, 1)), np.round(table, 1))
    np.testing.assert_allclose(numbers(own.mean(axis=0)), table.mean(axis=0))


def test_numbers_that_are_the_same_in_all_trials_are_numbers() -> None:
    def choose(parameters: Any, trials: Any, xp: Any) -> Any:
        return parameters["p"] * trials["x"].sum(axis=-1) + 0 * trials["y"]

    trials = {"x": np.array([[1.0, 2.0], [1.0, 5.0]]), "y": np.array([7.0, 7.0])}
    found = formulas_of({"choose": choose}, ["p"], trials, {})
    assert found.columns == ("x_2",)
    assert value_of(found.probabilities[1], {"p": 0.1, "x_2": 2.0}) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (lambda parameters, trials, xp: xp.unique(parameters["p"]), "numpy.unique"),
        (
            lambda parameters, trials, xp: xp.array([1.0, 2.0])[int(trials["x"][0])],
            "the value of a symbol",
        ),
        (lambda parameters, trials, xp: float(parameters["p"][0, 0]), "the value of a symbol"),
        (lambda parameters, trials, xp: xp.arange(3.0)[None], "several trials"),
    ],
)
def test_code_without_a_formula_is_refused_with_what_it_does(code: Any, reason: str) -> None:
    with pytest.raises(UnwritableError, match=reason):
        formulas_of({"choose": code}, ["p"], {"x": np.arange(2.0)}, {})


def test_too_many_ways_are_refused() -> None:
    def choose(parameters: Any, trials: Any, xp: Any) -> Any:
        return (
            sum(1.0 if trials["x"][0, place] > 0 else 0.5 for place in range(7)) * parameters["p"]
        )

    with pytest.raises(UnwritableError, match="more than 64 ways"):
        formulas_of({"choose": choose}, ["p"], {"x": np.arange(14.0).reshape(2, 7)}, {})


def test_a_theory_that_compares_trials_with_each_other_is_refused() -> None:
    source = '''"""Mean: People compare an amount with the mean amount."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.0, "high": 1.0, "unit": "log odds"}}


def choose(parameters, trials, xp):
    gap = trials["amounts"][:, 1] - trials["amounts"][:, 1].mean()
    return 1 / (1 + xp.exp(-parameters["s"] * gap))
'''
    theory = read_program(TheoryProgram(source, "test"))
    with pytest.raises(UnwritableError, match="formulas of 'Mean' give a log likelihood of"):
        exported(theory, DOMAINS["intertemporal"], [some_trials("intertemporal")])


def test_rows_of_a_theory_that_learns_stand_by_participant_in_the_order_of_presentation() -> None:
    one = some_trials("learning")
    n = len(one.trial)
    mixed = Trials(
        "x", one.stimuli, np.tile([0, 1], n), np.repeat(one.trial, 2), np.repeat(one.response, 2),
        np.ones(2 * n, int), n_options=one.n_options,
        feedback={name: np.repeat(column, 2) for name, column in one.feedback.items()},
    )  # fmt: skip
    theory = read_program(FAMILIES["learning"].program("rescorla_wagner"))
    names = [["b" if place else "a" for place in np.tile([0, 1], n)]]
    found = exported(theory, DOMAINS["learning"], [mixed], names)
    assert found.rows["participant"].tolist() == [1] * n + [2] * n
    assert found.rows["participant_id"].tolist() == ["a"] * n + ["b"] * n
    assert found.rows["reward"][:n].tolist() == found.rows["reward"][n:].tolist()
    assert found.n_checked == n
    assert found.log_likelihood == pytest.approx(
        published("learning", "rescorla_wagner").log_likelihood
    )


def test_what_is_used_twice_has_a_name() -> None:
    twice = apply("exp", apply("add", A, B))
    lines, (written,) = statements(
        [apply("divide", twice, apply("add", 1.0, twice))], R, {"a": "x"}
    )
    assert lines == [("v1", "exp(x + b)")]
    assert written == "v1 / (1.0 + v1)"
    assert statements([choose_between(apply("less", A, B), number(1), A)], R, {})[1] == [
        "where(a < b, 1.0, a)"
    ]


SOME = [
    ("intertemporal", "similarity"),
    ("risky", "cumulative_prospect_theory"),
    ("risky", "priority_heuristic"),
    ("multiattribute", "take_the_best"),
    ("games", "level_2"),
    ("offers", "elimination_by_aspects"),
    ("estimation", "exam"),
    ("sequences", "encoding"),
    ("public_goods", "habit"),
    ("learning", "kalman"),
    ("learning", "hybrid"),
]


@pytest.mark.parametrize(("domain", "name"), SOME)
def test_an_r_program_gives_the_likelihood_of_the_theory(
    domain: str, name: str, tmp_path: Path
) -> None:
    require(shutil.which("Rscript"), "R is not installed")
    theory = published(domain, name)
    (tmp_path / "theory.R").write_text(
        PROGRAMS["r"][1](theory, "theory_data.csv")
        + "cat(format(log_likelihood(START, EXAMPLE), digits = 15))\n"
    )
    done = subprocess.run(
        ["Rscript", "--vanilla", "theory.R"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(theory.log_likelihood, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "name"), [item for item in SOME if item[0] != "learning"])
def test_a_pymc_program_gives_the_likelihood_of_the_theory(domain: str, name: str) -> None:
    theory = published(domain, name)
    held: dict[str, Any] = {}
    exec(PROGRAMS["pymc"][1](theory, "theory_data.csv").split("if __name__")[0], held)
    rows = pd.DataFrame(theory.table).iloc[: theory.n_checked]
    total = held["log_likelihood"](held["START"], rows).sum().eval()
    assert float(total) == pytest.approx(theory.log_likelihood, abs=1e-9)
    built = held["model"](rows)
    assert np.isfinite(built.compile_logp()(built.initial_point()))


def test_a_stan_program_declares_what_it_uses() -> None:
    for domain, name in SOME:
        theory = published(domain, name)
        text = PROGRAMS["stan"][1](theory, "theory_data.csv")
        assert set(re.findall(r"array\[n_rows\] real (\w+);", text)) == set(
            map(own_name, theory.columns)
        )
        functions = text.split("functions {\n")[1].split("data {")[0]
        for body in re.findall(r"  vector \w+\(([^)]*)\) \{\n(.*?)\n  \}\n", functions, re.DOTALL):
            known = {word.split()[-1] for word in body[0].split(", ")}
            for line in body[1].splitlines():
                own, _, written = line.strip().partition(" = ")
                used = set(
                    re.findall(r"\b[a-zA-Z]\w*\b(?!\()", written or own.removeprefix("return"))
                )
                assert used <= known, (name, used - known)
                known |= {own.removeprefix("real ")}


@pytest.mark.parametrize(("domain", "name"), SOME)
def test_functions_of_a_stan_program_give_the_likelihood_of_the_theory(
    domain: str, name: str
) -> None:
    theory = published(domain, name)
    text = PROGRAMS["stan"][1](theory, "theory_data.csv")
    held: dict[str, Any] = {}
    functions = StanProgram(text[text.index("functions {") :].split("data {")[0]).functions
    exec("import numpy as np\nfrom scipy import special\n" + "\n".join(functions), held)
    form, total = theory.formulas, 0.0
    state = [held["first_state"](*theory.start)] if form.state else []
    for row in pd.DataFrame(theory.table).iloc[: theory.n_checked].to_dict("records"):
        given = [*theory.start, *(row[own_name(name)] for name in theory.columns), *state]
        share = held["option_probabilities"](*given)[int(row["response"]) - 1]
        total += row["n"] * math.log(max(share, 1e-12))
        if state:
            state = [held["next_state"](*given, int(row["response"]))]
    assert total == pytest.approx(theory.log_likelihood, abs=1e-9)
    assert repr(theory.log_likelihood) in text


@pytest.mark.parametrize(
    ("domain", "name"), [("offers", "elimination_by_aspects"), ("learning", "hybrid")]
)
def test_a_theory_comes_in_again_from_its_python(domain: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "theory.py"
    export_theory(name, domain=domain, out=file)
    assert import_theory(file).text == FAMILIES[domain].program(name).source


@pytest.mark.parametrize(
    ("form", "domain", "name"),
    [(form, *item) for form in ("stan", "pymc") for item in SOME if form == "stan" or item[0] != "learning"],
)  # fmt: skip
def test_a_program_comes_in_again_with_the_log_likelihood_of_the_theory(
    form: str, domain: str, name: str, tmp_path: Path
) -> None:
    theory = published(domain, name)
    ending, write = PROGRAMS[form]
    file, table = tmp_path / f"theory{ending}", pd.DataFrame(theory.table)
    file.write_text(write(theory, "theory_data.csv"))
    table.to_csv(tmp_path / "theory_data.csv", index=False)
    found = read_likelihood(import_theory(file, answers=tmp_path / "theory_data.csv").text)
    assert [*found.bounds.values()] == [(item.low, item.high) for item in theory.priors.values()]
    held: dict[str, Any] = {}
    exec(found.source, held)
    (own,) = found.people_in(table.astype(str)).values()
    for values in vectors_within(found, 3):
        mine = held["model"](**own, **dict(zip(found.bounds, values, strict=True))).sum()
        named = dict(zip(theory.formulas.parameters, map(float, values), strict=True))
        assert mine == pytest.approx(log_likelihood(theory.formulas, named, theory.rows), abs=1e-9)


def test_pymc_has_no_theories_that_learn() -> None:
    with pytest.raises(UnwritableError, match="export it for Stan or R"):
        PROGRAMS["pymc"][1](published("learning", "rescorla_wagner"), "x.csv")


def test_json_holds_the_source_and_the_population() -> None:
    theory = read_program(FAMILIES["intertemporal"].program("hyperbolic"))
    found = json.loads(to_json(theory, DOMAINS["intertemporal"]))
    assert read_program(TheoryProgram(found["source"], "json")).digest == theory.digest
    rate = found["parameters"]["discount_rate"]
    assert (rate["low"], rate["high"], rate["distribution"]) == (1e-4, 1.0, "log_uniform")
    assert rate["quantiles"]["0.5"] == pytest.approx(1e-2)
    assert found["task"] == "intertemporal"


def test_a_theory_comes_in_again_from_its_json(tmp_path: Path) -> None:
    file = tmp_path / "hyperbolic.json"
    export_theory("hyperbolic", form="json", domain="intertemporal", out=file)
    assert import_theory(file).text == FAMILIES["intertemporal"].program("hyperbolic").source


def test_the_command_writes_program_and_responses(tmp_path: Path) -> None:
    out = tmp_path / "hyperbolic.R"
    export_theory("hyperbolic", form="r", responses=STUDIES / "responses.csv", out=out)
    rows = pd.read_csv(tmp_path / "hyperbolic_data.csv")
    source = pd.read_csv(STUDIES / "responses.csv")
    assert len(rows) == len(source)
    assert rows["participant"].nunique() == source["participant"].nunique()
    assert (rows["participant_id"].astype(str) == source["participant"].astype(str)).mean() > 0
    assert "optim(START" in out.read_text()
    out.unlink()
    with pytest.raises(UnwritableError, match=r"hyperbolic_data\.csv exists already"):
        export_theory("hyperbolic", form="r", responses=STUDIES / "responses.csv", out=out)
    assert not out.exists()


def test_a_file_of_one_participant_in_columns_of_any_name_is_exported(tmp_path: Path) -> None:
    source = pd.read_csv(STUDIES / "responses.csv").query("participant == 1")
    source.rename(columns={"amount_late": "x1", "choice": "x2"}).to_csv(
        tmp_path / "one.csv", index=False
    )
    out = tmp_path / "hyperbolic.stan"
    columns = {
        "response": "x2",
        "stimulus": {
            "amounts": ["amount_soon", "x1"],
            "delays_days": ["delay_soon_days", "delay_late_days"],
        },
    }
    export_theory(
        "hyperbolic", form="stan", responses=tmp_path / "one.csv", columns=columns, out=out
    )
    rows = pd.read_csv(tmp_path / "hyperbolic_data.csv")
    assert (rows["participant"] == 1).all()
    assert len(rows) == len(source)
    whole = tmp_path / "whole.stan"
    export_theory("hyperbolic", form="stan", responses=STUDIES / "responses.csv", out=whole)
    checked = "of its first 40 rows is"
    assert out.read_text().split(checked)[1][:20] == whole.read_text().split(checked)[1][:20]


def test_responses_of_a_run_are_exported_with_its_theory_and_listed_for_withdrawals(
    tmp_path: Path,
) -> None:
    with tarfile.open(GOLDEN) as kept:
        kept.extractall(tmp_path, filter="data")
    runs, out = tmp_path / "runs", tmp_path / "leader.R"
    outcome = read_run("people", runs=runs)
    name = str(outcome.leaderboard["theory"][0])
    export_theory(name, form="r", run="people", runs=runs, out=out)
    rows = pd.read_csv(tmp_path / "leader_data.csv")
    assert rows["n"].sum() == sum(item.n_responses for item in outcome.answers.trials)
    for parameter, value in outcome.theory(name).people.set_index("parameter")["median"].items():
        assert f"{value:.4g}"[:5] in out.read_text(), parameter
    again = tmp_path / "again.R"
    export_theory(name, form="r", responses=runs / "people", out=again)
    assert again.read_text().replace("again_data", "leader_data") == out.read_text()
    assert str(tmp_path / "leader_data.csv") in (runs / "people" / EXPORTS_FILE).read_text()


def test_formulas_need_responses_and_code_needs_none() -> None:
    with pytest.raises(UnwritableError, match="name a file of responses by --responses"):
        export_theory("hyperbolic", form="stan", domain="intertemporal")
    with pytest.raises(UnwritableError, match="leave --responses out"):
        export_theory("hyperbolic", responses=STUDIES / "responses.csv")


def test_code_of_others_does_not_run_here(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        '"""Mine: People choose at random."""\nPARAMETERS = {}\n\n\ndef choose(parameters, trials, xp):\n'
        "    return 0.5 + 0.0 * trials['amounts'][:, 0]\n"
    )
    with pytest.raises(UnwritableError, match="code of others runs only in a sandbox"):
        export_theory(mine, form="r", responses=STUDIES / "responses.csv")


def test_columns_never_have_the_names_of_the_programs() -> None:
    given = ["next_state", "v1", "chosen_1", "state_value_1", "lambda", "rate"]
    assert [own_name(name) for name in given] == [
        "next_state_", "v1_", "chosen_1_", "state_value_1_", "lambda_", "rate",
    ]  # fmt: skip
    theory = published("learning", "rescorla_wagner")
    assert "next_state" in theory.formulas.constants  # no trial of the example has a second stage
    assert set(theory.table) >= set(map(own_name, theory.columns))


def test_numbers_that_are_the_same_in_all_trials_are_listed_in_the_program() -> None:
    text = PROGRAMS["r"][1](published("learning", "rescorla_wagner"), "x.csv")
    assert "# The same in all trials of the responses, and numbers in the formulas:" in text
    assert "#   stage = 0\n" in text


def test_counts_have_a_likelihood_and_no_model_of_participants() -> None:
    trials = replace(some_trials("intertemporal"), pooled=True, n_people=5)
    theory = read_program(FAMILIES["intertemporal"].program("hyperbolic"))
    found = exported(theory, DOMAINS["intertemporal"], [trials])
    assert "log_likelihood <- function" in PROGRAMS["r"][1](found, "x.csv")
    for form in ("stan", "pymc"):
        with pytest.raises(UnwritableError, match="participants cannot be told apart"):
            PROGRAMS[form][1](found, "x.csv")


def test_a_file_is_written_only_into_a_folder_that_exists(tmp_path: Path) -> None:
    for out in (tmp_path, tmp_path / "nowhere" / "x.R"):
        with pytest.raises(UnwritableError, match="name a file in a folder that exists"):
            export_theory("hyperbolic", form="r", responses=STUDIES / "responses.csv", out=out)
        with pytest.raises(UnwritableError, match="name a file in a folder that exists"):
            export_theory("hyperbolic", form="json", domain="intertemporal", out=out)
    assert not list(tmp_path.iterdir())

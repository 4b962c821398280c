"""Likelihood functions: what their arguments and values mean, and what is refused with the trial that shows it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from lakatos.domains import find_domain
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.likelihoods import LikelihoodSandbox, limits_of_calls
from lakatos.theories.errors import TheoryError, TheoryLintError, TheoryTimeoutError
from lakatos.theories.findings.exchange.likelihood import (
    ImportedLikelihood,
    Said,
    import_likelihood,
    read_likelihood,
    vectors_within,
)
from lakatos.theories.findings.likelihood_fit import (
    FittedLikelihood,
    LikelihoodPopulation,
    ParticipantDraws,
    fit_population,
    represent_participants,
    score_left_out,
)
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import read_program

LEARNER = '''
def delta_rule(choices, rewards, parameters):
    """Delta rule.

    - alpha: [0, 1] learning rate
    - beta in [0, 10]: inverse temperature
    """
    alpha, beta = parameters
    value, total = np.zeros(2), 0.0
    for choice, reward in zip(choices, rewards):
        total -= np.log(1 / (1 + np.exp(-beta * (value[choice] - value[1 - choice]))))
        value[choice] += alpha * (reward - value[choice])
    return {}
'''
BIAS = '''
BOUNDS = {{"bias": (0.05, 0.95)}}
def biased(choice, bias):
    """A bias."""
    p = np.where(choice == 1, bias, 1 - bias)
    return {}
'''


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LikelihoodSandbox]:
    with LikelihoodSandbox() as own:
        yield own


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Simulated learners: learning rate 0.4, inverse temperature 3, arms that pay in 80% and 20%."""
    rng, parts = np.random.default_rng(1), []
    for person in range(12):
        value, rows = np.zeros(2), []
        for trial in range(60):
            choice = int(rng.random() < expit(3 * (value[1] - value[0])))
            reward = int(rng.random() < (0.2, 0.8)[choice])
            value[choice] += 0.4 * (reward - value[choice])
            rows.append((f"p{person}", trial, choice, reward))
        parts += rows
    names = ["subject", "trial", "choice", "reward"]
    return pd.DataFrame(parts, columns=names).astype(str)


def learner(returned: str) -> str:
    return LEARNER.replace("{}", returned)


def biased(returned: str) -> str:
    return BIAS.replace("{{", "{").replace("}}", "}").replace("return {}", f"return {returned}")


def imported(
    source: str, table: pd.DataFrame, sandbox: LikelihoodSandbox, **said: object
) -> ImportedLikelihood:
    return import_likelihood(source, table, sandbox, Said(**said))  # type: ignore[arg-type]


def test_arguments_bounds_and_sign_are_found_and_stated(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    found = imported(learner("total"), table, sandbox)
    item = found.likelihood
    assert dict(item.columns) == {"choices": "choice", "rewards": "reward"}
    assert item.bounds == {"alpha": (0, 1), "beta": (0, 10)}
    assert (item.responses, item.returns) == (("choices",), "negative_log_likelihood")
    assert "choices is the column choice (response)" in found.notes[0]
    assert read_likelihood(item.written()) == item


@pytest.mark.parametrize(
    ("returned", "form"),
    [
        ("np.log(p).sum()", "log_likelihood"),
        ("-np.log(p).sum()", "negative_log_likelihood"),
        ("p", "probabilities"),
        ("np.log(p)", "log_probabilities"),
        ("-np.log(p)", "negative_log_probabilities"),
    ],
)
def test_each_form_of_value_is_recognised_by_what_sums_to_one(
    returned: str, form: str, table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    item = imported(biased(returned), table, sandbox).likelihood
    assert item.returns == form
    people = item.people_in(table)
    with sandbox.open_function(item.called, [*people.values()], limits_of_calls()) as session:
        logs = item.log_likelihood(session.values(0, np.array([[0.3], [0.6]])))
    ones = people["p0"]["choice"].sum()
    expected = [ones * np.log(b) + (60 - ones) * np.log(1 - b) for b in (0.3, 0.6)]
    np.testing.assert_allclose(logs, expected, rtol=1e-12)


def test_a_function_of_arrays_takes_all_vectors_in_one_call(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    item = imported(biased("np.log(p)"), table, sandbox).likelihood
    assert item.vectorised
    assert not imported(learner("total"), table, sandbox).likelihood.vectorised
    with sandbox.open_function(
        item.called, [*item.people_in(table).values()], limits_of_calls()
    ) as session:
        vectors = vectors_within(item, 5)
        alone = session.values(3, vectors)
        session.together = True
        np.testing.assert_allclose(session.values(3, vectors), alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (biased("np.log(p).sum() * np.nan"), r"returned nan for participant p0, trial 1, with bias="),
        (
            learner("-total if len(choices) < 7 else -np.inf"),
            r"returned -inf for participant p0, trial 7, with alpha=.*beta=",
        ),
        (biased("np.log(p)[:-1]"), r"shape \(59,\).*each of 60 trials.* bias="),
        (biased("np.log(p).sum() + 40"), r"returned .* for participant p\d+, with bias="),
        (biased("np.log(p).sum() / 2"), r"sum to 1\.\d+ at participant p\d+, trial \d+, with bias="),
        (biased("np.log(p).sum() - bias ** 2"), r"sum to 0\.\d+ at participant p\d+, trial 1, with bias="),
        (
            "calls = []\n" + biased("(calls.append(1), np.log(p).sum() - len(calls))[1]"),
            r"after other calls, for participant p\d+, with bias=",
        ),
        (biased("np.log(p) + 0j"), r"shape \(60,\) of complex128; .* participant p0, with bias="),
        (biased("np.log(p).astype(object)"), r"shape \(60,\) of object"),
        (biased("str(p)"), r"returned <U\d+; it must return one number"),
        (biased("(np.log(p).sum(), p)"), r"returned tuple; it must return one number"),
        (
            biased("np.log(p).sum() + 1e-4 * np.random.normal()"),
            r"after other calls, for participant p\d+, with bias=.* draw no random numbers",
        ),
        (
            "BOUNDS = {'bias': (0, 1)}\ndef biased(choice, bias):\n    return biased(choice, bias)\n",
            r"RecursionError.* participant p0, with bias=",
        ),
        (biased("p").replace("0.95", "0.05"), r"the bounds of bias are 0\.05 and 0\.05"),
        (biased("[0.5 for _ in range(3)]"), r"shape \(3,\)"),
        (biased("None"), "must return one number"),
        (biased("p[99]"), r"IndexError.* participant p0, with bias="),
    ],
)  # fmt: skip
def test_what_is_no_likelihood_is_refused_with_what_shows_it(
    source: str, message: str, table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    with pytest.raises(TheoryError, match=message):
        imported(source, table, sandbox)


def test_a_function_that_changes_its_columns_changes_only_copies(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    swapped = biased("np.log(p).sum()").replace("    p =", "    choice[:] = 1 - choice\n    p =")
    item = imported(swapped, table, sandbox).likelihood
    people = [*item.people_in(table).values()]
    with sandbox.open_function(item.called, people, limits_of_calls()) as session:
        first, again = (session.values(0, np.array([[0.3], [0.3]])) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    expected = np.log(np.where(people[0]["choice"] == 0, 0.3, 0.7)).sum()
    np.testing.assert_allclose(first, [[expected], [expected]])


@pytest.mark.parametrize(
    ("line", "name", "message"),
    [
        ("import os", "os", "line 4 imports 'os'"),
        ("from scipy.optimize import minimize", "minimize", "imports 'scipy.optimize'"),
        ("DATA = open('answers.csv')", "DATA", r"calls open\(\)"),
        ("DATA = np.loadtxt('answers.csv')", "DATA", "read and write no files"),
    ],
)
def test_files_and_other_imports_that_a_function_needs_are_refused(
    line: str, name: str, message: str, table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    with pytest.raises(TheoryLintError, match=message):
        imported(f"{line}\n{learner(f'total if {name} else 0')}", table, sandbox)


def test_a_mark_of_missing_responses_is_refused_until_it_is_skipped(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    marked = table.copy()
    marked.loc[marked.index[59::60], "choice"] = "-1"
    with pytest.raises(TheoryError, match=r"choice holds -1, 0, 1.*--skip"):
        imported(learner("total"), marked, sandbox)
    item = imported(learner("total"), marked, sandbox, skip={"choice": "-1"}).likelihood
    assert {len(own["choices"]) for own in item.people_in(marked).values()} == {59}


def test_an_open_meaning_is_refused_with_the_option_that_settles_it(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    with pytest.raises(TheoryError, match=r"may mean the columns .*--argument choices="):
        imported(learner("total"), table.assign(action=table["choice"]), sandbox)
    with pytest.raises(TheoryError, match=r"'rewards' .* --argument rewards=COLUMN"):
        imported(learner("total"), table.drop(columns="reward"), sandbox)
    without = learner("total").replace("beta in [0, 10]", "beta")
    with pytest.raises(TheoryError, match=r"parameter beta has no bounds.*--bound beta="):
        imported(without, table, sandbox)
    assert imported(without, table, sandbox, bounds={"beta": (0, 10)}).likelihood.bounds[
        "beta"
    ] == (0, 10)


def test_a_limit_counts_processor_time_of_the_function(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    slow = biased("[np.log(p).sum() for _ in range(10**9)][0]")
    with pytest.raises(TheoryTimeoutError, match="processor time"):
        import_likelihood(slow, table, sandbox, seconds=0.05)


def test_a_function_that_never_ends_is_refused_after_the_time_of_one_call(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    endless = biased("[np.log(p).sum() for _ in iter(int, 1)][0]")
    with pytest.raises(
        TheoryTimeoutError,
        match=r"used more than 0\.3 s of processor time, 0\.3 s a call.*--seconds",
    ):
        import_likelihood(endless, table, sandbox, seconds=0.3)


@pytest.mark.slow
@pytest.mark.statistical
def test_parameters_of_simulated_participants_are_found_and_the_truth_wins(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    scores = {}
    for name, source in (("delta", learner("total")), ("bias", biased("np.log(p)"))):
        item = imported(source, table, sandbox).likelihood
        people = item.people_in(table)
        draws = represent_participants(item, people, sandbox)
        scores[name] = score_left_out(draws)
        if name == "delta":
            fitted = FittedLikelihood(item, tuple(people), tuple(draws), fit_population(draws))
            found = fitted.people.set_index("parameter")["median"]
            each = fitted.participants
            error = each[["alpha_mean", "beta_mean"]].std(ddof=1) / np.sqrt(len(each))
            assert abs(found["alpha"] - 0.4) < 4 * max(error["alpha_mean"], 0.05)
            assert abs(found["beta"] - 3.0) < 4 * max(error["beta_mean"], 0.2)
            best = each["log_likelihood"].to_numpy()
            assert (scores[name].log_predictive < best).all()
    gain = scores["delta"].per_choice - scores["bias"].per_choice
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))


def test_the_order_of_participants_changes_no_score(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    item = imported(learner("total"), table, sandbox).likelihood
    people = item.people_in(table[table["subject"].isin(["p0", "p1", "p2"])])
    turned = dict(reversed(people.items()))
    first = represent_participants(item, people, sandbox)
    second = represent_participants(item, turned, sandbox)
    np.testing.assert_allclose(
        score_left_out(first).log_predictive, score_left_out(second).log_predictive[::-1], atol=1e-9
    )


HYPERBOLIC = '''
def dd(delay_later, amount_later, delay_sooner, amount_sooner, choice, discount_rate, sensitivity, lapse):
    """Hyperbolic discounting, with the bounds discount_rate [0.0001, 1], sensitivity [0.0001, 10], lapse [0, 0.4]."""
    later = amount_later / (1 + discount_rate * delay_later)
    sooner = amount_sooner / (1 + discount_rate * delay_sooner)
    p = lapse / 2 + (1 - lapse) / (1 + np.exp(-sensitivity * (later - sooner)))
    return np.log(np.where(choice == 1, p, 1 - p))
'''


def test_hyperbolic_discounting_equals_the_theory_of_the_package(
    sandbox: LikelihoodSandbox,
) -> None:
    rng = np.random.default_rng(3)
    n_trials = 40
    sooner, later = rng.integers(5, 30, n_trials), rng.integers(30, 60, n_trials)
    delays = rng.integers(1, 180, n_trials)
    choice = rng.integers(0, 2, n_trials)
    table = pd.DataFrame(
        {
            "subjID": np.repeat(["a", "b"], n_trials // 2),
            "delay_later": delays,
            "amount_later": later,
            "delay_sooner": 0,
            "amount_sooner": sooner,
            "choice": choice,
        }
    ).astype(str)
    bounds = {"discount_rate": (0.0001, 1.0), "sensitivity": (0.0001, 10.0), "lapse": (0.0, 0.4)}
    item = imported(HYPERBOLIC, table, sandbox, bounds=bounds).likelihood
    vectors = vectors_within(item, 8)
    family = find_family(find_domain("intertemporal"))
    program = read_program(family.program("hyperbolic")).program
    stimuli = {
        "amounts": np.stack([sooner, later], axis=1).astype(float),
        "delays_days": np.stack([np.zeros(n_trials), delays], axis=1),
    }
    parameters = {name: vectors[:, place] for place, name in enumerate(item.bounds)}
    with Sandbox() as plain:
        (shares,) = plain.probabilities(program.source, parameters, [stimuli])
    expected = np.log(shares[:, np.arange(n_trials), choice]).sum(axis=1)
    people = item.people_in(table)
    with sandbox.open_function(item.called, [*people.values()], limits_of_calls()) as session:
        found = sum(item.log_likelihood(session.values(place, vectors)) for place in (0, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_only_what_a_function_needs_is_taken_from_a_script(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    script = (
        "import pandas as pd\nfrom scipy.optimize import minimize\nFLOOR = 1e-12\n"
        + biased("safe_log(p)")
        + "\ndef safe_log(p):\n    return np.log(p + 0 * FLOOR)\n\np = pd.read_csv('responses.csv')\nprint(p.head())\n"
    )
    found = imported(script, table, sandbox)
    assert "pandas" not in found.likelihood.source
    assert "FLOOR = 1e-12" in found.likelihood.source
    assert found.likelihood.bounds == {"bias": (0.05, 0.95)}
    assert "only what biased needs was taken from the file" in found.notes
    with pytest.raises(TheoryError, match=r"imports 'pandas'; use numpy"):
        imported(script.replace("* FLOOR", "* pd.Series(p)"), table, sandbox)


def test_bounds_of_several_parameters_may_stand_in_one_line(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    lines = "    - alpha: [0, 1] learning rate\n    - beta in [0, 10]: inverse temperature\n"
    for one in (
        "alpha in [0, 1], beta in [0, 10]",
        "alpha (0, 1) and beta (0, 10)",
        "parameters: alpha [0, 1], beta [0, 10]",
    ):
        source = learner("total").replace(lines, f"    {one}\n")
        bounds = imported(source, table, sandbox).likelihood.bounds
        assert bounds == {"alpha": (0, 1), "beta": (0, 10)}
    described = source.replace("Delta rule.\n\n    ", "")
    assert imported(described, table, sandbox).likelihood.name == "delta_rule"
    with pytest.raises(TheoryError, match=r"alpha, beta have no bounds.*--bound beta="):
        imported(learner("total").replace(lines, ""), table, sandbox)


def test_rows_in_another_order_than_their_trials_are_stated(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    def warned(rows: pd.DataFrame) -> bool:
        notes = imported(biased("p"), rows, sandbox).notes
        return any("not in the order of trial" in own for own in notes)

    assert not warned(table)
    assert warned(table.iloc[::-1])
    assert not warned(table.assign(trial=[str(int(own) % 20) for own in table["trial"]]))  # blocks


def test_a_response_time_that_is_no_response_is_named_by_the_refusal(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    timed = biased("np.log(p) + np.log(rt)").replace("(choice, bias)", "(choice, rt, bias)")
    rows = table.assign(rt=np.linspace(0.3, 0.9, len(table)).astype(str))
    with pytest.raises(TheoryError, match=r"If rt .* --response choice --response rt\."):
        imported(timed, rows, sandbox)


def test_an_empty_cell_is_refused_with_the_option_that_leaves_its_row_out(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    rows = table.copy()
    rows.loc[3, "reward"] = ""
    with pytest.raises(TheoryError, match=r"row 3 has no reward.*--skip reward= "):
        imported(learner("total"), rows, sandbox)
    assert imported(learner("total"), rows, sandbox, skip={"reward": ""}).likelihood.skip


def test_a_file_without_a_function_or_a_column_of_participants_says_so(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    with pytest.raises(TheoryError, match="no function outside of classes"):
        imported("class Model:\n    pass\n", table, sandbox)
    with pytest.raises(TheoryError, match="participants is open; say --participant"):
        imported(learner("total"), table.rename(columns={"subject": "VPN"}), sandbox)


def test_participants_whom_few_draws_represent_are_counted(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    item = imported(biased("p"), table, sandbox).likelihood
    z = np.zeros((20, 1))

    def drawn(n_that_count: int) -> ParticipantDraws:
        logs = np.where(np.arange(20) < n_that_count, 0.0, -1e3)
        return ParticipantDraws(np.array([0.5]), -10.0, 60, z, logs)

    population = LikelihoodPopulation(np.zeros(1), np.ones(1))
    draws = (drawn(9), drawn(11), drawn(1))
    fitted = FittedLikelihood(item, ("a", "b", "c"), draws, population)
    assert fitted.n_with_few_draws == 2
    assert fitted.participants["flags"].tolist() == [
        "few effective draws",
        "",
        "few effective draws",
    ]
    empty = fitted.participants[["bias_mean", "bias_low", "bias_high"]].isna().all(axis=1)
    assert empty.tolist() == [True, False, True]
    assert fitted.participants["bias_ml"].tolist() == [0.5, 0.5, 0.5]


def test_numbered_options_that_nobody_chose_belong_to_the_sum(
    table: pd.DataFrame, sandbox: LikelihoodSandbox
) -> None:
    five = BIAS.format(
        "np.log(np.array([bias / 2, 1 - bias, 0, bias / 4, bias / 4]) + 1e-300)[choice]"
    )
    found = import_likelihood(five, table, sandbox)
    assert found.likelihood.returns == "log_probabilities"
    less = five.replace("bias / 4, bias / 4", "bias / 4, bias / 8")
    with pytest.raises(TheoryError, match=r"probabilities sum to 0\.64"):
        import_likelihood(less, table, sandbox)


def test_a_population_is_estimated_no_further_than_draws_represent_it() -> None:
    rng, under = np.random.default_rng(2), LikelihoodPopulation(np.zeros(2), np.ones(2))
    draws = []
    for _ in range(5):
        z = rng.normal(size=(256, 2))
        likelihoods = -0.5 * ((z.sum(axis=1) - 3) / 0.3) ** 2
        log_values = likelihoods - under.log_density(z)
        draws.append(ParticipantDraws(np.zeros(2), 0.0, 9, z, log_values, under))
    weights = [np.exp(own.log_values + under.log_density(own.z)) for own in draws]
    weights = [own / own.sum() for own in weights]
    assert np.median([1 / np.sum(own**2) for own in weights]) < 64
    mean = np.mean([w @ own.z for w, own in zip(weights, draws, strict=True)], axis=0)
    square = np.mean([w @ own.z**2 for w, own in zip(weights, draws, strict=True)], axis=0)
    found = fit_population(draws)
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.sd, np.sqrt(square - mean**2))

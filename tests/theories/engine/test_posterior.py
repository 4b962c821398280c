"""Posteriors against closed forms and quadrature, by both samplers; what cannot be traced says so; nothing escapes."""

import contextlib
import math
import os
import re
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import beta, kstest, norm

from benchmarks.theories.calibration import simulation_based_calibration, uniformity
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.fitting.metropolis import sample as metropolis
from lakatos.theories.engine.fitting.posterior import PosteriorInference, fit
from lakatos.theories.engine.fitting.posterior_check import (
    compare,
    posterior_predictive,
)
from lakatos.theories.engine.fitting.posterior_result import ChainDiagnostics, load_posterior
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.limits import (
    MOST_THREADS,
    NO_EXECUTABLE_MEMORY,
    THREAD_LIMIT,
    SandboxLimits,
)
from lakatos.theories.engine.sandbox.tracer import LIMITS, TracerSandbox
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import (
    PosteriorError,
    TheoryError,
    TheoryResourceError,
    TheoryTimeoutError,
)
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program

NORMAL_LEAN = '{"lean": {"prior": "normal", "mean": 0.0, "sd": 1.0, "low": -4.0, "high": 4.0}}'
LOGISTIC = "return 1 / (1 + xp.exp(-parameters['lean'] - 0 * trials['x']))"
UNIFORM = '{"share": {"prior": "uniform", "low": 0.0, "high": 1.0}}'
SLOPE_AND_POWER = """{
    "slope": {"prior": "log_uniform", "low": 0.1, "high": 20.0},
    "power": {"prior": "uniform", "low": 0.2, "high": 2.0},
}"""
POWER = """
value = trials["x"] ** parameters["power"][..., None]
return 1 / (1 + xp.exp(-parameters["slope"] * (value[..., 1] - value[..., 0])))
"""
STEP = '{"caution": {"prior": "uniform", "low": 0.0, "high": 1.0}}'


def theory(parameters, body, name="A theory"):
    source = f'"""{name}: people choose."""\nPARAMETERS = {parameters}\n\ndef choose(parameters, trials, xp):\n'
    return read_program(
        TheoryProgram(
            source + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n", "test"
        )
    )


LEAN = theory(NORMAL_LEAN, LOGISTIC, "Lean")
SHARE = theory(UNIFORM, "return parameters['share'] + 0 * trials['x']", "Share")
POWERS = theory(SLOPE_AND_POWER, POWER, "Powers")
THRESHOLD = theory(
    STEP, "return xp.where(trials['x'] > parameters['caution'], 0.9, 0.1)", "Threshold"
)
RANDOM = theory("{}", "return xp.full((len(parameters['']), len(trials['x'])), 0.5)", "Random")


def answers(chosen, asked, x=None, *, pooled=False, experiment="e"):
    """``(n_people, n_trials)`` choices of the last option of ``asked``."""
    chosen = np.asarray(chosen)
    person, trial = (axis.ravel() for axis in np.indices(chosen.shape))
    return Trials(
        experiment=experiment,
        stimuli=Stimuli({"x": np.linspace(0.05, 0.95, chosen.shape[1]) if x is None else x}),
        participant=np.tile(person, 2),
        trial=np.tile(trial, 2),
        response=np.repeat([0, 1], person.size),
        count=np.concatenate([(asked - chosen).ravel(), chosen.ravel()]),
        pooled=pooled,
    )


def monte_carlo_error(draws, ess):
    return draws.std() / math.sqrt(ess)


@pytest.fixture(scope="module")
def tracer():
    with TracerSandbox() as running:
        yield running


@pytest.mark.slow
@pytest.mark.statistical
def test_pooled_counts_under_a_uniform_prior_give_the_beta_distribution(sandbox):
    found = fit(
        SHARE,
        [answers([[7]], 10, pooled=True)],
        sandbox,
        gradient_free=True,
        draws=800,
        tune=150,
        sweeps=4,
    )
    assert (found.method, found.reason) == ("adaptive Metropolis", "it was asked for")
    assert found.diagnostics.problems == ()
    share = found.values("share")
    thinned = share[:, ::20].ravel()
    assert kstest(thinned, beta(8, 4).cdf).pvalue > 0.001
    error = monte_carlo_error(share, found.diagnostics.ess_bulk)
    assert abs(share.mean() - beta(8, 4).mean()) < 4 * error


@pytest.mark.slow
@pytest.mark.statistical
def test_a_person_alone_has_the_declared_prior_times_the_likelihood(sandbox):
    found = fit(
        LEAN, [answers([[9]], 10)], sandbox, gradient_free=True, draws=800, tune=150, sweeps=4
    )

    def weight(x):
        return norm.pdf(x) * expit(x) ** 9 * expit(-x)

    total = quad(weight, -4, 4)[0]
    mean = quad(lambda x: x * weight(x) / total, -4, 4)[0]
    lean = found.values("lean")
    assert abs(lean.mean() - mean) < 4 * monte_carlo_error(lean, found.diagnostics.ess_bulk)
    assert "population_center" not in found.data.posterior


@pytest.mark.slow
@pytest.mark.statistical
def test_people_share_a_population_that_is_recovered_and_shrinks_them(sandbox):
    rng = np.random.default_rng(4)
    own = rng.normal(0.6, 0.5, size=40)
    asked = 20
    chosen = rng.binomial(asked, expit(own))[:, None]
    found = fit(
        LEAN,
        [answers(chosen, asked)],
        sandbox,
        gradient_free=True,
        draws=250,
        tune=150,
        sweeps=8,
        seed=2,
    )
    assert found.diagnostics.r_hat < 1.05
    # Each person's log odds are known to about 1 / (asked p (1 - p)); with the spread of people this bounds the mean.
    noise = 1 / (asked * expit(0.6) * expit(-0.6))
    center = found.data.posterior["population_center"]
    assert abs(float(center.mean()) - 0.6) < 4 * math.sqrt((0.5**2 + noise) / 40)
    spread = float(found.data.posterior["population_spread"].mean())
    assert abs(spread - 0.5) < 4 * (0.5**2 + noise) / 0.5 / math.sqrt(2 * 40)
    means = found.values("lean").mean(axis=(0, 1))
    raw = np.log((chosen[:, 0] + 0.5) / (asked - chosen[:, 0] + 0.5))
    assert means.std() < raw.std()
    assert np.mean((means - own) ** 2) < np.mean((raw - own) ** 2)


@pytest.mark.long
@pytest.mark.statistical
def test_without_answers_that_matter_the_sampler_returns_its_prior():
    drawn = metropolis(
        lambda z: np.zeros(z.shape[:2]),
        np.zeros(5, dtype=bool),
        2,
        draws=1500,
        tune=200,
        chains=4,
        sweeps=10,
        rng=np.random.default_rng(3),
    )
    thinned = slice(None, None, 25)
    assert kstest(drawn.center[:, thinned, 0].ravel(), norm.cdf).pvalue > 0.001
    assert kstest(drawn.spread[:, thinned, 1].ravel(), lambda s: 2 * norm.cdf(s) - 1).pvalue > 0.001
    offset = (drawn.z - drawn.center[:, :, None]) / drawn.spread[:, :, None]
    assert kstest(offset[:, thinned, 0, 0].ravel(), norm.cdf).pvalue > 0.001


def test_the_same_seed_gives_the_same_draws(sandbox):
    data = [answers([[3, 7], [5, 5]], 10)]
    first, again, other = (
        fit(LEAN, data, sandbox, gradient_free=True, draws=30, tune=30, sweeps=2, seed=seed).values(
            "lean"
        )
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_saved_posterior_is_read_back_and_opened_by_arviz(sandbox, tmp_path):
    import arviz

    found = fit(
        LEAN,
        [answers([[3, 7], [5, 5]], 10)],
        sandbox,
        gradient_free=True,
        draws=40,
        tune=40,
        sweeps=2,
    )
    found.save(tmp_path / "lean.nc")
    read = load_posterior(tmp_path / "lean.nc")
    assert (read.theory, read.digest, read.method, read.diagnostics, read.answers, read.layers) == (
        found.theory,
        found.digest,
        found.method,
        found.diagnostics,
        found.answers,
        found.layers,
    )
    assert np.array_equal(read.values("lean"), found.values("lean"))
    assert set(read.data.groups()) == set(found.data.groups())
    assert list(read.data.posterior["unit"].values) == ["e/0", "e/1"]
    assert arviz.summary(arviz.from_netcdf(str(tmp_path / "lean.nc"))).loc[
        "lean[e/0]", "mean"
    ] == pytest.approx(found.values("lean")[..., 0].mean(), abs=1e-3)
    (tmp_path / "other.nc").write_text("nothing")
    with pytest.raises(PosteriorError, match="holds no posterior"):
        load_posterior(tmp_path / "other.nc")


OF_NUTS_ONLY = ("plot_energy", "plot_parallel")
"""Plots of what the gradient-free sampler has not: energies and divergences."""
OF_PRIOR_DRAWS = ("plot_bf",)
"""Plots that also need draws from the prior, which no posterior holds."""


def plot_of(name, data, values):
    """Call one of ArviZ's plots with what it asks for."""
    import arviz

    plot = getattr(arviz, name)
    cells = data.observed_data["answers"].values[:, -1]
    replicated = data.posterior_predictive["answers"].values[0, :, :, -1]
    log_likelihood = data.log_likelihood["answers"].values.reshape(-1, len(cells))
    one = values[..., 0]
    special = {
        "plot_compare": lambda: plot(arviz.compare({"one": data, "other": data})),
        "plot_dist": lambda: plot(one),
        "plot_dot": lambda: plot(one.ravel()),
        "plot_ecdf": lambda: plot(one.ravel()),
        "plot_kde": lambda: plot(one),
        "plot_elpd": lambda: plot({"one": data, "other": data}),
        "plot_hdi": lambda: plot(np.arange(values.shape[-1]), data.posterior["lean"]),
        "plot_khat": lambda: plot(arviz.loo(data, pointwise=True)),
        "plot_pair": lambda: plot(data, divergences=True),
        "plot_lm": lambda: plot(y="answers", idata=data, plot_dim="option"),
        "plot_ts": lambda: plot(data, y="answers", plot_dim="option"),
        "plot_loo_pit": lambda: plot(
            y=cells, y_hat=replicated.T, log_weights=arviz.psislw(-log_likelihood.T)[0]
        ),
        "plot_separation": lambda: plot(
            y=(cells > 4).astype(int), y_hat=replicated.mean(axis=0) / replicated.max()
        ),
    }
    special.get(name, lambda: plot(data))()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("gradient_free", "kept"), [(False, True), (True, False)])
def test_every_plot_of_arviz_can_be_drawn_of_a_posterior(sandbox, tmp_path, gradient_free, kept):
    import arviz
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    data = [answers([[3, 7], [5, 5], [2, 6]], 10)]
    found = fit(LEAN, data, sandbox, gradient_free=gradient_free, draws=30, tune=30, sweeps=1)
    n_draws = found.data.posterior.sizes["chain"] * found.data.posterior.sizes["draw"]
    found, _ = posterior_predictive(found, LEAN, data, sandbox, n_replications=n_draws)
    if kept:
        found.save(tmp_path / "lean.nc")
        found = load_posterior(tmp_path / "lean.nc")
    left_out = OF_PRIOR_DRAWS + (OF_NUTS_ONLY if gradient_free else ())
    names = [name for name in dir(arviz) if name.startswith("plot_") and name not in left_out]
    assert {"plot_trace", "plot_pair", "plot_posterior", "plot_ppc"} <= set(names)
    for name in names:
        plot_of(name, found.data, found.values("lean"))
        pyplot.close("all")


def test_a_posterior_that_was_saved_with_numbers_alone_is_read_with_types(sandbox, tmp_path):
    found = fit(
        LEAN, [answers([[3, 7]], 10)], sandbox, gradient_free=True, draws=20, tune=20, sweeps=1
    )
    shape = (found.data.posterior.sizes["chain"], found.data.posterior.sizes["draw"])
    found.data.sample_stats["diverging"] = (("chain", "draw"), np.zeros(shape))
    found.save(tmp_path / "before.nc")
    assert load_posterior(tmp_path / "before.nc").data.sample_stats["diverging"].dtype == bool


def test_answers_that_teach_nothing_are_refused_by_name(sandbox):
    with pytest.raises(PosteriorError, match="no answers"):
        fit(LEAN, [], sandbox)
    with pytest.raises(PosteriorError, match="'empty' holds no answers"):
        fit(LEAN, [answers([[1]], 2), answers([[0]], 0, experiment="empty")], sandbox)
    with pytest.raises(PosteriorError, match="different names"):
        fit(LEAN, [answers([[1]], 2), answers([[1]], 2)], sandbox)


def test_a_required_layer_that_forbids_compilation_leads_to_the_gradient_free_sampler():
    with Sandbox(require=frozenset((NO_EXECUTABLE_MEMORY,))) as strict:
        found = fit(LEAN, [answers([[3]], 10)], strict, draws=20, tune=20, sweeps=1)
    assert found.method == "adaptive Metropolis"
    assert "forbids compilation" in found.reason
    assert NO_EXECUTABLE_MEMORY in found.layers


@pytest.mark.slow
def test_replicated_answers_reproduce_what_the_theory_explains_and_not_what_it_does_not(sandbox):
    rng = np.random.default_rng(8)
    x = np.linspace(0.05, 0.95, 10)
    steep = [answers(rng.binomial(20, np.tile(np.linspace(0.1, 0.9, 10), (12, 1))), 20, x)]
    flat = [answers(rng.binomial(20, np.full((12, 10), 0.6)), 20, x)]
    name = "chi-square of choice counts per trial"
    p_values = []
    for data in (steep, flat):
        found = fit(LEAN, data, sandbox, gradient_free=True, draws=100, tune=100, sweeps=5)
        checked, checks = posterior_predictive(found, LEAN, data, sandbox, n_replications=100)
        assert checked.data.posterior_predictive["answers"].shape == (1, 100, 120, 2)
        assert (checked.data.posterior_predictive["answers"].sum("option") == 20).all()
        p_values += [check.p_value for check in checks if check.name == name]
    assert p_values[0] == 0.0
    assert p_values[1] > 0.01
    with pytest.raises(PosteriorError, match="its own answers"):
        posterior_predictive(found, LEAN, steep, sandbox)


@pytest.mark.slow
def test_leave_one_out_prefers_the_theory_that_made_the_answers(sandbox):
    rng = np.random.default_rng(9)
    data = [answers(rng.binomial(10, np.full((8, 12), 0.8)), 10)]
    lean = fit(LEAN, data, sandbox, gradient_free=True, draws=200, tune=200, sweeps=5)
    random = fit(RANDOM, data, sandbox, draws=200, tune=0)
    assert (random.method, random.reason) == ("none", "the theory has no parameters")
    first, second = compare({"lean": lean, "random": random})
    assert (first.name, second.name) == ("lean", "random")
    assert second.difference > 4 * second.difference_error
    assert first.weight > 0.9
    assert second.elpd_loo == pytest.approx(data[0].n_responses * math.log(0.5))
    assert first.n_cells == 96
    other = fit(RANDOM, [answers([[1]], 2)], sandbox, draws=20)
    with pytest.raises(PosteriorError, match="same answers"):
        compare({"lean": lean, "other": other})


def test_posteriors_say_plainly_when_chains_were_too_short():
    fine = {"r_hat": 1.005, "ess_bulk": 900.0, "ess_tail": 800.0, "n_divergences": 0}
    assert ChainDiagnostics(**fine, n_chains=4, n_draws=500).problems == ()
    few = ChainDiagnostics(**fine | {"ess_tail": 90.0}, n_chains=4, n_draws=500)
    assert "effective sample size is 90, below 400" in few.problems[0]
    # Sixteen chains of 25 independent draws each differ more by chance than four chains of 100.
    apart = fine | {"r_hat": 1.03}
    assert ChainDiagnostics(**apart, n_chains=16, n_draws=500).problems == ()
    assert (
        "R-hat is 1.030, above 1.01"
        in ChainDiagnostics(**apart, n_chains=4, n_draws=500).problems[0]
    )


@pytest.mark.slow
def test_calibration_tells_chains_that_were_too_short_for_its_ranks(sandbox):
    asked = [answers(np.zeros((3, 8), dtype=int), 3)]

    def too_short(draws, tune, sweeps):
        return simulation_based_calibration(
            LEAN, asked, sandbox, gradient_free=True, n_simulations=3, n_ranks=20,
            draws=draws, tune=tune, chains=2, sweeps=sweeps,
        ).n_too_short  # fmt: skip

    assert too_short(10, 10, 1) == 3
    assert too_short(200, 100, 5) == 0


def test_uniform_ranks_pass_and_a_posterior_that_is_too_narrow_or_shifted_fails():
    rng = np.random.default_rng(10)
    p_values = [uniformity(rng.integers(32, size=100), 32).distribution for _ in range(12)]
    assert kstest(p_values, "uniform").pvalue > 0.001
    narrow = np.where(rng.random(200) < 0.5, rng.integers(0, 10, 200), rng.integers(54, 64, 200))
    for wrong in (narrow, rng.integers(20, 64, 200)):
        found = uniformity(wrong, 64)
        assert found.distribution < 0.01
        assert found.chi_square < 1e-6


@pytest.mark.long
@pytest.mark.statistical
def test_gradient_free_inference_is_calibrated_for_people_and_for_steps(sandbox):
    for rule, n_people in ((LEAN, 3), (THRESHOLD, 1)):
        asked = [answers(np.zeros((n_people, 8), dtype=int), 3)]
        found = simulation_based_calibration(
            rule,
            asked,
            sandbox,
            gradient_free=True,
            n_simulations=100,
            n_ranks=32,
            draws=64,
            tune=100,
            sweeps=6,
        )
        assert found.p_value > 0.001, found.tests


@pytest.mark.long
def test_a_theory_that_reads_what_earlier_steps_show_is_walked_through_them(sandbox):
    """A target of pumps learns nothing, but the pumps so far are known along a person's own steps only."""
    domain = DOMAINS["stopping"]
    theory = read_program(FAMILIES["stopping"].program("fixed_target"))
    assert not theory.learns
    rng = np.random.default_rng(3)
    stimuli = domain.candidates({"n_steps": 14, "most": 6}, rng, 14)
    with Laboratory(domain, 1) as laboratory:
        (trials,) = laboratory.simulate([theory], stimuli, 4, rng, n_draws=16)
    with PosteriorInference(theory, [trials], sandbox, domain=domain) as inference:
        assert (inference.method, inference.reason) == (
            "adaptive Metropolis",
            "a theory whose predictions depend on earlier steps is not traced",
        )
        values = inference.parameters(np.zeros((1, 4, len(theory.priors))))
        found = inference.log_likelihood(values, [trials])
    alike = dict(zip(theory.priors, values[0, :1].T, strict=True))
    with TheoryView(theory, domain, sandbox, [trials.stimuli]) as view:
        expected = view.log_likelihood(alike, [trials])
    assert found == pytest.approx(expected)
    assert found.max() < 0


@pytest.mark.slow
def test_people_who_learn_are_fitted_along_their_own_sequences(sandbox):
    source = """
    '''Learner: people prefer what was rewarded.'''
    PARAMETERS = {"rate": {"prior": "uniform", "low": 0.0, "high": 1.0}}

    def start(parameters, trials, xp):
        return {"value": xp.zeros((1, 1, 2))}

    def choose(parameters, trials, xp, state):
        p = 1 / (1 + xp.exp(-4 * (state["value"][..., 1] - state["value"][..., 0])))
        return p + 0 * parameters["rate"]

    def learn(parameters, trials, xp, state, response, feedback):
        error = feedback["reward"][..., None] - state["value"]
        return {"value": state["value"] + parameters["rate"][..., None] * response * error}
    """
    learner = read_program(
        TheoryProgram(textwrap.dedent(source).replace("'''", '"""').strip() + "\n", "test")
    )
    domain = DOMAINS["learning"]
    probe = domain.probes(np.random.default_rng(0))[0]
    assert domain.n_options(probe) == 2
    n_steps = len(probe)
    empty = Trials(
        experiment="bandit",
        stimuli=probe,
        participant=np.repeat(np.arange(6), n_steps),
        trial=np.tile(np.arange(n_steps), 6),
        response=np.zeros(6 * n_steps, dtype=int),
        count=np.ones(6 * n_steps, dtype=int),
        feedback={"reward": np.zeros(6 * n_steps)},
    )
    found = simulation_based_calibration(
        learner,
        [empty],
        sandbox,
        domain=domain,
        n_simulations=6,
        n_ranks=8,
        draws=10,
        tune=10,
        chains=2,
        sweeps=2,
    )
    assert found.method == "adaptive Metropolis"
    assert "learns" in found.reason
    assert set(found.ranks) == {
        "rate of the first",
        "center of rate",
        "spread of rate",
        "log-likelihood",
    }


@pytest.mark.long
@pytest.mark.statistical
def test_nuts_and_the_gradient_free_sampler_agree_and_the_density_is_checked(sandbox, tracer):
    rng = np.random.default_rng(12)
    x = rng.random((20, 2))
    p = expit(4 * (x[:, 1] ** 0.7 - x[:, 0] ** 0.7))
    people = answers(rng.binomial(5, np.tile(p, (8, 1))), 5, x, experiment="people")
    pooled = answers(rng.binomial(100, p[None]), 100, x, pooled=True, experiment="pooled")
    data = [people, pooled]
    traced = fit(POWERS, data, sandbox, tracer=tracer, draws=500, tune=500)
    assert (traced.method, traced.reason) == ("NUTS", "the theory was traced")
    again = fit(POWERS, data, sandbox, tracer=tracer, draws=500, tune=500)
    assert np.array_equal(traced.values("slope"), again.values("slope"))
    free = fit(POWERS, data, sandbox, gradient_free=True, draws=1000, tune=500, sweeps=10)
    for name in ("slope", "power"):
        ours, theirs = np.log(traced.values(name)), np.log(free.values(name))
        for unit in range(9):
            a, b = ours[..., unit], theirs[..., unit]
            n = min(traced.diagnostics.ess_bulk, free.diagnostics.ess_bulk)
            assert abs(a.mean() - b.mean()) < 5 * math.sqrt((a.var() + b.var()) / n)
            assert 0.7 < a.std() / b.std() < 1.4
    assert NO_EXECUTABLE_MEMORY not in traced.layers
    assert {"seccomp", "landlock"} & set(traced.layers) == {"seccomp", "landlock"} & set(
        free.layers
    )


@pytest.mark.long
def test_what_has_no_useful_gradient_goes_gradient_free_and_says_why(sandbox, tracer):
    data = [answers(np.full((3, 10), 2), 4)]
    reasons = {
        "return xp.where(trials['x'] > parameters['caution'], 0.9, 0.1)": "change in steps along 'caution'",
        "return (0.9 if parameters['caution'] > 0.5 else 0.1) + 0 * trials['x']": "line 5: branching on a parameter",
        "return 0.5 + 0 * trials['x'] + 0 * xp.vectorize(abs)(parameters['caution'])": "line 5",
        "p = xp.zeros(len(trials['x'])) + 0 * parameters['caution']\np[..., 0] = 0.5\nreturn p": "assigning in place",
        "return 0.5 + 0.4 * xp.round(parameters['caution'] - 0.01 * trials['x'])": "numpy.round",
    }
    for body, reason in reasons.items():
        rule = theory(STEP, body)
        try:
            found = fit(rule, data, sandbox, tracer=tracer, draws=20, tune=20, sweeps=1)
        except TheoryError as error:
            pytest.fail(f"{body}: {error}")
        assert found.method == "adaptive Metropolis", body
        assert reason in found.reason, (body, found.reason)


@pytest.mark.long
def test_a_theory_that_takes_too_long_to_trace_is_sampled_without_gradients(sandbox):
    hangs = """
    while not hasattr(parameters["caution"], "flags"):  # it is no array of numbers, so it is traced
        pass
    return xp.where(trials["x"] > parameters["caution"], 0.9, 0.1)
    """
    slow = theory(STEP, hangs)
    few_seconds = SandboxLimits(wall_seconds=300, cpu_seconds=3, memory_bytes=LIMITS.memory_bytes)
    data = [answers(np.full((3, 10), 2), 4)]
    with TracerSandbox(limits=few_seconds) as tracer:
        found = fit(slow, data, sandbox, tracer=tracer, draws=20, tune=20, sweeps=1)
    assert found.method == "adaptive Metropolis"
    assert "could not be traced: the theory used more than 3 s" in found.reason


ESCAPES = {
    "open": "open('/etc/passwd').read()",
    "write": "open('FOLDER/escaped', 'w').write('x')",
    "list": "os.listdir('/')",
    "connect": "socket.create_connection(('127.0.0.1', 9), 1)",
    "unix": "socket.socket(socket.AF_UNIX)",
    "fork": "os.fork()",
    "exec": "os.execv('/bin/true', ['true'])",
    "spawn": "subprocess.run(['/bin/true'])",
    "kill": "os.kill(os.getppid(), 0)",
    "clone": "1 if ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0) >= 0 else 1 / 0",
    "vfork": "1 if ctypes.CDLL(None).syscall(58) >= 0 else 1 / 0",
    "memfd": "1 if ctypes.CDLL(None).memfd_create(b'x', 0) >= 0 else 1 / 0",
    "ptrace": "1 if ctypes.CDLL(None).ptrace(0, 0, 0, 0) >= 0 else 1 / 0",
    "limits": "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
}
HARMLESS = ("open", "write", "list", "unix", "spawn", "memfd", "limits")
"""Attempts that are first made outside, where they succeed."""


def attempts(names, folder):
    tries = "".join(
        f"try:\n    {ESCAPES[name]}\n    done.append({name!r})\nexcept BaseException:\n    pass\n"
        for name in names
    )
    return (
        "import ctypes, os, resource, socket, subprocess, threading\ndone = []\n"
        + tries.replace("FOLDER", str(folder))
    )


@pytest.mark.long
def test_from_within_the_profile_no_file_no_network_and_no_process_can_be_reached(tracer, tmp_path):
    outside = subprocess.run(
        [sys.executable, "-c", attempts(HARMLESS, tmp_path) + "print(*done)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert outside.stdout.split() == list(HARMLESS)
    (tmp_path / "escaped").unlink()
    source = (
        "import pytensor\n"
        + attempts(ESCAPES, tmp_path)
        + textwrap.dedent("""
        thread = threading.Thread(target=done.append, args=('thread',))
        thread.start()
        thread.join()
        import mmap
        mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        done.append('executable memory')
        raise ValueError('got ' + ', '.join(done))
        """)
    )
    compiled = tracer.compile(
        source,
        {"caution": parse_prior("caution", {"prior": "uniform", "low": 0.0, "high": 1.0})},
        [{"x": np.ones(2)}],
        [np.ones((1, 2, 2))],
        [True],
        np.full((1, 1), 0.5),
        tiny=1e-12,
        lint=False,
    )
    compiled.close()
    assert compiled.problem.endswith("got thread, executable memory")
    assert not (tmp_path / "escaped").exists()


MANY_THREADS = textwrap.dedent("""
    import threading, time
    threading.stack_size(65536)
    n = 0
    try:
        for _ in range(3000):
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            n += 1
    except RuntimeError:
        pass
    time.sleep(1)
    raise ValueError(f"{n} threads were started")
    """)


@pytest.mark.long
@pytest.mark.parametrize("bwrap", [True, False])
def test_a_theory_cannot_start_thousands_of_threads(bwrap):
    prior = parse_prior("caution", {"prior": "uniform", "low": 0.0, "high": 1.0})
    stimuli, counts = [{"x": np.ones(2)}], [np.ones((1, 2, 2))]
    with TracerSandbox(bwrap=bwrap) as sandbox:
        is_limited = THREAD_LIMIT in sandbox.level.layers
        # Nothing limits root's threads in the namespace that bubblewrap makes; there they are counted.
        refused = pytest.raises(TheoryResourceError, match=f"more than {MOST_THREADS} threads")
        with contextlib.nullcontext() if is_limited else refused:
            found = sandbox.compile(
                MANY_THREADS, {"caution": prior}, stimuli, counts, [True], np.full((1, 1), 0.5),
                tiny=1e-12, lint=False,
            )  # fmt: skip
            found.close()
            (n_started,) = re.findall(r"(\d+) threads were started", found.problem)
            assert 4 < int(n_started) < MOST_THREADS
    assert is_limited or (bwrap and os.getuid() == 0)


@pytest.mark.long
def test_a_theory_that_hangs_while_it_is_traced_is_killed(tracer):
    limits = SandboxLimits(wall_seconds=3.0, cpu_seconds=3.0, memory_bytes=LIMITS.memory_bytes)
    begun = time.monotonic()
    with pytest.raises(TheoryTimeoutError):
        tracer.compile(
            "def choose(parameters, trials, xp):\n    while True:\n        pass\n",
            {"caution": parse_prior("caution", {"prior": "uniform", "low": 0.0, "high": 1.0})},
            [{"x": np.ones(2)}],
            [np.ones((1, 2, 2))],
            [True],
            np.full((1, 1), 0.5),
            tiny=1e-12,
            limits=limits,
        )
    assert time.monotonic() - begun < 30


@pytest.mark.long
@pytest.mark.statistical
def test_nuts_is_calibrated(sandbox, tracer):
    asked = [answers(np.zeros((3, 8), dtype=int), 3)]
    found = simulation_based_calibration(
        LEAN, asked, sandbox, tracer=tracer, n_simulations=60, n_ranks=32
    )
    assert found.method == "NUTS"
    assert found.p_value > 0.001, found.tests

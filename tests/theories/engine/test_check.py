"""What a program must prove: honest theories pass, and every kind of misbehaviour is found and located."""

import json
import math

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories import errors
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.claim_exam import choice_test
from lakatos.theories.engine.checks.exam import FALSE_ALARM_RATE
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.scoring.score import (
    UNKNOWN,
    ExperimentEvidence,
    log_predictive,
    mean_over_units,
    noise_ceiling,
)
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram


class FewProbes(MultiattributeDomain):
    """Every fifth probe, which is enough to find what is wrong on purpose."""

    def probes(self, rng):
        return super().probes(rng)[::5]


DOMAIN = FewProbes()
CLAIM = '"""Adding up: people add up the ratings."""\n'
SENSITIVITY = '"sensitivity": {"prior": "log_uniform", "low": 0.1, "high": 20.0}'
LAPSE = '"lapse": {"prior": "uniform", "low": 0.0, "high": 0.4}'
CHOOSE = """
def choose(parameters, trials, xp):
    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    p = 1 / (1 + xp.exp(-parameters["sensitivity"] * evidence))
    return (1 - parameters["lapse"]) * p + 0.5 * parameters["lapse"]
"""
LEARNER = """
def start(parameters, trials, xp):
    return {"last": xp.zeros((1, len(trials["rating_max"])))}

def choose(parameters, trials, xp, state):
    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    return 1 / (1 + xp.exp(-xp.clip(parameters["sensitivity"] * evidence + state["last"], -500.0, 500.0)))

def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1] - response[..., 0]}
"""


def program(source: str) -> TheoryProgram:
    return TheoryProgram(source, "test")


def source_of(body: str, parameters: str = f"{SENSITIVITY}, {LAPSE}", before: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"{CLAIM}PARAMETERS = {{{parameters}}}\n{before}\ndef choose(parameters, trials, xp):\n{lines}\n"


GOOD = f"{CLAIM}PARAMETERS = {{{SENSITIVITY}, {LAPSE}}}\n{CHOOSE}"
EVIDENCE = 'evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)\n'


@pytest.fixture(scope="module")
def report(sandbox):
    candidates = DOMAIN.candidates(
        {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2, 3]}, np.random.default_rng(0), 300
    )
    return check_theory(program(GOOD), DOMAIN, sandbox, candidates=candidates)


def result(report, name):
    return next(check for check in report.checks if check.name == name)


class TestPoints:
    PRIORS = {  # noqa: RUF012
        "slope": parse_prior("slope", {"prior": "log_uniform", "low": 0.1, "high": 10.0}),
        "lean": parse_prior("lean", {"prior": "uniform", "low": -2.0, "high": 4.0}),
    }

    def test_hold_the_middle_each_extreme_alone_and_every_corner(self):
        points = check_points(self.PRIORS, np.random.default_rng(0))
        found = {
            (round(a, 9), round(b, 9)) for a, b in zip(points["slope"], points["lean"], strict=True)
        }
        alone = {(0.1, 1.0), (10.0, 1.0), (1.0, -2.0), (1.0, 4.0)}
        corners = {(0.1, -2.0), (0.1, 4.0), (10.0, -2.0), (10.0, 4.0)}
        assert {(1.0, 1.0)} | alone | corners <= found

    @pytest.mark.parametrize("n", [1, 3, 8, 20])
    def test_stay_within_the_declared_ranges_and_few(self, n):
        priors = {f"p{i}": self.PRIORS["slope"] for i in range(n)}
        points = check_points(priors, np.random.default_rng(1))
        assert all(values.min() == 0.1 and values.max() == 10.0 for values in points.values())
        assert len(points["p0"]) <= 1 + 2 * n + 64 + 24


class TestHonestTheories:
    def test_pass_every_check(self, report):
        assert report.passed
        assert [check.name for check in report.checks] == [
            "source", "probabilities", "determinism", "processes", "broadcasting", "independence", "memory",
            "size", "table", "digits", "memorised", "order", "choices", "cost", "start", "parameters", "trials",
            "claim",
        ]  # fmt: skip
        report.raise_for_failure()

    def test_are_tried_on_the_studys_own_trials_as_well(self, report, sandbox):
        without = check_theory(program(GOOD), DOMAIN, sandbox)
        assert "on 50 trials" in result(without, "probabilities").sentence
        assert "on 90 trials" in result(report, "probabilities").sentence

    def test_have_a_report_that_both_people_and_programs_can_read(self, report):
        text = report.to_text()
        assert text.startswith("Adding up (")
        assert "checked for the domain 'multiattribute': accepted." in text
        assert len(text.splitlines()) == 1 + len(report.checks)
        read = json.loads(json.dumps(report.to_json()))
        assert read["passed"] is True
        assert [check["name"] for check in read["checks"]] == [
            check.name for check in report.checks
        ]

    def test_are_told_what_each_parameter_moves(self, report):
        # A lapse of 0.4 moves a sure choice to 0.8; at evidence 0 nothing moves.
        assert "lapse 0.2" in result(report, "parameters").sentence
        assert result(report, "trials").value > 0

    @pytest.mark.parametrize(
        ("domain", "name"),
        [("multiattribute", "take_the_best"), ("risky", "cumulative_prospect_theory")],
    )
    def test_from_the_families_pass(self, sandbox, domain, name):
        from lakatos.domains import DOMAINS

        report = check_theory(FAMILIES[domain].program(name), DOMAINS[domain], sandbox)
        assert report.passed, report.to_text()

    def test_that_state_predictions_have_them_tried(self, sandbox):
        stated = (
            'PREDICTIONS = [{"property": "increasing", "in": "rating"}, '
            '{"property": "ignores", "in": "validity"}]\n'
        )
        claims = [
            check
            for check in check_theory(program(GOOD + stated), DOMAIN, sandbox).checks
            if check.name == "claim"
        ]
        assert [check.passed for check in claims] == [True, True]

    @pytest.mark.slow
    def test_that_learn_declare_their_memory(self, sandbox):
        report = check_theory(
            program(f"{CLAIM}PARAMETERS = {{{SENSITIVITY}}}\n{LEARNER}"), DOMAIN, sandbox
        )
        assert report.passed, report.to_text()
        assert "declares memory by `learn`" in result(report, "order").sentence
        # Between having chosen B and A before, log odds differ by 2: at even odds by tanh(1/2) in probability.
        assert result(report, "order").value == pytest.approx(math.tanh(0.5), abs=1e-9)

    def test_that_declare_memory_without_using_it_are_advised_to_drop_it(self, sandbox):
        idle = LEARNER.replace("response[..., 1] - response[..., 0]", "0 * response[..., 1]")
        report = check_theory(
            program(f"{CLAIM}PARAMETERS = {{{SENSITIVITY}}}\n{idle}"), DOMAIN, sandbox
        )
        assert report.passed
        assert not result(report, "order").passed
        assert "leave `start` and `learn` out" in result(report, "order").sentence

    def test_that_run_one_draw_at_a_time_pass_and_say_so(self, sandbox):
        body = "return [0.5 if parameters['lapse'] > 0.2 else 0.25 for _ in trials['rating_max']]"
        report = check_theory(program(source_of(body)), DOMAIN, sandbox)
        assert report.passed, report.to_text()
        assert "one draw at a time" in result(report, "broadcasting").sentence


LOGISTIC = 'return 1 / (1 + xp.exp(-xp.clip(parameters["sensitivity"] * evidence, -500.0, 500.0)))'


class TestMisbehaviour:
    def check(self, sandbox, source, name, error, message):
        report = check_theory(program(source), DOMAIN, sandbox)
        assert not report.passed
        failed = result(report, name)
        assert not failed.passed
        assert failed in report.failures
        with pytest.raises(error, match=message):
            report.raise_for_failure()
        assert "refused" in report.to_text()
        return report

    def test_at_an_extreme_of_one_parameter_is_found_and_located(self, sandbox):
        # Overflow to NaN only where the sensitivity is at its highest and the evidence large.
        body = EVIDENCE + 'e = xp.exp(parameters["sensitivity"] * evidence * 8)\nreturn e / (1 + e)'
        self.check(
            sandbox, source_of(body, SENSITIVITY), "probabilities", errors.TheoryProbabilityError,
            r"\[nan nan\].*sensitivity=20\).*The trial: probe \d+ of the domain 'multiattribute', trial \d+ \(A ",
        )  # fmt: skip

    def test_by_the_number_of_trials_is_found(self, sandbox):
        body = (
            EVIDENCE
            + "return 0.5 + 0 * evidence + 0.1 * (len(evidence) > 3) * (parameters['lapse'] < 2)"
        )
        self.check(
            sandbox, source_of(body), "independence", errors.TheoryProbabilityError,
            r"depends on the other trials asked with it on probe \d+ .*trial \d+ \(A .*lapse=.*: 0.4 and 0.5",
        )  # fmt: skip

    def test_by_the_mean_over_trials_is_found(self, sandbox):
        body = EVIDENCE + "evidence = evidence - evidence.mean()\n" + LOGISTIC
        self.check(
            sandbox,
            source_of(body),
            "independence",
            errors.TheoryProbabilityError,
            "depends on the other trials",
        )

    def test_by_the_order_of_trials_is_found(self, sandbox):
        body = (
            EVIDENCE
            + "return 0.5 + 0 * evidence + 0 * parameters['lapse'] + xp.arange(len(evidence)) / 100"
        )
        report = check_theory(program(source_of(body)), DOMAIN, sandbox)
        assert not result(report, "order").passed
        assert "depend on the order of the trials on probe 0 of the domain 'multiattribute'" in (
            result(report, "order").sentence
        )

    def test_of_a_draw_in_the_middle_is_found_although_the_first_and_last_agree(self, sandbox):
        body = (
            EVIDENCE + 'p = 0.5 + 0 * evidence + 0 * parameters["lapse"]\n'
            "row = xp.arange(len(p))[:, None]\n"
            "return xp.where((row == 3) & (len(p) > 5), 0.75, p)"
        )
        self.check(
            sandbox, source_of(body), "broadcasting", errors.TheoryProbabilityError,
            r"draws taken together differ from draws taken one at a time .* draw 3 \(sensitivity=.*: 0.25 and 0.5",
        )  # fmt: skip

    def test_that_counts_its_calls_is_found(self, sandbox):
        body = (
            EVIDENCE
            + "calls.append(1)\nreturn 0.5 + 0 * evidence + 0 * parameters['lapse'] + len(calls) / 1e8"
        )
        self.check(
            sandbox, source_of(body, before="calls = []"), "determinism", errors.TheoryProbabilityError,
            "answers differently when asked twice",
        )  # fmt: skip

    @pytest.mark.parametrize(
        "clock",
        [
            "modules['time'].time()",
            "modules['time'].monotonic()",
            "modules['time'].clock_gettime((~1 << 3) | 2)",
            "modules['os'].sched_getaffinity(0)",
            "xp.random.default_rng().random()",
        ],
    )
    def test_that_asks_for_the_time_or_for_chance_is_refused(self, sandbox, clock):
        body = EVIDENCE + f"return 0.5 + 0 * evidence + 0 * parameters['lapse'] + 0 * {clock}"
        before = "import dataclasses\nmodules = dataclasses.sys.modules"
        report = check_theory(program(source_of(body, before=before)), DOMAIN, sandbox)
        with pytest.raises(errors.TheoryRaisedError, match="PermissionError"):
            report.raise_for_failure()

    def test_of_a_learner_that_mixes_people_up_is_found(self, sandbox):
        mixing = LEARNER.replace(
            "response[..., 1] - response[..., 0]", "0 * response[..., 1] + response[..., 1].sum()"
        )
        self.check(
            sandbox, f"{CLAIM}PARAMETERS = {{{SENSITIVITY}}}\n{mixing}", "independence", errors.TheoryProbabilityError,
            r"depend on the other people asked with them .*sequence \d, step \d+ \(A ",
        )  # fmt: skip

    def test_of_what_takes_too_long_is_found(self):
        body = EVIDENCE + "s = 0.0\nfor i in range(4000000):\n    s = s + i\n" + LOGISTIC
        with Sandbox(limits=SandboxLimits(cpu_seconds=0.3)) as slow:
            report = check_theory(program(source_of(body)), DOMAIN, slow)
        with pytest.raises(
            errors.TheoryTimeoutError, match=r"processor time. Compute with whole arrays"
        ):
            report.raise_for_failure()

    @pytest.mark.slow
    def test_of_what_could_not_score_an_experiment_in_time_is_found(self):
        body = (
            EVIDENCE
            + "n = 60000 if len(evidence) > 90 else 1\nfor i in range(n):\n    evidence = evidence + 0.0\n"
        )
        with Sandbox(limits=SandboxLimits(cpu_seconds=0.05, wall_seconds=60.0)) as slow:
            report = check_theory(program(source_of(body + LOGISTIC)), DOMAIN, slow)
        assert not report.passed
        with pytest.raises(errors.TheoryTimeoutError, match="whole arrays instead of loops"):
            report.raise_for_failure()

    def test_of_code_that_contradicts_the_claim_is_found(self, sandbox):
        stated = 'PREDICTIONS = [{"property": "decreasing", "in": "rating"}]\n'
        self.check(
            sandbox, GOOD + stated, "claim", errors.ClaimContradictedError,
            r"the claim says: a rating .* is raised: that never raises.* from .* on \[A .* with sensitivity=",
        )  # fmt: skip

    def test_dead_parameters_are_advice_not_a_refusal(self, sandbox):
        body = EVIDENCE + LOGISTIC + '\nunused = parameters["lapse"]'
        report = check_theory(program(source_of(body)), DOMAIN, sandbox)
        assert report.passed
        assert not result(report, "parameters").passed
        assert "Nothing anywhere depends on lapse" in result(report, "parameters").sentence
        assert "advice" in report.to_text()


class TestChoiceTest:
    @pytest.mark.statistical
    def test_p_values_of_faultless_choices_are_uniform(self):
        rng = np.random.default_rng(3)
        values = []
        for _ in range(400):
            p = rng.beta(0.5, 0.5, size=3000)
            values.append(choice_test((rng.random(3000) < p).astype(float), p)[0])
        # Kolmogorov's distance exceeds 1.95 / sqrt(n) once in a thousand times.
        distance = np.abs(np.sort(values) - (np.arange(400) + 0.5) / 400).max()
        assert distance < 1.95 / math.sqrt(400)

    def test_finds_probabilities_that_are_off_by_five_hundredths(self):
        rng = np.random.default_rng(4)
        p = rng.uniform(0.1, 0.9, size=5000)
        assert choice_test((rng.random(5000) < p + 0.05).astype(float), p)[0] < FALSE_ALARM_RATE

    def test_finds_too_extreme_probabilities_that_are_right_on_average(self):
        rng = np.random.default_rng(5)
        p = rng.uniform(0.1, 0.9, size=5000)
        assert (
            choice_test((rng.random(5000) < 0.5 + 0.5 * (p - 0.5)).astype(float), p)[0]
            < FALSE_ALARM_RATE
        )

    def test_by_hand_of_one_group(self):
        # 40 events of probability one half, 30 occur: (30 - 20)**2 / 10 = 10 on one degree of freedom.
        value, groups, _ = choice_test(
            np.repeat([1.0, 0.0], [30, 10]), np.full(40, 0.5), n_groups=1
        )
        assert groups == 1
        assert value == pytest.approx(math.erfc(math.sqrt(10 / 2)))

    def test_counts_what_is_impossible(self):
        assert choice_test(np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])) == (1.0, 0, 2)

    def test_of_nothing_passes(self):
        assert choice_test(np.zeros(0), np.zeros(0)) == (1.0, 0, 0)


class TestBadTheories:
    """Each kind has its own error, which says what, where and what to do; no two kinds can be taken for one another."""

    @pytest.mark.parametrize(
        ("source", "error", "message"),
        [
            (CLAIM + "def choose(:", errors.TheorySourceError, r"does not parse at line 2"),
            (CLAIM + CHOOSE, errors.TheorySourceError, "declares no PARAMETERS; write"),
            (
                source_of(EVIDENCE + LOGISTIC, LAPSE),
                errors.TheoryRaisedError,
                "KeyError at line 6 of the source: .*no 'sensitivity' here; there are 'lapse'",
            ),
            (
                source_of("return parameters['lapse'] + xp.zeros(7)"),
                errors.TheoryShapeError,
                r"array of shape \(1, 7\); it must be .* \(n_draws, n_trials, n_options\) or .* of the second option",
            ),
            (
                source_of(EVIDENCE + "return xp.log(-1.0 - evidence**2) + parameters['lapse']"),
                errors.TheoryProbabilityError,
                r"the first is \[nan nan\] at .*draw 0 \(sensitivity=.*look for a division by zero",
            ),
            (
                source_of(EVIDENCE + "return 0 * evidence - 0.25 + 0 * parameters['lapse']"),
                errors.TheoryProbabilityError,
                r"the first is \[ 1.25 -0.25\] at .*not negative",
            ),
            (
                GOOD.replace('"high": 20.0', '"high": 1e999'),
                errors.PriorError,
                "parameter 'sensitivity': the prior is improper; give finite numbers with low < high",
            ),
            (
                GOOD.replace('"low": 0.1', '"low": 0.0'),
                errors.PriorError,
                "parameter 'sensitivity': a log_uniform prior needs low > 0",
            ),
            (
                GOOD.replace('"low": 0.1, ', ""),
                errors.PriorError,
                "parameter 'sensitivity': a log_uniform prior needs the numbers low, high; missing: low",
            ),
        ],
    )
    def test_are_refused_by_an_error_of_their_kind(self, sandbox, source, error, message):
        report = check_theory(program(source), DOMAIN, sandbox)
        with pytest.raises(error, match=message) as raised:
            report.raise_for_failure()
        assert type(raised.value) is error

    def test_that_never_end_are_stopped(self):
        with Sandbox(limits=SandboxLimits(cpu_seconds=0.3)) as impatient:
            report = check_theory(program(source_of("while True: pass")), DOMAIN, impatient)
        with pytest.raises(
            errors.TheoryTimeoutError,
            match=r"used more than 0.3 s of processor time\. Compute with",
        ):
            report.raise_for_failure()

    def test_do_not_keep_the_next_theory_from_passing(self, sandbox):
        check_theory(program(source_of("return 1 / 0")), DOMAIN, sandbox)
        assert check_theory(program(GOOD), DOMAIN, sandbox).passed


def trials(response, *, n_trials=3, participant=None, **others) -> Trials:
    response = np.asarray(response)
    n_rows = len(response)
    return Trials(
        experiment="study 1",
        stimuli=Stimuli({"x": np.arange(float(n_trials))}),
        participant=np.zeros(n_rows, dtype=int) if participant is None else np.asarray(participant),
        trial=others.pop("trial", np.arange(n_rows) % n_trials),
        response=response,
        count=others.pop("count", np.ones(n_rows, dtype=int)),
        **others,
    )


class TestBadData:
    def test_stimuli_that_do_not_match_their_domain_are_refused(self):
        with pytest.raises(StimuliError, match="multiattribute trials have the arrays"):
            DOMAIN.check(Stimuli({"x": np.zeros(3)}))

    def test_one_participant_has_a_score_but_no_error_of_it(self):
        one = trials([0, 1, 1])
        scores = log_predictive(ExperimentEvidence(one, np.full((4, 3, 2), 0.5)))
        assert scores.mean == pytest.approx(-math.log(2))
        assert mean_over_units(scores).standard_error == UNKNOWN
        assert noise_ceiling(one) is None

    def test_one_trial_of_several_people_is_scored(self):
        found = log_predictive(
            ExperimentEvidence(
                trials([0, 1, 1], n_trials=1, participant=[0, 1, 2]), np.full((4, 1, 2), 0.5)
            )
        )
        assert mean_over_units(found).value == pytest.approx(-math.log(2))
        assert mean_over_units(found).standard_error == pytest.approx(0.0)

    def test_order_of_counts_is_not_known(self):
        with pytest.raises(TrialsError, match="study 1: these answers are published as counts"):
            _ = trials([0, 1], count=np.array([4, 3]), pooled=True).sequences

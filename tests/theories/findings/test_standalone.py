"""A theory as a file that needs NumPy alone says what the theory says here."""

import re
import subprocess
import sys

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES, find_family, open_domain
from lakatos.experiments.task import Trials
from lakatos.flows.notebook.fitted import shapes_of
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.findings.exchange.standalone import write_function
from lakatos.theories.language.theory import read_program


def written(domain: str, name: str) -> tuple[object, dict]:
    """A published theory, and the names of its file."""
    theory = read_program(FAMILIES[domain].program(name))
    held: dict = {}
    text = write_function(theory, shapes_of(DOMAINS[domain]))
    assert "lakatos" not in text.split('"""', 2)[2]
    exec(text, held)
    return theory, held


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ("intertemporal", "hyperbolic"),
        ("multiattribute", "take_the_best"),
        ("offers", "equal_weight"),
    ],
)
def test_the_function_says_what_the_theory_says(domain: str, name: str) -> None:
    if name not in FAMILIES[domain].seeds:
        name = next(iter(FAMILIES[domain].seeds))
    theory, held = written(domain, name)
    stimuli = DOMAINS[domain].probes(np.random.default_rng(0))[0]
    assert held["NAMES"] == list(theory.priors)
    assert all(
        low <= at <= high for at, (low, high) in zip(held["START"], held["BOUNDS"], strict=True)
    )
    with Laboratory(DOMAINS[domain], 1) as laboratory:
        values = {own: np.array([at]) for own, at in zip(held["NAMES"], held["START"], strict=True)}
        theirs = laboratory.look(theory, [stimuli], lambda view: view.probabilities(values))
    found = held["probabilities"](held["START"], dict(stimuli.arrays))
    np.testing.assert_allclose(found, theirs[0][0], atol=1e-12)
    responses = np.arange(len(stimuli)) % found.shape[1]
    expected = -np.log(np.maximum(found[np.arange(len(stimuli)), responses], 1e-12)).sum()
    nll = held["negative_log_likelihood"](held["START"], dict(stimuli.arrays), responses)
    assert nll == pytest.approx(expected)


def test_a_theory_that_learns_goes_through_one_person_s_answers() -> None:
    domain = DOMAINS["learning"]
    theory, held = written("learning", next(iter(FAMILIES["learning"].seeds)))
    stimuli = domain.probes(np.random.default_rng(0))[0]
    n, rng = len(stimuli), np.random.default_rng(1)
    response, reward = rng.integers(0, 2, n), rng.integers(0, 2, n).astype(float)
    feedback = {"reward": reward, "next_state": np.zeros(n)}
    trials = Trials(
        "x", stimuli, np.zeros(n, int), np.arange(n), response, np.ones(n, int),
        n_options=domain.n_options(stimuli), feedback=feedback,
    )  # fmt: skip
    values = {own: np.array([at]) for own, at in zip(held["NAMES"], held["START"], strict=True)}
    with Laboratory(domain, 1) as laboratory:
        theirs = laboratory.look(
            theory, [stimuli], lambda view: follow(view._session, domain, values, trials)
        )
    found = held["negative_log_likelihood"](
        held["START"], columns_of(domain, stimuli), response, feedback
    )
    assert -found == pytest.approx(float(theirs.log_likelihood[0, 0]), abs=1e-9)


def columns_of(domain, stimuli) -> dict[str, np.ndarray]:
    """What people see, with a row for each trial; what follows from earlier choices has no axis of draws."""
    shown = domain.shown(stimuli.arrays, {})
    return {
        name: np.asarray(array) if name in stimuli.arrays else np.asarray(array)[0]
        for name, array in shown.items()
    }


class Watched(dict):
    """Columns that remember which of them were read."""

    def __init__(self, columns: dict, read: set) -> None:
        super().__init__(columns)
        self.read = read

    def __getitem__(self, name: str):
        self.read.add(name)
        return super().__getitem__(name)


def watching(function, read: set):
    """A function of a theory whose trials remember what is read."""
    return lambda parameters, trials, *others: function(parameters, Watched(trials, read), *others)


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("learning", None),
        ("studies/tasks/cards.toml", None),
        ("studies/tasks/plants.toml", None),
        ("risky", ("expected_value",)),
        ("attention", ("steady",)),
        ("intertemporal", ("hyperbolic",)),
    ],
)
def test_the_head_names_exactly_the_columns_that_the_code_reads(task: str, names) -> None:
    domain = open_domain(task)
    family = find_family(domain)
    for name in names or family.seeds:
        theory = read_program(family.program(name))
        text = write_function(theory, shapes_of(domain))
        head = text.split('"""')[1]
        held: dict = {}
        exec(text, held)
        stimuli = domain.probes(np.random.default_rng(0))[0]
        columns = columns_of(domain, stimuli)
        told = set(re.findall(r"trials\['(\w+)'\]: \(n_trials", head))
        if theory.learns:
            n = len(stimuli)
            (said,) = re.findall(r"a column for each of: (.*)\.", head) or [""]
            feedback = {key: np.zeros(n) for key in said.split(", ") if key}
            given = {key: columns[key] for key in told} or columns
            # Nothing else is needed, and nothing else is read.
            held["negative_log_likelihood"](held["START"], given, np.zeros(n, int), feedback)
            read: set = set()
            watched = {key: watching(held[key], read) for key in ("choose", "start", "learn")}
            held |= watched
            held["probabilities"](held["START"], columns, np.zeros(n, int), feedback)
            assert "trials, responses, feedback" in head or not feedback
        else:
            read = set()
            held["choose"](
                {key: np.array([[at]]) for key, at in zip(held["NAMES"], held["START"], strict=True)},
                Watched(columns, read), np,
            )  # fmt: skip
        assert read == told, name


def test_the_file_needs_numpy_alone_and_can_be_fitted(tmp_path) -> None:
    theory = read_program(FAMILIES["intertemporal"].program("hyperbolic"))
    place = tmp_path / "hyperbolic.py"
    place.write_text(write_function(theory, shapes_of(DOMAINS["intertemporal"])))
    program = (
        "import sys; sys.modules['lakatos'] = None; import numpy as np; import hyperbolic as h; "
        "from scipy.optimize import minimize; "
        "trials = {'amounts': np.array([[10.0, 12.0], [10.0, 20.0]]), "
        "'delays_days': np.array([[0.0, 30.0], [0.0, 30.0]])}; "
        "asked = {name: np.repeat(array, 50, axis=0) for name, array in trials.items()}; "
        "chosen = np.repeat([0, 1], 50); chosen[:10] = 1; "
        "found = minimize(h.negative_log_likelihood, h.START, (asked, chosen), "
        "method='Nelder-Mead', bounds=h.BOUNDS); "
        "assert found.fun < h.negative_log_likelihood(h.START, asked, chosen) - 1, found"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)

"""A theory as a plain Python function that anyone can fit: one file, NumPy alone, nothing of this laboratory."""

from __future__ import annotations

import ast
from pprint import pformat

import numpy as np

from lakatos.theories.language.parsing import parse
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory

HEAD = '''"""{name}: {claim}

Written by Lakatos; needs NumPy alone. `probabilities(values, trials)` says how likely each option is, and
`negative_log_likelihood(values, trials, responses)` is what a fit makes small:

    from scipy.optimize import minimize
    best = minimize(negative_log_likelihood, START, (trials, responses), method="Nelder-Mead", bounds=BOUNDS)

`values` has one number for each of NAMES. `trials` has an array for each thing that people see, trials first{order}.
`responses` is the place of the option chosen in each, from 0.{feedback}
{arrays}"""

import numpy as np

NAMES = {names}
BOUNDS = {bounds}
START = {start}
"""What the theory's people have in the middle: {people}."""
'''
ALONE = '''

def probabilities(values, trials):
    """(n_trials, n_options) probability of each option."""
    parameters = {name: np.array([[float(value)]]) for name, value in zip(NAMES, values)}
    found = np.asarray(choose(parameters, trials, np), dtype=float)
    n_trials = len(next(iter(trials.values())))
    if found.ndim < 3:  # of the second option only
        second = np.broadcast_to(found, (1, n_trials))[0]
        return np.stack([1 - second, second], axis=-1)
    return np.broadcast_to(found, (1, n_trials, found.shape[-1]))[0]


def negative_log_likelihood(values, trials, responses):
    """Nats by which the responses surprise."""
    shares = probabilities(values, trials)
    chosen = shares[np.arange(len(responses)), np.asarray(responses, dtype=int)]
    return float(-np.log(np.maximum(chosen, 1e-12)).sum())
'''
LEARNING = '''

def probabilities(values, trials, responses, feedback=None):
    """(n_trials, n_options) probability of each option for one person, given all answers before each trial."""
    parameters = {name: np.array([[float(value)]]) for name, value in zip(NAMES, values)}
    n_trials = len(next(iter(trials.values())))
    feedback, state, rows = feedback or {}, None, []
    for step in range(n_trials):
        shown = {name: np.asarray(column)[step : step + 1] for name, column in trials.items()}
        state = start(parameters, shown, np) if state is None else state
        found = np.asarray(choose(parameters, shown, np, state), dtype=float)
        if found.ndim < 3:  # of the second option only
            found = np.stack([1 - found, found], axis=-1)
        rows.append(found.reshape(-1, found.shape[-1])[0])
        response = np.zeros((1, 1, found.shape[-1]))
        response[0, 0, int(responses[step])] = 1.0
        followed = {name: np.array([[float(column[step])]]) for name, column in feedback.items()}
        state = learn(parameters, shown, np, state, response, followed)
    return np.array(rows)


def negative_log_likelihood(values, trials, responses, feedback=None):
    """Nats by which one person's responses surprise."""
    shares = probabilities(values, trials, responses, feedback)
    chosen = shares[np.arange(len(responses)), np.asarray(responses, dtype=int)]
    return float(-np.log(np.maximum(chosen, 1e-12)).sum())
'''


def write_function(theory: Theory, arrays: dict[str, tuple[int, ...]]) -> str:
    """The text of a Python file with a theory as a function of its parameters.

    Args:
        theory: With the people whose medians a fit starts from.
        arrays: What people see: the shape of each array in trials of the domain, after its first axis.
    """
    told = theory.account()
    start = [float(f"{_median(prior):.6g}") for prior in theory.priors.values()]
    shapes = "".join(
        f"\n    trials[{name!r}]: (n_trials{''.join(f', {size}' for size in shape)})"
        for name, shape in arrays.items()
    )
    head = HEAD.format(
        name=theory.name,
        claim=" ".join(told.claim.split()),
        order=" in the order in which one person saw them" if theory.learns else "",
        feedback=(
            "\n`feedback`, where something followed, has a column for each name, such as reward."
            if theory.learns
            else ""
        ),
        arrays=f"{shapes}\n" if shapes else "",
        names=pformat(list(theory.priors), width=100),
        bounds=pformat([(prior.low, prior.high) for prior in theory.priors.values()], width=100),
        start=pformat(start, width=100),
        people="as learned from answers" if _is_learned(theory) else "as declared",
    )
    body = f"# The theory itself, as the laboratory runs it.\n{_body(theory)}"
    return f"{head}\n\n{body}{LEARNING if theory.learns else ALONE}"


def _median(prior: Prior) -> float:
    return float(prior.quantile(np.array([0.5]))[0])


def _is_learned(theory: Theory) -> bool:
    return any(prior.kind in ("normal", "log_normal") for prior in theory.priors.values())


def _body(theory: Theory) -> str:
    """The source without its docstring, which the head tells with the learned numbers."""
    tree = parse(theory.program.source)
    lines = theory.program.source.splitlines()
    first = tree.body[0]
    end = first.end_lineno if isinstance(first, ast.Expr) and first.end_lineno else 0
    return "\n".join(lines[end:]).strip("\n") + "\n"

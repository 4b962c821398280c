"""A theory as a plain Python function that anyone can fit: one file, NumPy alone, nothing of this laboratory."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pprint import pformat
from textwrap import fill

import numpy as np

from lakatos.theories.engine.sandbox.lint import called_functions
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.rewrite import WIDTH
from lakatos.theories.language.theory import Theory

HEAD = '''"""{name}: {claim}

Written by Lakatos; needs only NumPy. `probabilities(values, trials)` returns the probability of each option, and a fit
minimises `negative_log_likelihood(values, trials, responses)`:

    from scipy.optimize import minimize
    best = minimize(negative_log_likelihood, START, ({arguments}), method="Nelder-Mead", bounds=BOUNDS)

`values` has one number for each of NAMES. `trials` has these arrays, with a row for each trial{order}.
`responses` holds the place of the chosen option in each trial, from 0.{feedback}
{arrays}"""

import numpy as np

NAMES = {names}
BOUNDS = {bounds}
START = {start}
"""Medians of the population, {people}."""
'''
MARK = "# The theory itself, as the laboratory runs it.\n"
"""Line before the text of the theory."""
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
    """In nats."""
    shares = probabilities(values, trials)
    chosen = shares[np.arange(len(responses)), np.asarray(responses, dtype=int)]
    return float(-np.log(np.maximum(chosen, 1e-12)).sum())
'''
LEARNING = '''

def probabilities(values, trials, responses, feedback=None):
    """(n_trials, n_options) probability of each option for one participant, given all responses before."""
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
    """Of one participant, in nats."""
    shares = probabilities(values, trials, responses, feedback)
    chosen = shares[np.arange(len(responses)), np.asarray(responses, dtype=int)]
    return float(-np.log(np.maximum(chosen, 1e-12)).sum())
'''


def write_function(theory: Theory, arrays: dict[str, tuple[int, ...]]) -> str:
    """The text of a Python file with a theory as a function of its parameters.

    Args:
        theory: Theory with the people whose medians a fit starts from.
        arrays: What people see: the shape of each array in trials of the domain, after its first axis.
    """
    claims, source = theory.account(), theory.program.source
    read = _columns_read(source, arrays)
    followed = _feedback_read(source) if theory.learns else []
    start = [float(f"{_median(prior):.6g}") for prior in theory.priors.values()]
    shapes = "".join(
        f"\n    trials[{name!r}]: (n_trials{''.join(f', {size}' for size in shape)})"
        for name, shape in ((name, arrays[name]) for name in read)
    )
    if not shapes:
        shapes = "\n    the theory reads none of them; any array gives the number of trials"
    head = HEAD.format(
        name=theory.name,
        claim=" ".join(claims.claim.split()),
        arguments="trials, responses, feedback" if followed else "trials, responses",
        order=" in the order of presentation to one participant" if theory.learns else "",
        feedback=(
            f"\n`feedback` holds what followed each response, a column for each of: {', '.join(followed)}."
            if followed
            else ""
        ),
        arrays=f"{shapes}\n",
        names=pformat(list(theory.priors), width=100),
        bounds=pformat([(prior.low, prior.high) for prior in theory.priors.values()], width=100),
        start=pformat(start, width=100),
        people="as estimated" if _is_learned(theory) else "as declared",
    )
    body = f"{MARK}{_body(theory)}"
    return f"{head}\n\n{body}{LEARNING if theory.learns else ALONE}"


def source_in_function(text: str) -> str:
    """The source of the theory in a file that `write_function` wrote; empty for another text."""
    _, mark, rest = text.partition(MARK)
    if not mark:
        return ""
    about = (ast.get_docstring(parse(text)) or "").partition("\n")[0]
    body = rest.partition("\n\n\ndef probabilities(")[0]
    lines = fill(about, width=WIDTH, break_on_hyphens=False, break_long_words=False)
    return f'"""{lines}\n"""\n\n{body.strip()}\n'


def _columns_read(source: str, arrays: Collection[str]) -> list[str]:
    """Find which of these arrays a theory looks up, in their order."""
    looked_up = {key for _, key in _lookups(source)}
    return [name for name in arrays if name in looked_up]


def _feedback_read(source: str) -> list[str]:
    """List what a theory that learns reads from the last argument of its ``learn``, the consequences of a response."""
    learn = next(item for item in called_functions(parse(source).body) if item.name == "learn")
    feedback = learn.args.args[-1].arg
    return sorted({key for variable, key in _lookups(source) if variable == feedback})


def _lookups(source: str) -> Iterator[tuple[str, str]]:
    """Every key that the functions of a theory look up in a mapping, with the name of the variable."""
    for function in called_functions(parse(source).body):
        for node in ast.walk(function):
            if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
                continue
            if isinstance(node.value, ast.Name) and isinstance(node.slice.value, str):
                yield node.value.id, node.slice.value


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

"""Theories written for AutoCog, as theories of this laboratory.

There a theory is ``predict(parameters, stimulus, history)``, which gives the probabilities of both options for one
trial and one person, a ``policy`` that draws a choice from them, and parameters with ranges as text. Here the text of
``predict`` stays as it is, and a loop over draws and trials, or over people's histories where it reads them, is
written around it. It runs in the sandbox like any other theory.

Reference for the form: Jagadish et al. (2026), arXiv 2606.26448.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from pprint import pformat
from textwrap import dedent, fill
from typing import Any

import numpy as np
from scipy.stats import chisquare

from lakatos.theories.errors import TheoryError, TheorySourceError
from lakatos.theories.prior import parse_prior
from lakatos.theories.sandbox.client import Sandbox
from lakatos.theories.sandbox.lint import check_source, parse
from lakatos.theories.theory import TheoryProgram

AUTHOR = "AutoCog"
FROM_TRIAL = ("validities",)
"""Parameters that are no parameters: what people are told in the trial."""
MOST_BYTES = 60_000
PROBE = ((0.2, 0.8), (0.65, 0.35))
N_PROBES = 2000
ALONE = """

def _by_policy(answer):
    return {policy}


def choose(parameters, trials, xp):
    n_draws, n_trials = next(iter(parameters.values())).shape[0], len(trials["ratings"])
    answers = np.empty((n_draws, n_trials, 2))
    for draw in range(n_draws):
        own = {{name: float(values[draw, 0]) for name, values in parameters.items()}}
        for trial in range(n_trials):
            own["validities"] = trials["validities"][trial]
            answers[draw, trial] = np.reshape(predict(own, trials["ratings"][trial], {{}}), 2)
    return _by_policy(answers)
"""
WITH_HISTORY = """

def _by_policy(answer):
    return {policy}


def start(parameters, trials, xp):
    n_draws = next(iter(parameters.values())).shape[0]
    return [[{{"stimulus": [], "response": []}} for _ in trials["ratings"]] for _ in range(n_draws)]


def choose(parameters, trials, xp, state):
    answers = np.empty((len(state), len(trials["ratings"]), 2))
    for draw, histories in enumerate(state):
        for person, history in enumerate(histories):
            own = {{name: float(values[draw, person % values.shape[1]]) for name, values in parameters.items()}}
            own["validities"] = trials["validities"][person]
            answers[draw, person] = np.reshape(predict(own, trials["ratings"][person], history), 2)
    return _by_policy(answers)


def learn(parameters, trials, xp, state, response, feedback):
    return [
        [
            {{
                "stimulus": [*history["stimulus"], trials["ratings"][person]],
                "response": [*history["response"], int(response[draw % len(response), person].argmax())],
            }}
            for person, history in enumerate(histories)
        ]
        for draw, histories in enumerate(state)
    ]
"""
BEST = "(answer == answer.max(axis=-1, keepdims=True))"
POLICIES = {
    "sampled": "answer / answer.sum(axis=-1, keepdims=True)",
    "greedy": f"{BEST} / {BEST}.sum(axis=-1, keepdims=True)",
}


def import_autocog(
    value: Mapping[str, Any] | str, sandbox: Sandbox, *, name: str = ""
) -> TheoryProgram:
    """Write a theory of AutoCog as a theory of the multi-attribute domain.

    Args:
        value: ``description``, ``predict_source``, ``policy_source`` and ``parameters`` as AutoCog stores them, or as
            JSON.
        sandbox: Where the policy is tried, to see whether it samples or always takes the likelier option.
        name: Of the theory; the beginning of its description when left out.

    Raises:
        TheorySourceError: A part is missing or of the wrong form; the message says which.
        TheoryError: The code does not run.
    """
    given = _read(value)
    texts = {
        part: _text_of(given, part) for part in ("description", "predict_source", "policy_source")
    }
    predict = dedent(texts["predict_source"]).strip()
    check_source(predict)
    priors = _priors(given.get("parameters"))
    body = (WITH_HISTORY if _reads_history(predict) else ALONE).format(
        policy=POLICIES[_policy(dedent(texts["policy_source"]).strip(), sandbox)]
    )
    claim = " ".join(texts["description"].replace("\\", " ").replace('"', "'").split())
    title = name or claim.partition(":")[0][:60]
    claim = claim.partition(":")[2].strip() or claim
    docstring = fill(f"{title.replace(':', ' ')}: {claim}", width=110, break_on_hyphens=False)
    declared = f"PARAMETERS = {pformat(priors, width=110, sort_dicts=False)}"
    return TheoryProgram(
        f'"""{docstring}\n"""\n\nimport numpy as np\n\n{declared}\n\n\n{predict}\n{body}', AUTHOR
    )


def _read(value: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """The theory's parts, wherever a file of AutoCog keeps them."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise TheorySourceError(f"the theory is no JSON: {error}.") from None
    if not isinstance(value, Mapping):
        raise TheorySourceError("the theory is no JSON object.")
    inner = value.get("theory")
    return inner if isinstance(inner, Mapping) else value


def _text_of(given: Mapping[str, Any], part: str) -> str:
    text = given.get(part)
    if not isinstance(text, str) or not text.strip():
        raise TheorySourceError(f"the theory has no {part}; AutoCog's form has a text there.")
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise TheorySourceError(f"{part} has more than {MOST_BYTES} bytes.")
    return text


def _priors(parameters: Any) -> dict[str, dict[str, Any]]:
    """Ranges as text, ``"[0.1, 20.0]"``, to uniform priors."""
    if not isinstance(parameters, Mapping):
        raise TheorySourceError(
            "the theory has no parameters; AutoCog's form has an object with a range for each."
        )
    priors = {}
    for name, text in parameters.items():
        if name in FROM_TRIAL:
            continue
        found = re.fullmatch(r"\s*[\[(]\s*([^,\[\]()]+),\s*([^,\[\]()]+)[\])]\s*", str(text))
        try:
            low, high = (float(part) for part in found.groups()) if found else (np.nan, np.nan)
        except ValueError:
            low = high = np.nan
        if not low < high:
            raise TheorySourceError(
                f"the range of the parameter {name!r} is {text!r}; give two numbers, as in [0, 1]."
            )
        priors[str(name)] = {"prior": "uniform", "low": low, "high": high}
        parse_prior(str(name), priors[str(name)])
    if not priors:
        raise TheorySourceError(
            "the theory has no free parameter; give it at least one with a range."
        )
    return priors


def _reads_history(source: str) -> bool:
    """Whether ``predict`` uses its third argument; not only names it."""
    functions = [
        node
        for node in parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "predict"
    ]
    if len(functions) != 1 or len(functions[0].args.args) != 3:
        raise TheorySourceError(
            "predict_source defines no function `predict(parameters, stimulus, history)`."
        )
    name = functions[0].args.args[2].arg
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(functions[0])
    )


def _policy(source: str, sandbox: Sandbox) -> str:
    """Which of `POLICIES` a policy is, found by trying it."""
    check_source(source)
    probe = (
        f"import numpy as np\n\n{source}\n\n\ndef choose(parameters, trials, xp):\n"
        "    n = int(trials['n'][0])\n"
        "    drawn = np.array([[policy(np.array([1 - p, p])) for _ in range(n)] for p in trials['p']])\n"
        "    share = (drawn == 1).mean(axis=1)\n"
        "    return np.stack([1 - share, share], axis=-1)\n"
    )
    trials = {"p": np.array([p for _, p in PROBE]), "n": np.full(len(PROBE), N_PROBES)}
    try:
        (answer,) = sandbox.probabilities(probe, {"": np.zeros(1)}, [trials])
    except TheoryError as error:
        raise TheorySourceError(f"the policy does not run: {error}") from None
    share = answer[0]
    if all(
        chisquare(N_PROBES * own, N_PROBES * np.array(p)).pvalue > 1e-4
        for own, p in zip(share, PROBE, strict=True)
    ):
        return "sampled"
    if np.array_equal(share, np.eye(2)[np.argmax(PROBE, axis=1)]):
        return "greedy"
    raise TheorySourceError(
        f"the policy neither draws choices with the given probabilities nor takes the likelier option: of {PROBE} it "
        f"makes {share.round(3).tolist()}. Put what it does into predict."
    )

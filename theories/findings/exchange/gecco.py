"""Cognitive models written for GeCCo, as theories of this laboratory.

There a model is a function ``cognitive_model(decisions, A_feature1, ..., B_featureN, parameters)`` that goes through
one person's trials and returns the negative log-likelihood of the decisions; its docstring has a range for each
parameter, as ``- beta: [0,10] strictness``. Here its text stays as it is. What it says of one more decision is how
much its value grows by it, so that probabilities are read off the function itself, whatever it does inside. A function
of which each decision is found to add the same whatever stands before it is asked for each trial alone.

Reference for the form:
    Rmus, Jagadish, Mathony, Ludwig & Schulz (2025), Generating computational cognitive models using large language
    models, arXiv 2502.00879.
"""

from __future__ import annotations

import ast
import re
from pprint import pformat
from textwrap import dedent
from typing import Any

import numpy as np

from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import TheoryError, TheorySourceError
from lakatos.theories.findings.exchange.autocog import MOST_BYTES, docstring_of, uniform_range
from lakatos.theories.findings.exchange.foreign_code import code_in
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.theory import TheoryProgram

AUTHOR = "GeCCo"
DECISIONS = ("decisions", "decision", "choices", "choice", "responses")
FEATURE = re.compile(r"([AB])_?(?:feature|cue|f)_?(\d+)", re.IGNORECASE)
RANGE = re.compile(
    r"^\s*[-*]?\s*(\w+)\s*(?:\([^)]*\))?\s*:\s*(?:\w+ )?(?:in )?([\[(][^\])]*[\])])(.*)$"
)
OTHER_FORMS = (
    "A function that returns a likelihood is imported with --likelihood --responses FILE. An estimator of scikit-learn "
    "or a theorist of AutoRA is scored in Python, by lakatos.score(responses, rivals={'its name': estimator})."
)
"""Advice for Python that is no model of GeCCo."""
SAME = 1e-6
"""Nats by which the value of two decisions may differ from those of each alone."""
COLUMNS = """

def _columns(ratings):
    cells = {{}}
    for letter, row in (("A", 0), ("B", 1)):
        for place in range({n_features}):
            have = place < ratings.shape[-1]
            cells[letter, place] = ratings[:, row, place] if have else np.zeros(len(ratings))
    return cells


def _value(decisions, ratings, values):
    cells = _columns(ratings)
    return float({function}(np.asarray(decisions), {arguments}, values))


def _shares(before, past, ratings, values):
    seen = np.concatenate([past, ratings[None]]) if len(past) else ratings[None]
    added = np.array([-_value([*before, option], seen, values) for option in (0, 1)])
    odds = np.exp(added - added.max())
    return odds / odds.sum()
"""
ALONE = """

def choose(parameters, trials, xp):
    values = np.stack([parameters[name][:, 0] for name in PARAMETERS], axis=-1)
    ratings, nothing = trials["ratings"], np.zeros((0,))
    return np.array([[_shares([], nothing, shown, own) for shown in ratings] for own in values])
"""
WITH_HISTORY = """

def start(parameters, trials, xp):
    n_draws = next(iter(parameters.values())).shape[0]
    return [[([], []) for _ in trials["ratings"]] for _ in range(n_draws)]


def choose(parameters, trials, xp, state):
    answers = np.empty((len(state), len(trials["ratings"]), 2))
    for draw, people in enumerate(state):
        for person, (before, past) in enumerate(people):
            values = np.array([parameters[n][draw, person % parameters[n].shape[1]] for n in PARAMETERS])
            answers[draw, person] = _shares(before, np.array(past), trials["ratings"][person], values)
    return answers


def learn(parameters, trials, xp, state, response, feedback):
    return [
        [
            (
                [*before, int(response[draw % len(response), person].argmax())],
                [*past, trials["ratings"][person]],
            )
            for person, (before, past) in enumerate(people)
        ]
        for draw, people in enumerate(state)
    ]
"""


def import_gecco(
    source: str, sandbox: Sandbox, *, name: str = "", function: str = ""
) -> TheoryProgram:
    """Write a cognitive model of GeCCo as a theory of the multi-attribute domain.

    Args:
        source: Python with one or several such functions.
        sandbox: Sandbox in which it is tried whether decisions depend on those before.
        name: Name of the theory; the first line of the docstring when left out.
        function: Function, where the file has several; the first one when left out.

    Raises:
        TheorySourceError: It is of another form, or about another task; the message says what is missing.
        TheoryError: The code does not run.
    """
    if len(source.encode(errors="replace")) > MOST_BYTES:
        raise TheorySourceError(f"the model has more than {MOST_BYTES} bytes.")
    source = code_in(source)
    node = _function(source, function)
    docstring = ast.get_docstring(node) or ""
    features = _features(node)
    names = _parameters(node)
    priors = _priors(docstring, names)
    arguments = ", ".join(f'cells["{letter}", {place}]' for letter, place in features)
    text = ast.get_source_segment(source, node) or ""
    text = dedent(text)
    check_source(text)
    title, _, rest = docstring.partition("\n")
    claim = " ".join(rest.split()) or title
    declared = f"PARAMETERS = {pformat(priors, width=110, sort_dicts=False)}"
    whole = (
        f'"""{docstring_of(claim, name or title.strip().rstrip(".") or node.name)}\n"""\n\nimport numpy as np\n\n'
        f"{declared}\n\n\n{text}\n"
        + COLUMNS.format(
            n_features=1 + max(place for _, place in features),
            function=node.name,
            arguments=arguments,
        )
    )
    remembers = _remembers(whole, priors, sandbox)
    return TheoryProgram(whole + (WITH_HISTORY if remembers else ALONE), AUTHOR)


def _function(source: str, name: str) -> ast.FunctionDef:
    """The function that is meant."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TheorySourceError(f"the model is no Python: {error}.") from None
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    wanted = name or next((own for own in found if own.startswith("cognitive_model")), "")
    if wanted not in found:
        other = "" if name else f" {OTHER_FORMS}"
        raise TheorySourceError(
            f"there is no function {wanted or 'cognitive_model'!r}; there are: {', '.join(found) or 'none'}.{other}"
        )
    return found[wanted]


def _features(node: ast.FunctionDef) -> list[tuple[str, int]]:
    """The features in the order of the arguments, each as its product and its place from 0."""
    arguments = [item.arg for item in node.args.args]
    if len(arguments) < 4 or arguments[0].lower() not in DECISIONS:
        raise TheorySourceError(
            f"{node.name}({', '.join(arguments)}) is about another task: taken are models whose arguments are "
            f"decisions, A_feature1, ..., B_feature1, ..., and the parameters. {OTHER_FORMS}"
        )
    found = []
    for argument in arguments[1:-1]:
        matched = FEATURE.fullmatch(argument)
        if matched is None:
            raise TheorySourceError(
                f"{node.name}: the argument {argument!r} is no feature of a product, as A_feature1 is."
            )
        found.append((matched[1].upper(), int(matched[2]) - 1))
    if not found or min(place for _, place in found) < 0:
        raise TheorySourceError(f"{node.name}: features are numbered from 1.")
    return found


def _parameters(node: ast.FunctionDef) -> list[str]:
    """Names in the order in which the function unpacks its last argument."""
    last = node.args.args[-1].arg
    for line in node.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Name):
            target = line.targets[0]
            if line.value.id == last and isinstance(target, ast.Tuple | ast.List):
                names = [item.id for item in target.elts if isinstance(item, ast.Name)]
                if len(names) == len(target.elts):
                    return names
    raise TheorySourceError(
        f"{node.name} does not unpack its parameters in one line, as `alpha, beta = {last}` does."
    )


def _priors(docstring: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """Uniform priors within the ranges that the docstring gives."""
    ranges: dict[str, tuple[str, str]] = {}
    for line in docstring.splitlines():
        if found := RANGE.match(line):
            ranges.setdefault(found[1], (found[2], found[3].strip(" -:.")))
    missing = [name for name in names if name not in ranges]
    if missing:
        raise TheorySourceError(
            f"the docstring has no range for {', '.join(missing)}; write a line as `- {missing[0]}: [0, 1] meaning`."
        )
    return {
        name: uniform_range(name, ranges[name][0])
        | ({"meaning": ranges[name][1].replace('"', "'")} if ranges[name][1] else {})
        for name in names
    }


def _remembers(source: str, priors: dict[str, dict[str, Any]], sandbox: Sandbox) -> bool:
    """Whether what a function says of a decision depends on those before it, found by trying.

    Raises:
        TheorySourceError: It does not run.
    """
    probe = (
        f"{source}\n\ndef choose(parameters, trials, xp):\n"
        "    values = np.array([parameters[name][0, 0] for name in PARAMETERS])\n"
        "    shown, chosen = trials['ratings'], trials['chosen'].astype(int)\n"
        "    alone = sum(_value([one], shown[place : place + 1], values) for place, one in enumerate(chosen))\n"
        "    differs = abs(_value(list(chosen), shown, values) - alone) > trials['tolerance'][0]\n"
        "    return np.full((1, len(shown)), float(differs))\n"
    )
    rng = np.random.default_rng(0)
    n_probes = 12
    trials = {
        "ratings": rng.integers(0, 2, size=(n_probes, 2, 4)).astype(np.float64),
        "chosen": rng.integers(0, 2, size=n_probes).astype(np.float64),
        "tolerance": np.full(n_probes, SAME),
    }
    shares = rng.uniform(0.2, 0.8, size=(3, len(priors)))
    differs = []
    for share in shares:
        drawn = {
            name: np.array([prior["low"] + at * (prior["high"] - prior["low"])])
            for (name, prior), at in zip(priors.items(), share, strict=True)
        }
        try:
            (found,) = sandbox.probabilities(probe, drawn, [trials])
        except TheoryError as error:
            raise TheorySourceError(f"the model does not run: {error}") from None
        differs.append(bool(found[0, 0, -1] > 0.5))
    return any(differs)

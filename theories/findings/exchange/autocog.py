"""Theories written for AutoCog, as theories of this laboratory.

There a theory is ``predict(parameters, stimulus, history)``, which gives the probabilities of both options for one
trial and one person, a ``policy`` that draws a choice from them, and parameters with ranges as text, in YAML
(``name``, ``theory``, ``predict``, ``policy``, ``parameters``) or in JSON (``description``, ``predict_source``, ...).
Here the text of ``predict`` stays as it is, and a loop over draws and trials, or over people's histories where it reads
them, is written around it. It runs in the sandbox like any other theory.

A parameter with a value for each cue, ``"[(0.0, 1.0)] * n_features"``, becomes one parameter for each of so many cues;
cues of a trial beyond these get 0.

Reference for the form: Jagadish et al. (2026), arXiv 2606.26448.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pprint import pformat
from textwrap import dedent, fill, shorten
from typing import Any

import numpy as np
import yaml
from scipy.stats import chisquare

from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import TheoryError, TheorySourceError
from lakatos.theories.findings.exchange.foreign_code import with_statistics
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram

AUTHOR = "AutoCog"
FROM_TRIAL = ("validities",)
"""Parameters that are no parameters: what people are told in the trial."""
MOST_BYTES = 60_000
"""Size of one part of a theory."""
MOST_TEXT = 2**20
"""Characters of a file, which may hold the theories of many rounds."""
MOST_LISTED = 50
"""Values that a parameter may list."""
MOST_DEPTH = 12
"""Depth to which a file's objects are searched for theories."""
PROBE = ((0.2, 0.8), (0.65, 0.35))
N_PROBES = 2000
ALONE = """

def choose(parameters, trials, xp):
    n_draws, n_trials = max([1, *map(len, parameters.values())]), len(trials["ratings"])
    answers = np.empty((n_draws, n_trials, 2))
    for draw in range(n_draws):
        own = {{name: float(values[draw, 0]) for name, values in parameters.items()}}{values}
        for trial in range(n_trials):
            own["validities"] = trials["validities"][trial]{cut}
            answers[draw, trial] = np.reshape(predict(own, trials["ratings"][trial], {{}}), 2)
    return answers / answers.sum(axis=-1, keepdims=True)
"""
WITH_HISTORY = """

def start(parameters, trials, xp):
    n_draws = max([1, *map(len, parameters.values())])
    keys = ("option_a_ratings", "option_b_ratings", "response")
    return [[{{key: [] for key in keys}} for _ in trials["ratings"]] for _ in range(n_draws)]


def choose(parameters, trials, xp, state):
    answers = np.empty((len(state), len(trials["ratings"]), 2))
    for draw, histories in enumerate(state):
        for person, history in enumerate(histories):
            given = {{name: values[draw, person % values.shape[1]] for name, values in parameters.items()}}
            own = {{name: float(value) for name, value in given.items()}}{values}
            own["validities"] = trials["validities"][person]{cut}
            answers[draw, person] = np.reshape(predict(own, trials["ratings"][person], history), 2)
    return answers / answers.sum(axis=-1, keepdims=True)


def learn(parameters, trials, xp, state, response, feedback):
    return [
        [
            {{
                "option_a_ratings": [*history["option_a_ratings"], trials["ratings"][person][0].tolist()],
                "option_b_ratings": [*history["option_b_ratings"], trials["ratings"][person][1].tolist()],
                "response": [*history["response"], int(response[draw % len(response), person].argmax())],
            }}
            for person, history in enumerate(histories)
        ]
        for draw, histories in enumerate(state)
    ]
"""
OF_EACH_CUE = re.compile(r"\s*\[\s*\(([^,()]+),([^,()]+)\)\s*\]\s*\*\s*n_features\s*")
MOST_CUES = 8
"""Largest number of cues that a trial of the domain can have."""
GREEDY = "# Its policy in AutoCog takes the likelier option; what is scored are the probabilities of predict."
"""Comment in a theory whose policy takes the likelier option."""


def import_autocog(
    value: Mapping[str, Any] | str, sandbox: Sandbox, *, name: str = "", n_cues: int = 0
) -> TheoryProgram:
    """Write a theory of AutoCog as a theory of the multi-attribute domain.

    What is scored are the probabilities of ``predict``. A policy that takes the likelier option is noted in the
    theory's text, and not scored: one choice of the other option would refute it.

    Args:
        value: As AutoCog keeps it: YAML or JSON, or what either says.
        sandbox: Sandbox in which the policy is tried, to see whether it samples or always takes the likelier option.
        name: Name of the theory; what the file calls it, or what its text says before a colon, when left out.
        n_cues: Cues that the trials have, where a parameter has a value for each cue.

    Raises:
        TheorySourceError: A part is missing or of the wrong form; the message says which.
        TheoryError: The code does not run.
    """
    given = _read(value)
    claim, predict, policy = (_text_of(given, part) for part in ("theory", "predict", "policy"))
    predict = with_statistics(dedent(predict).strip())
    check_source(predict)
    priors, vectors, listed = _priors(given.get("parameters"), n_cues)
    reads_history = _reads_history(predict)
    indent = "\n" + " " * (12 if reads_history else 8)
    body = (WITH_HISTORY if reads_history else ALONE).format(
        values="".join(
            [
                *(
                    f"{indent}{vector} = np.array([own.pop(f'{vector}_{{cue}}') for cue in range(1, {n_cues + 1})])"
                    for vector in vectors
                ),
                *(
                    f"{indent}own[{name!r}] = {values[0]!r}"
                    if len(values) == 1
                    else f"{indent}own[{name!r}] = {values!r}[min(int(own[{name!r}]), {len(values) - 1})]"
                    for name, values in listed.items()
                ),
            ]
        ),
        cut="".join(
            f'\n            own["{vector}"] = np.append({vector}, np.zeros({MOST_CUES}))[: len(own["validities"])]'
            for vector in vectors
        ),
    )
    is_greedy = _policy(dedent(policy).strip(), sandbox) == "greedy"
    note = f"\n{GREEDY}" if is_greedy else ""
    declared = f"PARAMETERS = {pformat(priors, width=110, sort_dicts=False)}"
    return TheoryProgram(
        f'"""{docstring_of(claim, name or _name_in(given))}\n"""\n\nimport numpy as np\n{note}\n{declared}\n\n\n'
        f"{predict}\n{body}",
        AUTHOR,
    )


@dataclass(frozen=True)
class HeldTheory:
    """A theory in a file of AutoCog that holds several: a round's ``theories.json``, or a ``state.json``."""

    label: str
    """Name in the file, such as ``pi_1``, or else its place, such as ``rounds.2.next_theory``."""
    value: Mapping[str, Any]

    @property
    def words(self) -> str:
        """The beginning of its claim."""
        return shorten(_text_of(self.value, "theory"), 100, placeholder=" ...")


def theories_in(text: str) -> list[HeldTheory]:
    """The different theories of a file of AutoCog, in its order; one that occurs again is listed once.

    Raises:
        TheorySourceError: It is neither JSON nor YAML, or holds no theory.
    """
    value = _parsed(text)
    if not text.lstrip().startswith(("{", "[")):
        return [
            HeldTheory("theory", _parts(value))
        ]  # YAML has one; its aliases could unfold for ever
    found: dict[str, HeldTheory] = {}
    _collect(value, (), "", found)
    if not found:
        raise TheorySourceError(
            "the file is no JSON that holds a theory: no object has the keys description and predict_source."
        )
    labels = Counter(item.label for item in found.values())
    return [
        item if labels[item.label] == 1 else replace(item, label=f"{item.label}.{number}")
        for number, item in enumerate(found.values(), 1)
    ]


def _collect(
    value: Any, place: tuple[str, ...], label: str, found: dict[str, HeldTheory], depth: int = 0
) -> None:
    """Add what a part of a file holds to ``found``, by its content."""
    if depth > MOST_DEPTH:
        return
    if isinstance(value, Mapping):
        if "predict_source" in value or isinstance(value.get("predict"), str):
            key = json.dumps(value, sort_keys=True, default=str)
            found.setdefault(key, HeldTheory(label or ".".join(place) or "theory", value))
            return
        own = value.get("label")
        inside = own if isinstance(own, str) else ""
        for name, part in value.items():
            _collect(
                part, (*place, str(name)), inside if name == "theory" else "", found, depth + 1
            )
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for number, part in enumerate(value, 1):
            _collect(part, (*place, str(number)), "", found, depth + 1)


def chosen_theory(text: str, which: str = "") -> Mapping[str, Any]:
    """The theory of a file that ``which`` names by its label; the only one, where it is empty.

    Raises:
        TheorySourceError: There are several, or none of this label; the message lists them.
    """
    held = theories_in(text)
    if not which and len(held) == 1:
        return held[0].value
    for item in held:
        if which == item.label:
            return item.value
    listed = ", ".join(item.label for item in held[:12])
    more = f" and {len(held) - 12} more (--list shows them)" if len(held) > 12 else ""
    what = f"no theory of the file is called {which[:60]!r}" if which else "the file holds several"
    raise TheorySourceError(
        f"{what}: {listed}{more}. Take one by `lakatos theory import FILE --which LABEL`."
    )


def docstring_of(claim: str, name: str = "") -> str:
    """The docstring ``Name: claim`` of a theory, with every word of both; a name is read off the claim if need be.

    Args:
        claim: Claim of any length.
        name: What the theory is called; what stands before the claim's first colon, if that is no sentence, or the
            first sentence by default.
    """
    claim, name = (
        " ".join(text.replace("\\", " ").replace('"', "'").split()) for text in (claim, name)
    )
    if not name:
        before, _, after = claim.partition(":")
        if after.strip() and ". " not in before:
            name, claim = before, after.strip()
        else:
            name = claim.partition(". ")[0].rstrip(".")
    return fill(f"{name.replace(':', ' -')}: {claim}", width=110, break_on_hyphens=False)


OTHER_NAMES = {"theory": "description", "predict": "predict_source", "policy": "policy_source"}
"""Names in JSON of the parts of YAML."""


def _read(value: Any) -> Mapping[str, Any]:
    """The theory's parts, wherever a file of AutoCog keeps them."""
    return chosen_theory(value) if isinstance(value, str) else _parts(value)


def _parts(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TheorySourceError("the theory is no JSON object, and no YAML with keys.")
    inner = value.get("theory")
    return inner if isinstance(inner, Mapping) else value


def _parsed(text: str) -> Any:
    """Parse JSON or YAML; YAML as plain values only, which name no class to be made."""
    if len(text) > MOST_TEXT:
        raise TheorySourceError(f"the file has more than {MOST_TEXT:,} characters.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith(("{", "[")):
            raise TheorySourceError(f"the theory is no JSON: {error}.") from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        words = " ".join(str(error).split())[:200]
        raise TheorySourceError(f"the theory is neither JSON nor YAML: {words}.") from None


def _name_in(given: Mapping[str, Any]) -> str:
    name = given.get("name")
    return name if isinstance(name, str) else ""


def _text_of(given: Mapping[str, Any], part: str) -> str:
    text = given.get(part, given.get(OTHER_NAMES[part]))
    if not isinstance(text, str) or not text.strip():
        raise TheorySourceError(
            f"the theory has no {part} (in JSON {OTHER_NAMES[part]}); AutoCog's form has a text there."
        )
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise TheorySourceError(f"{part} has more than {MOST_BYTES} bytes.")
    return text


def _priors(
    parameters: Any, n_cues: int
) -> tuple[dict[str, dict[str, Any]], list[str], dict[str, tuple[Any, ...]]]:
    """Uniform priors of ranges as text, ``"[0.1, 20.0]"``, parameters with a value for each cue, and listed values.

    One of several values, ``"{1, 2, 3}"``, is chosen by the whole part of a number with a uniform prior from 0 to 3; a
    single value is a constant.
    """
    if not isinstance(parameters, Mapping):
        raise TheorySourceError(
            "the theory has no parameters; AutoCog's form has an object with a range for each."
        )
    priors: dict[str, dict[str, Any]] = {}
    vectors = []
    listed: dict[str, tuple[Any, ...]] = {}
    for name, text in parameters.items():
        if name in FROM_TRIAL:
            continue
        if not str(name).isidentifier():
            raise TheorySourceError(f"{str(name)[:40]!r} is no name of a parameter.")
        if values := _listed(text):
            listed[str(name)] = values
            if len(values) > 1:
                priors[str(name)] = uniform_range(str(name), [0, len(values)])
            continue
        if found := OF_EACH_CUE.fullmatch(text if isinstance(text, str) else ""):
            vectors.append(str(name))
            if not 1 <= n_cues <= MOST_CUES:
                raise TheorySourceError(
                    f"the parameter {str(name)!r} has a value for each cue, and the number of cues is unknown "
                    f"(1 to {MOST_CUES}). Name the responses that it predicts (--responses FILE), or the number "
                    "(--cues 4; n_cues in Python)."
                )
            names = [f"{name}_{cue}" for cue in range(1, n_cues + 1)]
            text = f"[{found[1]}, {found[2]}]"
        else:
            names = [str(name)]
        for own in names:
            priors[own] = uniform_range(own, text)
    return priors, vectors, listed


def _listed(text: Any) -> tuple[Any, ...]:
    """The values of ``"{0, 1}"`` or of a constant number; empty where the text is something else."""
    try:
        node = ast.parse(str(text).strip(), mode="eval").body
        values = [ast.literal_eval(item) for item in getattr(node, "elts", [node])]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    is_set = isinstance(node, ast.Set) and len(values) <= MOST_LISTED
    is_number = not hasattr(node, "elts") and isinstance(values[0], int | float)
    plain = all(isinstance(item, bool | int | float | str) for item in values)
    return tuple(dict.fromkeys(values)) if plain and (is_set or is_number) else ()


def uniform_range(name: str, text: Any) -> dict[str, Any]:
    """The prior that a range as text, ``"[0.1, 20.0]"``, declares.

    Raises:
        TheorySourceError: It is no range.
    """
    words = text if isinstance(text, str) else ""
    if isinstance(text, list) and len(text) == 2:
        words = f"[{text[0]!s:.40}, {text[1]!s:.40}]"
    found = re.fullmatch(r"\s*[\[(]\s*([^,\[\]()]+),\s*([^,\[\]()]+)[\])]\s*", words)
    try:
        low, high = (float(part) for part in found.groups()) if found else (np.nan, np.nan)
    except ValueError:
        low = high = np.nan
    if not low < high:
        shown = text if isinstance(text, str | int | float) else type(text).__name__
        raise TheorySourceError(
            f"the range of the parameter {name!r} is {shown!r:.80}; give two numbers, as in [0, 1]."
        )
    prior = {"prior": "uniform", "low": low, "high": high}
    parse_prior(name, prior)
    return prior


def _reads_history(source: str) -> bool:
    """Whether ``predict`` uses its third argument; not only names it."""
    functions = [
        node
        for node in parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "predict"
    ]
    if len(functions) != 1 or len(functions[0].args.args) != 3:
        raise TheorySourceError(
            "predict defines no function `predict(parameters, stimulus, history)`."
        )
    name = functions[0].args.args[2].arg
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(functions[0])
    )


def _policy(source: str, sandbox: Sandbox) -> str:
    """Find whether a policy draws choices ("sampled") or takes the likelier option ("greedy"), by trying it."""
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

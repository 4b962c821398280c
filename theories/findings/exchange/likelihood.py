"""Likelihood functions of one participant's columns and parameters, as theories that are fitted as they stand.

A researcher's own ``model(choices, rewards, parameters)`` says how likely a participant's responses are. It is not
rewritten: `import_likelihood` finds out what its arguments mean, what it returns and within which bounds it is fitted,
tries it on responses, and appends this as ``LIKELIHOOD`` to the text. `theories.findings.likelihood_fit` estimates and
scores it.

A likelihood is normalised: over all responses that could have been given to a trial, its values sum to 1. This is
tried, because a function that is not normalised can beat every honest theory. It also decides between forms that look
alike, such as probabilities of trials and their negative logarithms.

Reference for functions with the parameters' bounds in the docstring:
    Rmus, Jagadish, Mathony, Ludwig & Schulz (2025), Generating computational cognitive models using large language
    models, arXiv 2502.00879.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pprint import pformat
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import qmc

from lakatos.theories.engine.sandbox.likelihoods import (
    CalledFunction,
    Columns,
    LikelihoodSandbox,
    LikelihoodSession,
    limits_of_calls,
)
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.engine.sandbox.wire import COLUMN, PARAMETER, VECTOR
from lakatos.theories.errors import (
    TheoryError,
    TheoryLintError,
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryShapeError,
    TheorySourceError,
)
from lakatos.theories.findings.exchange.foreign_code import code_in, with_statistics
from lakatos.theories.language.parsing import parse

Array = NDArray[np.float64]
NAME: Final = "LIKELIHOOD"
TOTAL, TOTAL_NEGATIVE = "log_likelihood", "negative_log_likelihood"
PROBABILITIES, LOGS, LOGS_NEGATIVE = (
    "probabilities",
    "log_probabilities",
    "negative_log_probabilities",
)
RETURNS: Final = (TOTAL, TOTAL_NEGATIVE, PROBABILITIES, LOGS, LOGS_NEGATIVE)
"""Forms of a function's result: one number, or a number for each trial."""
VECTORS = {"parameters", "params", "model_parameters", "theta", "x", "pars", "par"}
"""Names of an argument that holds all parameters."""
PEOPLE = (
    "participant",
    "subject",
    "subj",
    "sub",
    "participant_id",
    "subject_id",
    "subjid",
    "id",
    "ppt",
    "person",
)
ALIKE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("action", "choice", "response", "decision", "resp", "chosen", "gamble"), "response"),
    **dict.fromkeys(("reward", "outcome", "feedback", "payoff"), "reward"),
    **dict.fromkeys(("state", "stimulus", "stimuli", "stim"), "state"),
}  # fmt: skip
"""Words of names that mean the same in likelihood functions and in files."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
MOST_OPTIONS = 20
"""Distinct responses; a column with more holds a measured quantity, whose likelihood is a density."""
MOST_COMBINED = 64
"""Combinations of responses to one trial over which a likelihood is summed."""
MOST_UNSEEN = 128
"""Numbered options beyond the largest response that are tried."""
N_VECTORS = 8
"""Vectors of parameters at which a function is tried."""
N_PEOPLE = 6
"""Participants on whom it is tried."""
NORMALISED, NEARLY = 1e-6, 1e-2
"""Deviations from 1 of a likelihood's sum that are rounding, and that are stated but accepted."""
SAME = 1e-9


@dataclass(frozen=True)
class Likelihood:
    """A likelihood function with what its arguments and its value mean."""

    source: str
    function: str
    participant: str
    """Column that identifies participants."""
    columns: Mapping[str, str]
    """Column of each argument that is one."""
    responses: tuple[str, ...]
    """Arguments that hold responses."""
    bounds: Mapping[str, tuple[float, float]]
    """Bounds of each parameter, in the order in which a vector holds them."""
    returns: str
    """One of `RETURNS`."""
    vectorised: bool = False
    """Whether one call takes parameters of shape ``(n_vectors, 1)``."""
    skip: Mapping[str, str] = field(default_factory=dict)
    """Cells, by column, whose rows are left out, such as the mark of a missing response."""

    @property
    def name(self) -> str:
        """The first line of the function's docstring, unless it describes an argument; else its name."""
        docstring = ast.get_docstring(function_in(self.source, self.function)) or ""
        first = docstring.partition("\n")[0].strip().rstrip(".")
        word = re.match(r"[-*]?\s*(\w+)\s*:", first)
        known = {*self.bounds, *self.columns, *VECTORS}
        return first if first and not (word and word[1] in known) else self.function

    @property
    def called(self) -> CalledFunction:
        """The function as the sandbox calls it."""
        roles = []
        for item in arguments_of(function_in(self.source, self.function)):
            if item in self.columns:
                roles.append((item, COLUMN))
            elif item in self.bounds:
                roles.append((item, PARAMETER))
            elif item in _needed(function_in(self.source, self.function)):
                roles.append((item, VECTOR))
        names = tuple(self.bounds)
        return CalledFunction(self.source, self.function, tuple(roles), names, self.responses)

    @property
    def ends(self) -> tuple[Array, Array]:
        """``(n_parameters,)`` lower and upper bounds."""
        low, high = np.array(list(self.bounds.values()), dtype=np.float64).T
        return low, high

    def written(self) -> str:
        """The source with the declaration at its end."""
        declared = {
            "function": self.function,
            "participant": self.participant,
            "columns": dict(self.columns),
            "responses": list(self.responses),
            "bounds": {name: list(ends) for name, ends in self.bounds.items()},
            "returns": self.returns,
            "vectorised": self.vectorised,
            "skip": dict(self.skip),
        }
        text = pformat(declared, width=100, sort_dicts=False)
        return f"{self.source.rstrip()}\n\n\n{NAME} = {text}\n"

    def people_in(self, table: pd.DataFrame) -> dict[str, dict[str, NDArray[Any]]]:
        """Columns of each participant of a table of text cells, by argument, in the order of the table.

        Raises:
            TheoryError: A column is missing, or a cell is empty; the message names it.
        """
        for column in (self.participant, *self.columns.values(), *self.skip):
            if column not in table.columns:
                raise TheoryError(
                    f"{self.function} reads the column {column!r}, which the table does not have; it has "
                    f"{', '.join(map(str, table.columns))}. Import it again for this table, or rename the column."
                )
        for column, cell in self.skip.items():
            table = table[table[column].astype(str).str.strip() != cell]
        if not len(table):
            raise TheoryError(f"no row is left without those that skip names ({dict(self.skip)}).")
        cells = {name: _cells(table[column], column) for name, column in self.columns.items()}
        who = table[self.participant].astype(str).to_numpy()
        if "" in who:
            raise TheoryError(
                f"a row has no {self.participant}; remove it, or name the participant."
            )
        names = list(dict.fromkeys(who.tolist()))
        rows = {name: np.flatnonzero(who == name) for name in names}
        return {name: {key: own[rows[name]] for key, own in cells.items()} for name in names}

    def log_likelihood(self, values: Array) -> Array:
        """``(n_vectors,)`` log likelihoods from what the function returned, ``(n_vectors, 1 or n_trials)``."""
        return np.asarray(self.log_values(values).sum(axis=1))

    def log_values(self, values: Array) -> Array:
        """The same for each trial, where the function returns a number for each."""
        return _as_logs(values, self.returns)


def _as_logs(values: Array, returns: str) -> Array:
    """Logarithms of likelihoods from numbers of a form."""
    if returns == PROBABILITIES:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values)
    return -values if returns in (TOTAL_NEGATIVE, LOGS_NEGATIVE) else values


def _cells(column: pd.Series, name: str) -> NDArray[Any]:
    """A column as whole numbers, numbers or text.

    Raises:
        TheoryError: A cell is empty.
    """
    text = column.astype(str).str.strip()
    if (text == "").any():
        row = text.index[(text == "").to_numpy()][0]
        raise TheoryError(
            f"row {row} has no {name}. A likelihood needs all columns of each trial; --skip {name}= leaves out such "
            "rows."
        )
    numbers = pd.to_numeric(text, errors="coerce").to_numpy(np.float64)
    if np.isnan(numbers).any():
        return np.asarray(text.to_numpy(dtype=np.str_))
    whole = numbers.astype(np.int64) if (np.abs(numbers) < 2**53).all() else numbers
    return np.asarray(whole if (whole == numbers).all() else numbers)


# Reading a source ------------------------------------------------------------------------------


def is_likelihood(source: str) -> bool:
    """Whether a source declares a likelihood function."""
    return re.search(rf"^{NAME} = ", source, re.MULTILINE) is not None


def refuse_likelihood(place: object, source: str) -> None:
    """Refuse a likelihood function where a theory of the language is needed.

    Raises:
        TheoryError: The source declares one.
    """
    if is_likelihood(source):
        raise TheoryError(
            f"{place} is a likelihood function: it gives the likelihood of responses that were made, which `lakatos "
            "theory score` and `lakatos theory fit` need. This needs a theory that predicts every option of a trial "
            "(`choose`)."
        )


def read_likelihood(source: str) -> Likelihood:
    """A likelihood function that `import_likelihood` wrote.

    Raises:
        TheorySourceError: Its declaration is incomplete or was damaged.
    """
    check_source(source)
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == NAME:
            try:
                literal = ast.literal_eval(node.value)
                bounds = {
                    str(name): (float(a), float(b)) for name, (a, b) in literal["bounds"].items()
                }
                columns = {str(name): str(column) for name, column in literal["columns"].items()}
                found = Likelihood(
                    "\n".join(source.splitlines()[: node.lineno - 1]).rstrip() + "\n",
                    str(literal["function"]),
                    str(literal["participant"]),
                    columns,
                    tuple(map(str, literal["responses"])),
                    bounds,
                    str(literal["returns"]),
                    bool(literal.get("vectorised", False)),
                    {str(name): str(cell) for name, cell in literal.get("skip", {}).items()},
                )
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise TheorySourceError(
                    f"{NAME} cannot be read ({error}); import the function again with `lakatos theory import FILE "
                    "--likelihood --responses TABLE`."
                ) from None
            _check_declared(found)
            return found
    raise TheorySourceError(f"the source declares no {NAME}.")


def _check_declared(item: Likelihood) -> None:
    """Refuse a declaration that does not fit its function."""
    function_in(item.source, item.function)
    if item.returns not in RETURNS:
        raise TheorySourceError(
            f"{NAME}: returns is {item.returns!r}; it is one of {', '.join(RETURNS)}."
        )
    if not item.responses or not set(item.responses) <= set(item.columns):
        raise TheorySourceError(f"{NAME}: responses must name arguments that are columns.")
    _check_bounds(item.bounds)


def _check_bounds(bounds: Mapping[str, tuple[float, float]]) -> None:
    """Refuse bounds that are infinite or leave no room."""
    if not bounds:
        raise TheorySourceError(
            "the function has no parameter; give bounds with --bound NAME=LOW,HIGH."
        )
    for name, (low, high) in bounds.items():
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise TheorySourceError(
                f"the bounds of {name} are {low:g} and {high:g}; give finite ones, the lower first: --bound {name}=0,1."
            )


def function_in(source: str, name: str = "") -> ast.FunctionDef:
    """The function that is meant; of several, one must be named.

    Raises:
        TheorySourceError: The source is no Python, or which function is meant is open.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TheorySourceError(f"the model is no Python: {error}.") from None
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name in found:
        return found[name]
    called = {
        inner.func.id
        for node in found.values()
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Name)
        and inner.func.id != node.name
    }
    outer = [own for own in found if own not in called and own != "simulate"]
    if not found:
        raise TheorySourceError(
            "the file has no function outside of classes; write one that takes columns and parameters, such as "
            "`def model(choices, rewards, parameters):`. Estimators of scikit-learn and theorists of AutoRA are scored "
            "in Python, by lakatos.score(responses, rivals={'its name': estimator})."
        )
    if name or len(outer) != 1:
        there = f"there is no function {name!r}" if name else "which function is meant is open"
        raise TheorySourceError(
            f"{there}; there are: {', '.join(found)}. Name one with --function."
        )
    return found[outer[0]]


def arguments_of(node: ast.FunctionDef) -> list[str]:
    """Names of the arguments, in their order."""
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
        raise TheorySourceError(f"{node.name}: write its arguments out, without * and **.")
    return [item.arg for item in (*node.args.posonlyargs, *node.args.args)]


def _needed(node: ast.FunctionDef) -> list[str]:
    """Arguments without a default."""
    names = arguments_of(node)
    return names[: len(names) - len(node.args.defaults)]


def _unpacked(node: ast.FunctionDef, vector: str) -> list[str]:
    """Names into which a function divides its vector of parameters, in their order; none where it does not.

    Names are those of one assignment, or of assignments by place, such as ``alpha = parameters[0]``.
    """
    by_place: dict[int, str] = {}
    for line in ast.walk(node):
        if not isinstance(line, ast.Assign) or len(line.targets) != 1:
            continue
        target, value = line.targets[0], line.value
        if isinstance(value, ast.Name) and value.id == vector:
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
            names = [item.id for item in parts if isinstance(item, ast.Name)]
            if names and len(names) == len(parts):
                return names
        if (
            isinstance(value, ast.Subscript)
            and getattr(value.value, "id", "") == vector
            and isinstance(value.slice, ast.Constant)
            and isinstance(value.slice.value, int)
            and isinstance(target, ast.Name)
        ):
            by_place.setdefault(value.slice.value, target.id)
    return (
        [by_place[place] for place in sorted(by_place)]
        if set(by_place) == set(range(len(by_place)))
        else []
    )


def bounds_said(source: str, docstring: str) -> dict[str, tuple[float, float]]:
    """Bounds in a dictionary ``BOUNDS`` of the source, and in a docstring as ``alpha in [0, 1]``."""
    found: dict[str, tuple[float, float]] = {}
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "BOUNDS":
            try:
                given = ast.literal_eval(node.value)
                found = {str(name): (float(a), float(b)) for name, (a, b) in given.items()}
            except (TypeError, ValueError, AttributeError):
                raise TheorySourceError(
                    "BOUNDS must be a dictionary of two numbers for each parameter, as {'alpha': (0, 1)}."
                ) from None
    ends_said = rf"[\[(]\s*({NUMBER})\s*,\s*({NUMBER})\s*[\])]"
    remark = rf"(?:\((?!\s*{NUMBER}\s*,\s*{NUMBER}\s*\))[^)\n]*\))?"
    between = rf"[^\[(\n]{{0,40}}{remark}[^\[(\n]{{0,20}}"
    line = rf"\b([A-Za-z_]\w*)\b{between}{ends_said}"
    further = (
        r"\s*(?:[,;]|\band\b)\s*(?:and\s+)?([A-Za-z_]\w*)\s*(?:\bin\b|:|=|\u2208)?\s*"
        rf"{ends_said}"
    )
    vector = rf"^\s*[-*]?\s*(?:{'|'.join(sorted(VECTORS))})\s*:"
    for whole in docstring.splitlines():
        text = re.sub(vector, "", whole, count=1, flags=re.IGNORECASE)
        begun = re.match(r"\s*[-*]?\s*((?:[A-Za-z_]\w*\s*,\s*)*[A-Za-z_]\w*)", text)
        ends = re.search(line, text)
        if begun and ends:
            for name in re.split(r"\s*,\s*", begun[1]):
                found.setdefault(name, (float(ends[2]), float(ends[3])))
            while ends := re.compile(further).match(text, ends.end()):
                found.setdefault(ends[1], (float(ends[2]), float(ends[3])))
    return found


# Meanings of arguments -------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """Statements of the user about a function, in place of what is guessed."""

    function: str = ""
    participant: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    responses: Sequence[str] = ()
    returns: str = ""
    skip: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TranslatedModel:
    """A model of another language as a likelihood function."""

    source: str
    known: Said
    """Statements of the model about its function; columns by their names there."""
    notes: tuple[str, ...] = ()

    def said(self, user: Said, columns: Sequence[str]) -> Said:
        """Return the user's statements, completed by what the model states and the table has."""
        own = {name: column for name, column in self.known.columns.items() if column in columns}
        return replace(
            user,
            function=self.known.function,
            participant=user.participant or self.known.participant,
            columns={**own, **user.columns},
            bounds={**self.known.bounds, **user.bounds},
            responses=tuple(user.responses) or self.known.responses,
            returns=user.returns or self.known.returns,
        )


def _canonical(name: str) -> str:
    """A name without case, plural and separators, its words replaced by those that mean the same."""
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    single = [
        word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("us") else word
        for word in words
    ]
    return " ".join(ALIKE.get(word, word) for word in single)


def _column_for(argument: str, columns: Sequence[str]) -> str:
    """The column that an argument means by its name; empty where none is alike.

    Raises:
        TheorySourceError: Several are.
    """
    for same in (str, str.lower, _canonical):
        found = [name for name in columns if same(name) == same(argument)]
        if len(found) == 1:
            return found[0]
        if found:
            raise TheorySourceError(
                f"the argument {argument!r} may mean the columns {' and '.join(found)}; say which one with --argument "
                f"{argument}=COLUMN."
            )
    return ""


def _is_response(argument: str) -> bool:
    """Whether an argument holds responses, by its name."""
    return _canonical(argument).split(" ")[0] == "response"


def _declared(source: str, table: pd.DataFrame, stated: Said) -> Likelihood:
    """Declare what the arguments of a function mean, before it is tried.

    Raises:
        TheorySourceError: An argument, a bound, the participants or the responses are open.
    """
    node = function_in(source, stated.function)
    columns = [str(name) for name in table.columns]
    participant = stated.participant or next((own for own in columns if own.lower() in PEOPLE), "")
    if participant not in columns:
        raise TheorySourceError(
            f"the table has no column {participant!r}; name the one of participants with --participant, one of "
            f"{', '.join(columns)}."
            if participant
            else "which column names participants is open; say --participant with one of "
            + ", ".join(columns)
            + "."
        )
    bounds_known = {**bounds_said(source, ast.get_docstring(node) or ""), **stated.bounds}
    needed, optional = _needed(node), set(arguments_of(node)) - set(_needed(node))
    unknown = [name for name in stated.columns if name not in arguments_of(node)]
    if unknown:
        raise TheorySourceError(
            f"{node.name} has no argument {unknown[0]!r}; it has {', '.join(arguments_of(node))}."
        )
    meant: dict[str, str] = {}
    parameters: list[str] = []
    vector = ""
    free = [name for name in columns if name != participant]
    for name in arguments_of(node):
        if name in stated.columns:
            meant[name] = stated.columns[name]
        elif name.lower() in VECTORS and name not in bounds_known:
            vector = name
        elif name in bounds_known:
            parameters.append(name)
        elif (found := _column_for(name, free)) and (name in needed or name in optional):
            meant[name] = found
        elif name in needed:
            raise TheorySourceError(
                f"the argument {name!r} of {node.name} is called like no column and has no bounds. Say "
                f"--argument {name}=COLUMN (columns: {', '.join(columns)}); or, for a parameter, --bound "
                f"{name}=LOW,HIGH, or write a line `{name}: [0, 1]` into the docstring."
            )
    missing = [column for column in meant.values() if column not in columns]
    if missing:
        raise TheorySourceError(
            f"the table has no column {missing[0]!r}; it has {', '.join(columns)}."
        )
    if vector:
        parameters += _unpacked(node, vector) or list(bounds_known)
    without = [name for name in parameters if name not in bounds_known]
    if without:
        raise TheorySourceError(
            f"the parameter{'s' * (len(without) > 1)} {', '.join(without)} {'have' if len(without) > 1 else 'has'} no "
            f"bounds. Write a line `{without[0]}: [0, 1]` into the docstring, a dictionary BOUNDS into the file, or "
            f"say {' '.join(f'--bound {name}=LOW,HIGH' for name in without)}."
        )
    bounds = {name: bounds_known[name] for name in parameters}
    _check_bounds(bounds)
    responses = tuple(stated.responses) or tuple(name for name in meant if _is_response(name))
    if not responses or not set(responses) <= set(meant):
        raise TheorySourceError(
            f"which argument holds the responses is open; say --response with one of {', '.join(meant) or 'none'}."
        )
    returns = stated.returns or TOTAL
    return Likelihood(
        source, node.name, participant, meant, responses, bounds, returns, skip=stated.skip
    )


# Trying a function -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ImportedLikelihood:
    """A likelihood function that was tried on responses, and what was decided about it."""

    likelihood: Likelihood
    notes: tuple[str, ...]


def import_likelihood(
    source: str, table: pd.DataFrame, sandbox: LikelihoodSandbox, said: Said = Said(), *, seconds: float = 10.0
) -> ImportedLikelihood:  # fmt: skip
    """Find out what a likelihood function means, and try it on responses.

    Args:
        source: Python with the function.
        table: Responses, a row for each trial, in the order of presentation; cells of text.
        sandbox: Sandbox in which it runs.
        said: What is known of it.
        seconds: Processor time of one call.

    Raises:
        TheorySourceError: What an argument means is open, or the text uses what the sandbox does not have.
        TheoryError: The function fails on these responses, or is no likelihood of them; the message states the
            participant, the trial and the parameters that show it.
    """
    source = with_statistics(code_in(source))
    names = {item.id for item in ast.walk(parse_source(source)) if isinstance(item, ast.Name)}
    bound = {
        alias.asname or alias.name
        for node in ast.walk(parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    if "np" in names and "np" not in bound:  # such functions are often kept without their imports
        source = f"import numpy as np\n\n\n{source}"
    try:
        check_source(source)
        left_out: list[str] = []
    except TheoryLintError:
        source, left_out = _reached(source, said.function)
    found = _declared(source, table, said)
    people = found.people_in(table)
    trial = _Trial(found, people, sandbox, seconds)
    tried = trial.run(said.returns)
    return ImportedLikelihood(
        tried.likelihood, (*tried.notes, *left_out, *_order_in_words(table, found.participant))
    )


def _reached(source: str, function: str) -> tuple[str, list[str]]:
    """Extract what a function needs of a script or notebook with other parts that a theory may not hold; and a note.

    Raises:
        TheoryLintError: The function needs what a theory may not hold.
    """
    tree, main = parse_source(source), function_in(source, function)
    wanted, kept = {main.name, "simulate", "BOUNDS"}, set[int]()
    while True:
        new = {
            place
            for place, node in enumerate(tree.body)
            if place not in kept and wanted & _names_bound(node)
        }
        if not new:
            break
        kept |= new
        wanted |= set().union(*(_names_used(tree.body[place]) for place in new))
    lines = source.splitlines()
    parts = []
    for place in sorted(kept):
        node = tree.body[place]
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(own.lineno for own in decorators)])
        blank = "\n\n" if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
        parts.append(blank + "\n".join(lines[first - 1 : node.end_lineno]))
    needed = "\n".join(parts).strip() + "\n"
    try:
        check_source(needed)
    except TheoryLintError:
        check_source(source)  # its message counts lines of the file
        raise
    return needed, [f"only what {main.name} needs was taken from the file"]


def _names_used(node: ast.stmt) -> set[str]:
    """Names that a statement of a module reads and does not bind itself, if it is a function."""
    found = {
        item.id
        for item in ast.walk(node)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)
    }
    if not isinstance(node, ast.FunctionDef):
        return found
    shared = {
        name for item in ast.walk(node) if isinstance(item, ast.Global) for name in item.names
    }
    own = {
        item.id
        for line in node.body
        for item in ast.walk(line)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
    return found - (own | {item.arg for item in node.args.args}) | shared


def _names_bound(node: ast.stmt) -> set[str]:
    """Names that a statement of a module gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return {
        item.id
        for item in ast.walk(node)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }


def _order_in_words(table: pd.DataFrame, participant: str) -> list[str]:
    """A warning where numbers of trials are unique in each participant, but the rows are in another order."""
    for column in table.columns:
        if _canonical(str(column)) not in (
            "trial",
            "trial number",
            "trial no",
            "trial index",
            "trialnum",
        ):
            continue
        numbers = pd.to_numeric(table[column], errors="coerce")
        own = numbers.groupby(table[participant].astype(str))
        if numbers.isna().any() or own.apply(lambda part: part.duplicated().any()).any():
            continue
        if not own.apply(lambda part: part.is_monotonic_increasing).all():
            return [
                f"rows are not in the order of {column}; a function of what came before needs them in the order of "
                "presentation: sort the file, unless its order is that"
            ]
    return []


def parse_source(source: str) -> ast.Module:
    """The syntax tree of a source.

    Raises:
        TheorySourceError: It is no Python.
    """
    try:
        return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TheorySourceError(f"the model is no Python: {error}.") from None


def vectors_within(item: Likelihood, n_vectors: int, *, margin: float = 0.02) -> Array:
    """``(n_vectors, n_parameters)`` vectors that are spread evenly between the bounds, not closer than a margin."""
    shares = qmc.Sobol(len(item.bounds), scramble=True, rng=np.random.default_rng(0))
    low, high = item.ends
    n_drawn = 1 << max(n_vectors - 1, 0).bit_length()
    inner = margin + (1 - 2 * margin) * shares.random(n_drawn)[:n_vectors]
    return np.asarray(low + inner * (high - low))


class _Trial:
    """Trying a function on responses of a few participants."""

    def __init__(
        self,
        item: Likelihood,
        people: Mapping[str, Columns],
        sandbox: LikelihoodSandbox,
        seconds: float,
    ) -> None:
        self.item, self.sandbox, self.limits = item, sandbox, limits_of_calls(seconds)
        places = np.unique(np.linspace(0, len(people) - 1, N_PEOPLE).astype(int))
        everybody = list(people)
        self.names = [everybody[place] for place in places]
        self.people = [people[name] for name in self.names]
        self.vectors = vectors_within(item, N_VECTORS)
        self.options = [
            np.unique(np.concatenate([own[name] for own in people.values()]))
            for name in item.responses
        ]
        self.is_discrete = (
            max(map(len, self.options)) <= MOST_OPTIONS
            and int(np.prod([len(own) for own in self.options])) <= MOST_COMBINED
        )

    def run(self, returns: str) -> ImportedLikelihood:
        """All that is tried, and the function with what was found."""
        with self._opened() as session:
            # A function that never ends is known by one call, not by as many as there are vectors.
            self._values(session, 0, self.vectors[:1])
            raw = [self._values(session, person) for person in range(len(self.people))]
            self._check_order(raw)
            forms = [returns] if returns else self._forms(raw)
            self._check_width(raw, forms)
            found, notes = self._with_form(session, raw, forms)
            together = self._takes_all(session, raw)
        item = Likelihood(**{**vars(found), "vectorised": together})
        low, high = item.ends
        words = [
            f"{name} is the column {column}" + (" (response)" if name in item.responses else "")
            for name, column in item.columns.items()
        ]
        ends = [f"{name} [{a:g}, {b:g}]" for name, a, b in zip(item.bounds, low, high, strict=True)]
        return ImportedLikelihood(
            item,
            (
                f"{item.function}: {', '.join(words)}; participants are in {item.participant}",
                f"parameters {', '.join(ends)}",
                f"it returns {item.returns.replace('_', ' ')}",
                *(
                    f"rows whose {name} is {cell or 'empty'} are left out"
                    for name, cell in item.skip.items()
                ),
                *notes,
                *(["one call takes all vectors of parameters"] if together else []),
            ),
        )

    def _opened(self, people: Sequence[Columns] | None = None) -> LikelihoodSession:
        return self.sandbox.open_function(self.item.called, people or self.people, self.limits)

    def _at(self, person: int, vector: Array, trial: int | None = None) -> str:
        """Describe where something was found."""
        values = ", ".join(
            f"{name}={value:.6g}" for name, value in zip(self.item.bounds, vector, strict=True)
        )
        where = f", trial {trial}" if trial is not None else ""
        return f"participant {self.names[person]}{where}, with {values}"

    def _values(
        self, session: LikelihoodSession, person: int, vectors: Array | None = None
    ) -> Array:
        """Compute the function's values for one participant, at all vectors by default.

        Raises:
            TheoryError: It fails, or returns what is not finite.
        """
        try:
            values = session.values(person, self.vectors if vectors is None else vectors)
        except (TheoryShapeError, TheoryRaisedError) as error:
            kind = type(error)
            raise kind(
                f"{error} This was for {self._at(person, self.vectors[0])}. {self._options_in_words()}"
            ) from None
        bad = ~np.isfinite(values)
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            vector = self.vectors[row]
            trial = column + 1 if values.shape[1] > 1 else self._first_bad(session, person, vector)
            raise TheoryProbabilityError(
                f"{self.item.function} returned {values[row, column]:g} for {self._at(person, vector, trial)}. Look "
                "for a division by zero or the logarithm of zero; keep probabilities above zero, for example by 1e-12."
            )
        return values

    def _first_bad(self, session: LikelihoodSession, person: int, vector: Array) -> int | None:
        """The first trial, from 1, up to which the value is not finite; None where fewer trials cannot be given."""
        low, high = 0, len(next(iter(self.people[person].values())))
        while high - low > 1:
            middle = (low + high) // 2
            try:
                value = session.values(0, vector[None], self._first(person, middle))
            except TheoryError:
                return None
            low, high = (middle, high) if np.isfinite(value).all() else (low, middle)
        return high

    def _first(self, person: int, n_trials: int) -> dict[str, NDArray[Any]]:
        return {name: own[:n_trials] for name, own in self.people[person].items()}

    def _check_order(self, raw: Sequence[Array]) -> None:
        """Refuse a function whose values depend on calls before or on random numbers."""
        with self._opened() as session:
            session.seed = 1
            for person in reversed(range(len(self.people))):
                again = session.values(person, self.vectors[::-1].copy())[::-1]
                gap = np.abs(again - raw[person])
                if gap.max() > SAME * max(1.0, float(np.abs(raw[person]).max())):
                    row, column = map(int, np.argwhere(gap == gap.max())[0])
                    raise TheoryProbabilityError(
                        f"{self.item.function} returned {raw[person][row, column]:.10g}, and "
                        f"{again[row, column]:.10g} after other calls, for {self._at(person, self.vectors[row])}. It "
                        "must keep nothing between calls, so that participants may come in any order, and draw no "
                        "random numbers."
                    )

    def _forms(self, raw: Sequence[Array]) -> list[str]:
        """List what the values may be, by their signs."""
        values = np.concatenate([own.reshape(-1) for own in raw])
        lowest, highest = float(values.min()), float(values.max())
        if all(own.shape[1] == 1 for own in raw):
            if not self.is_discrete:
                raise TheorySourceError(
                    "responses are measured, so that a log likelihood may have either sign; say --returns "
                    f"{TOTAL} or --returns {TOTAL_NEGATIVE}."
                )
            if lowest < -SAME and highest > SAME:
                self._refuse_sign(raw)
            return [TOTAL] if highest <= SAME else [TOTAL_NEGATIVE]
        if not self.is_discrete:
            raise TheorySourceError(
                f"responses are measured, so that the form of the values is open; say --returns {LOGS}, "
                f"{LOGS_NEGATIVE} or {PROBABILITIES} (densities)."
            )
        if highest <= SAME:
            return [LOGS]
        if lowest < -SAME:
            self._refuse_sign(raw)
        return [PROBABILITIES, LOGS_NEGATIVE] if highest <= 1 + SAME else [LOGS_NEGATIVE]

    def _refuse_sign(self, raw: Sequence[Array]) -> None:
        """Refuse values of both signs, with one of each."""
        found = []
        for sign in (-1, 1):
            person = next(p for p, own in enumerate(raw) if (sign * own).max() > SAME)
            row, column = map(int, np.argwhere(sign * raw[person] > SAME)[0])
            trial = column + 1 if raw[person].shape[1] > 1 else None
            found.append(
                f"{raw[person][row, column]:.6g} for {self._at(person, self.vectors[row], trial)}"
            )
        raise TheoryProbabilityError(
            f"{self.item.function} returned {found[0]}, and {found[1]}. A log likelihood of choices is never positive, "
            "and a negative log likelihood never negative: look for a term that is no log probability of a response."
        )

    def _check_width(self, raw: Sequence[Array], forms: Sequence[str]) -> None:
        """Refuse one number where numbers of trials were said, and the reverse; and positive log likelihoods."""
        is_total = all(own.shape[1] == 1 for own in raw)
        for form in forms:
            if (form in (TOTAL, TOTAL_NEGATIVE)) != is_total and max(
                own.shape[1] for own in raw
            ) > 1:
                raise TheorySourceError(
                    f"the function returns numbers of trials, and not {form.replace('_', ' ')}."
                )
            if (
                form not in (TOTAL, TOTAL_NEGATIVE)
                and is_total
                and len(next(iter(self.people[0].values()))) > 1
            ):
                raise TheorySourceError(
                    f"the function returns one number, and not {form.replace('_', ' ')}."
                )
        if not self.is_discrete or len(forms) > 1:
            return
        for person, own in enumerate(raw):
            logs = _as_logs(own, forms[0])
            if not (logs <= SAME).all():
                row, column = map(int, np.argwhere(~(logs <= SAME))[0])
                trial = column + 1 if own.shape[1] > 1 else None
                raise TheoryProbabilityError(
                    f"{self.item.function} returned {own[row, column]:.6g} for "
                    f"{self._at(person, self.vectors[row], trial)}, which is no {forms[0].replace('_', ' ')} of "
                    "choices: it would be a probability above 1. --returns says what the value is."
                )

    def _with_form(
        self, session: LikelihoodSession, raw: Sequence[Array], forms: Sequence[str]
    ) -> tuple[Likelihood, list[str]]:
        """The function with the form in which its values sum to 1 over responses."""
        if not self.is_discrete:
            return self._of(forms[0]), [
                "responses are measured, so that its normalisation was not tried"
            ]
        tried: list[tuple[float, str, str]] = []
        for form in forms:
            try:
                gap, where = self._most_unnormalised(session, form, is_total=raw[0].shape[1] == 1)
            except (TheoryShapeError, TheoryRaisedError) as error:
                if len(forms) > 1:
                    raise TheorySourceError(
                        f"the values may be {' or '.join(forms)}, and cannot be tried on fewer trials ({error}); say "
                        "--returns."
                    ) from None
                return self._of(form), [
                    f"its normalisation was not tried, since it fails on fewer trials: {error}"
                ]
            tried.append((gap, form, where))
        gap, form, where = min(tried)
        if gap > NEARLY:
            raise TheoryProbabilityError(
                f"{self.item.function} is no likelihood as {form.replace('_', ' ')}: over all responses to a "
                f"trial its probabilities sum to {where}. They must sum to 1, or scores cannot be compared. Remove "
                "priors and penalties from the value, and count each response once; --returns and --response "
                f"say what the function means. {self._options_in_words()}"
            )
        notes = (
            [f"over all responses to a trial, probabilities sum to {where}"]
            if gap > NORMALISED
            else []
        )
        return self._of(form), notes

    def _options_in_words(self) -> str:
        """The different responses; a mark of missing ones among them is a frequent error."""
        words = [
            f"{self.item.columns[name]} holds {', '.join(map(str, own))}"
            for name, own in zip(self.item.responses, self.options, strict=True)
        ]
        times = [
            name
            for name in self.item.columns
            if name not in self.item.responses
            and re.search(r"\b(rt|time|latency)\b", _canonical(name))
        ]
        every = " ".join(f"--response {name}" for name in (*self.item.responses, *times))
        return (
            f"The responses: {'; '.join(words)}. If one marks a missing response, say --skip COLUMN=CELL."
            + (f" If {' and '.join(times)} is a response, too, say {every}." if times else "")
        )

    def _of(self, form: str) -> Likelihood:
        return Likelihood(**{**vars(self.item), "returns": form})

    def _most_unnormalised(
        self, session: LikelihoodSession, form: str, *, is_total: bool
    ) -> tuple[float, str]:
        """Find how far the sum over all responses to a trial is from 1 at most, and where, in words."""
        combined = list(product(*self._with_unseen(session, form, is_total=is_total)))
        worst, where = 0.0, "1"
        for person in range(min(3, len(self.people))):
            n_trials = len(next(iter(self.people[person].values())))
            for length in sorted({1, min(2, n_trials), (n_trials + 1) // 2, n_trials}):
                sums = self._sums(session, form, combined, person, length, is_total=is_total)
                gap = np.where(np.isfinite(sums), np.abs(sums - 1), np.inf)
                if gap.max() > worst:
                    row = int(gap.argmax())
                    worst = float(gap[row])
                    where = f"{sums[row]:.6g} at {self._at(person, self.vectors[row], length)}"
        return worst, where

    def _sums(
        self,
        session: LikelihoodSession,
        form: str,
        combined: Sequence[tuple[Any, ...]],
        person: int,
        length: int,
        *,
        is_total: bool,
    ) -> Array:
        """``(4,)`` sums of the likelihoods of these responses to the last of some trials, at four vectors."""
        values = []
        for responses in combined:
            columns = self._first(person, length)
            for name, value in zip(self.item.responses, responses, strict=True):
                columns[name] = columns[name].copy()
                columns[name][-1] = value
            values.append(_as_logs(session.values(0, self.vectors[:4], columns), form))
        logs = np.stack([own[:, -1] for own in values])
        if is_total and length > 1:
            before = session.values(0, self.vectors[:4], self._first(person, length - 1))
            logs = logs - _as_logs(before, form)[:, 0]
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(logs).sum(axis=0))

    def _with_unseen(
        self, session: LikelihoodSession, form: str, *, is_total: bool
    ) -> list[NDArray[Any]]:
        """The different responses, with numbered options that nobody chose if the likelihood needs them to sum to 1."""
        (first, *others) = self.options
        if others or first.dtype.kind != "i":
            return self.options
        n_trials = len(next(iter(self.people[0].values())))
        numbers: list[int] = []
        total = np.zeros(4)
        for number in range(int(first.min()), int(first.max()) + MOST_UNSEEN):
            numbers.append(number)
            try:
                total += self._sums(session, form, [(number,)], 0, n_trials, is_total=is_total)
            except (TheoryShapeError, TheoryRaisedError):
                break
            if number >= first.max() and (total >= 1 - NEARLY).all():
                return [np.array(numbers)] if (total <= 1 + NEARLY).all() else self.options
        return self.options

    def _takes_all(self, session: LikelihoodSession, raw: Sequence[Array]) -> bool:
        """Whether one call with arrays of parameters returns the same as calls one by one."""
        session.together = True
        try:
            for person, own in enumerate(raw):
                found = session.values(person, self.vectors)
                if found.shape != own.shape or not np.allclose(found, own, rtol=SAME, atol=SAME):
                    return False
        except TheoryError:
            return False
        return True

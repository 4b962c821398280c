"""A theory as a program in R, Stan or PyMC, from its formulas, with a check of itself on some responses."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from numpy.typing import NDArray

from lakatos.theories.findings.exchange.formula import (
    Formula,
    TheoryFormulas,
    UnwritableError,
    chosen_of,
    nodes,
)
from lakatos.theories.language.prior import Prior

Array = NDArray[Any]
LEAST_PROBABILITY: Final = 1e-12
"""Smallest probability of an option, in every likelihood."""
RESERVED: Final = frozenset(
    {
        "data",
        "real",
        "int",
        "vector",
        "matrix",
        "array",
        "lower",
        "upper",
        "offset",
        "multiplier",
        "target",
        "for",
    }
    | {
        "while",
        "if",
        "else",
        "return",
        "in",
        "T",
        "F",
        "TRUE",
        "FALSE",
        "NULL",
        "function",
        "next",
        "break",
        "repeat",
    }
    | {
        "parameters",
        "model",
        "functions",
        "generated",
        "quantities",
        "lambda",
        "is",
        "not",
        "and",
        "or",
        "c",
        "exp",
    }
    | {
        "log",
        "abs",
        "sqrt",
        "floor",
        "round",
        "sign",
        "sum",
        "pow",
        "normal",
        "void",
        "complex",
        "tuple",
        "profile",
    }
    | {
        "def",
        "class",
        "None",
        "True",
        "False",
        "import",
        "from",
        "with",
        "as",
        "global",
        "del",
        "try",
        "pass",
    }
)
"""Words with a meaning of their own in one of the languages."""
OWN: Final = frozenset(
    {
        "np",
        "pd",
        "pt",
        "pm",
        "az",
        "NAMES",
        "LOW",
        "HIGH",
        "START",
        "EXAMPLE",
        "values",
        "rows",
        "where",
        "probabilities",
    }
    | {
        "option_probabilities",
        "first_state",
        "next_state",
        "nearest",
        "log_likelihood",
        "log_lik",
        "options",
        "BOUNDS",
        "center",
        "spread",
        "raw",
    }
    | {
        "n_rows",
        "n_participants",
        "participant",
        "participant_id",
        "experiment",
        "trial",
        "response",
        "n",
        "p",
        "i",
    }
    | {
        "state",
        "found",
        "new",
        "one",
        "place",
        "people",
        "built",
        "nothing",
        "total",
        "parameters",
        "parameter",
    }
)
"""Names of the programs themselves."""
NUMBERED: Final = re.compile(r"(v|chosen_|state_).*\d+")
"""The programs' own numbered names."""


@dataclass(frozen=True)
class ExportedTheory:
    """Description of a theory in a program."""

    name: str
    claim: str
    formulas: TheoryFormulas
    priors: Mapping[str, Prior]
    start: tuple[float, ...]
    """Medians of the population."""
    rows: Mapping[str, Array]
    """Responses: ``participant``, ``trial`` (numbers the participant's rows from 1), ``response`` (place of the option
    from 1), ``n`` (how many equal ones), and each column."""
    n_checked: int
    """Rows of which the program itself checks the log likelihood."""
    log_likelihood: float
    """Log likelihood of these rows at ``start``, as the laboratory computes it."""
    pooled: bool = False
    """Whether rows are counts in which participants cannot be told apart."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that formulas read."""
        return (*self.formulas.columns, *self.formulas.feedback)

    @property
    def table(self) -> dict[str, Array]:
        """The responses, with the columns as programs call them."""
        return {
            own_name(name) if name in self.columns else name: column
            for name, column in self.rows.items()
        }


# --- expressions ------------------------------------------------------------------------------------------------------

Write = Mapping[str, Callable[..., str]]
"""Functions by which a language writes each operation."""


def _infix(sign: str) -> Callable[..., str]:
    return lambda one, other: f"({one} {sign} {other})"


def _call(name: str) -> Callable[..., str]:
    return lambda *args: f"{name}({', '.join(map(_bare, args))})"


SIGNS: Final[Write] = {
    **{name: _infix(sign) for name, sign in (("add", "+"), ("subtract", "-"), ("multiply", "*"), ("divide", "/"))},
    **{name: _infix(sign) for name, sign in (("less", "<"), ("less_equal", "<="), ("greater", ">"))},
    **{name: _infix(sign) for name, sign in (("greater_equal", ">="), ("equal", "=="), ("not_equal", "!="))},
    "negative": lambda item: f"(-{item})",
}  # fmt: skip
SHARED: Final[Write] = {
    name: _call(name)
    for name in ("exp", "log", "log1p", "expm1", "log10", "sqrt", "tanh", "sin", "cos", "floor")
}
R: Final[Write] = {
    **SIGNS, **SHARED,
    "power": _infix("^"), "absolute": _call("abs"), "sign": _call("sign"), "rint": _call("round"),
    "maximum": _call("pmax"), "minimum": _call("pmin"), "where": _call("where"), "ndtr": _call("pnorm"),
    "log_ndtr": lambda item: f"pnorm({item}, log.p = TRUE)",
    "logical_and": _infix("&"), "logical_or": _infix("|"), "logical_not": lambda item: f"(!{item})",
}  # fmt: skip
STAN: Final[Write] = {
    **SIGNS, **SHARED,
    "power": _call("pow"), "absolute": _call("abs"), "sign": lambda item: f"(1.0 * (({item} > 0) - ({item} < 0)))",
    "rint": _call("nearest"),
    "maximum": _call("fmax"), "minimum": _call("fmin"), "ndtr": _call("Phi"), "log_ndtr": _call("std_normal_lcdf"),
    "where": lambda test, one, other: f"({test} ? {one} : {other})",
    "logical_and": _infix("&&"), "logical_or": _infix("||"), "logical_not": lambda item: f"(!{item})",
}  # fmt: skip
PYMC: Final[Write] = {
    **SIGNS, **{name: _call(f"pt.{name}") for name in SHARED},
    **{name: _call(f"pt.{short}") for name, short in (("less", "lt"), ("less_equal", "le"), ("greater", "gt"))},
    **{name: _call(f"pt.{short}") for name, short in (("greater_equal", "ge"), ("equal", "eq"), ("not_equal", "neq"))},
    "power": _infix("**"), "absolute": _call("pt.abs"), "sign": _call("pt.sign"),
    "rint": lambda item: f"pt.round({item}, mode='half_to_even')",
    "maximum": _call("pt.maximum"), "minimum": _call("pt.minimum"), "where": _call("pt.switch"),
    "ndtr": lambda item: f"(0.5 * pt.erfc(-{item} / 2**0.5))",
    "log_ndtr": lambda item: f"pt.log(0.5 * pt.erfc(-{item} / 2**0.5))",
    "logical_and": _call("pt.and_"), "logical_or": _call("pt.or_"), "logical_not": _call("pt.invert"),
}  # fmt: skip


def statements(
    results: Sequence[Formula], write: Write, names: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Formulas as intermediate results, each with its name, and what the results are.

    What is used more than once has a name; everything else stands where it is used.

    Args:
        results: Formulas.
        write: Functions by which the language writes operations.
        names: Names of symbols, where they have another name in the program.
    """
    every = list(nodes(results))
    uses: dict[int, int] = {}
    for item in (*every, Formula("results", tuple(results))):
        for arg in item.args:
            if isinstance(arg, Formula):
                uses[id(arg)] = uses.get(id(arg), 0) + 1
    lines: list[tuple[str, str]] = []
    text: dict[int, str] = {}
    for item in every:
        if item.op == "symbol":
            text[id(item)] = names.get(item.args[0], item.args[0])
        elif item.op == "number":
            text[id(item)] = _number(item.args[0])
        else:
            written = write[item.op](*(text[id(arg)] for arg in item.args))
            if (uses[id(item)] > 1 or len(written) > 100) and not item.is_true_or_false:
                name = f"v{len(lines) + 1}"
                lines.append((name, _bare(written)))
                written = name
            text[id(item)] = written
    return lines, [_bare(text[id(item)]) for item in results]


def _bare(text: str) -> str:
    """An expression without the brackets around the whole of it."""
    depth = 0
    for place, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def _number(value: float | bool) -> str:
    """A real number that every language reads as one, with all its digits."""
    text = repr(float(value))
    return f"({text})" if value < 0 else text


def own_name(name: str) -> str:
    """A name that means nothing else in the languages."""
    return f"{name}_" if name in RESERVED | OWN or NUMBERED.fullmatch(name) else name


def _names(theory: ExportedTheory) -> dict[str, str]:
    """Return the names of symbols in a program."""
    form = theory.formulas
    own = (*form.state, *chosen_of(len(form.probabilities)))
    given = (*form.parameters, *theory.columns)
    return {name: own_name(name) for name in given} | {name: name[1:] for name in own}


# --- R ----------------------------------------------------------------------------------------------------------------


def to_r(theory: ExportedTheory, data: str) -> str:
    """A script of R with the likelihood of one participant's responses.

    Args:
        theory: What is written.
        data: Name of the file of responses that the script's example reads.
    """
    form, names = theory.formulas, _names(theory)
    head = [
        *(f"# {line}".rstrip() for line in _about(theory)),
        "#",
        "# Fit one participant:",
        f"#   rows <- read.csv({_quoted(data)})",
        "#   one <- rows[rows$participant == rows$participant[1], ]",
        "#   fit <- optim(START, function(values) -log_likelihood(values, one),",
        '#                method = "L-BFGS-B", lower = LOW, upper = HIGH)',
        "",
        f"NAMES <- c({', '.join(_quoted(name) for name in form.parameters)})",
        f"LOW <- {_vector(prior.low for prior in theory.priors.values())}",
        f"HIGH <- {_vector(prior.high for prior in theory.priors.values())}",
        f"START <- {_vector(theory.start)}  # medians of the population",
        "",
        "# One of two values, by a condition; all are repeated to the same length.",
        "where <- function(condition, yes, no) {",
        "  n <- max(length(condition), length(yes), length(no))",
        "  ifelse(rep_len(condition, n), rep_len(yes, n), rep_len(no, n))",
        "}",
        "",
    ]  # fmt: skip
    unpack = [
        f"  {names[name]} <- values[{place}]" for place, name in enumerate(form.parameters, start=1)
    ]
    columns = [f"  {names[name]} <- rows${names[name]}" for name in form.columns]
    if form.state:
        body = _learning_r(theory, names, unpack)
    else:
        lines, options = statements(form.probabilities, R, names)
        body = [
            "# Probability of each option in each row, for one participant's parameters.",
            "probabilities <- function(values, rows) {",
            *unpack,
            *columns,
            *(f"  {name} <- {text}" for name, text in lines),
            "  n <- nrow(rows)",
            f"  cbind({', '.join(f'rep_len({text}, n)' for text in options)})",
            "}",
        ]
    check = [
        "",
        "# Log likelihood of one participant's responses, in nats.",
        "log_likelihood <- function(values, rows) {",
        "  chosen <- probabilities(values, rows)[cbind(seq_len(nrow(rows)), rows$response)]",
        f"  sum(rows$n * log(pmax(chosen, {LEAST_PROBABILITY})))",
        "}",
        "",
        "# The first rows of the data and their log likelihood, as Lakatos computes it.",
        "EXAMPLE <- data.frame(",
        ",\n".join(
            f"  {names.get(name, name)} = {_vector(theory.rows[name][: theory.n_checked])}"
            for name in ("trial", "response", "n", *theory.columns)
        ),
        ")",
        f"stopifnot(abs(log_likelihood(START, EXAMPLE) - ({theory.log_likelihood!r})) < 1e-8)",
    ]
    return "\n".join([*head, *body, *check]) + "\n"


def _learning_r(theory: ExportedTheory, names: Mapping[str, str], unpack: list[str]) -> list[str]:
    form = theory.formulas
    first_lines, first = statements(form.first, R, names)
    lines, results = statements((*form.probabilities, *form.updated), R, names)
    n_options = len(form.probabilities)
    chosen = chosen_of(n_options)
    return [
        "# Probability of each option in each row, given all rows before; rows in the order of presentation.",
        "probabilities <- function(values, rows) {",
        "  stopifnot(!is.unsorted(rows$trial, strictly = TRUE))",
        *unpack,
        *(f"  {name} <- {text}" for name, text in first_lines),
        *(f"  {names[name]} <- {text}" for name, text in zip(form.state, first, strict=True)),
        f"  found <- matrix(0, nrow(rows), {n_options})",
        "  for (i in seq_len(nrow(rows))) {",
        *(f"    {names[name]} <- rows${names[name]}[i]" for name in theory.columns),
        *(
            f"    {names[name]} <- as.numeric(rows$response[i] == {place})"
            for place, name in enumerate(chosen, start=1)
        ),
        *(f"    {name} <- {text}" for name, text in lines),
        f"    found[i, ] <- c({', '.join(results[:n_options])})",
        f"    new <- c({', '.join(results[n_options:])})",
        *(f"    {names[name]} <- new[{place}]" for place, name in enumerate(form.state, start=1)),
        "  }",
        "  found",
        "}",
    ]


def _vector(values: Any) -> str:
    return f"c({', '.join(_digits(value) for value in values)})"


def _digits(value: Any) -> str:
    return (
        repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


NEAREST: Final = (
    "  real nearest(real x) {  // whole number, of two equally near ones the even one",
    "    real found = round(x);",
    "    if (abs(x - trunc(x)) == 0.5 && fmod(found, 2) != 0) found -= x > 0 ? 1 : -1;",
    "    return found;",
    "  }",
)
# --- Stan -------------------------------------------------------------------------------------------------------------


def to_stan(theory: ExportedTheory, data: str) -> str:
    """A hierarchical model of Stan.

    Args:
        theory: What is written.
        data: Name of the file of responses whose columns are the model's data.
    """
    _need_participants(theory)
    form, names = theory.formulas, _names(theory)
    n_parameters, n_options = len(form.parameters), len(form.probabilities)
    names |= {name: f"state[{place}]" for place, name in enumerate(form.state, start=1)}
    names |= {
        name: f"(chosen == {place})" for place, name in enumerate(chosen_of(n_options), start=1)
    }
    own = [names[name] for name in form.parameters]
    columns = [names[name] for name in theory.columns]
    reals = ", ".join(f"real {name}" for name in (*own, *columns))
    kept = ", vector state" if form.state else ""
    functions = _stan_function(f"option_probabilities({reals}{kept})", form.probabilities, names)
    if form.state:
        begin = ", ".join(f"real {name}" for name in own)
        functions += _stan_function(f"first_state({begin})", form.first, names)
        functions += _stan_function(
            f"next_state({reals}, vector state, int chosen)", form.updated, names
        )
    values = [f"{name}[participant[i]]" for name in own]
    given = ", ".join([*values, *(f"{name}[i]" for name in columns)])
    scaled = [
        _scaled(prior, f"center[{place}] + spread[{place}] * raw[, {place}]")
        for place, prior in enumerate(theory.priors.values(), start=1)
    ]
    declared = [
        f"  vector<lower={prior.low!r}, upper={prior.high!r}>[n_participants] {name} = {text};"
        for name, prior, text in zip(own, theory.priors.values(), scaled, strict=True)
    ]
    begins, goes_on = [], []
    if form.state:
        begins = [
            "      if (i == 1 || participant[i] != participant[i - 1])",
            f"        state = first_state({', '.join(values)});",
        ]
        goes_on = [f"      state = next_state({given}, state, response[i]);"]
    order = ", and rows stand in the order of presentation" if form.state else ""
    lines = [
        *(f"// {line}".rstrip() for line in _about(theory)),
        "//",
        f"// Data: the columns of {data}; participants are numbered from 1{order}.",
        f"// The log likelihood of its first {theory.n_checked} rows is {theory.log_likelihood!r} at",
        f"// {', '.join(f'{key} = {value!r}' for key, value in zip(own, theory.start, strict=True))}.",
        "",
        "functions {",
        *(NEAREST if any("nearest(" in line for line in functions) else ()),
        *functions,
        "}",
        "data {",
        "  int<lower=1> n_rows;",
        "  int<lower=1> n_participants;",
        "  array[n_rows] int<lower=1, upper=n_participants> participant;",
        f"  array[n_rows] int<lower=1, upper={n_options}> response;",
        "  array[n_rows] int<lower=1> n;  // equal responses that a row stands for",
        *(f"  array[n_rows] real {name};" for name in columns),
        "}",
        "parameters {",
        f"  vector[{n_parameters}] center;  // of the population: log odds within a parameter's range",
        f"  vector<lower=0>[{n_parameters}] spread;",
        f"  matrix[n_participants, {n_parameters}] raw;",
        "}",
        "transformed parameters {",
        *declared,
        "  vector[n_rows] log_lik;",
        "  {",
        *([f"    vector[{len(form.state)}] state;"] if form.state else []),
        "    for (i in 1:n_rows) {",
        *begins,
        f"      vector[{n_options}] p = option_probabilities({given}{', state' if form.state else ''});",
        f"      log_lik[i] = n[i] * log(fmax(p[response[i]], {LEAST_PROBABILITY}));",
        *goes_on,
        "    }",
        "  }",
        "}",
        "model {",
        f"  center ~ normal([{', '.join(f'{value:.6g}' for value in _centers(theory))}]', 1.5);",
        "  spread ~ normal(0, 1);",
        "  to_vector(raw) ~ std_normal();",
        "  target += sum(log_lik);",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _stan_function(head: str, results: Sequence[Formula], names: Mapping[str, str]) -> list[str]:
    lines, values = statements(results, STAN, names)
    return [
        f"  vector {head} {{",
        *(f"    real {name} = {text};" for name, text in lines),
        f"    return [{', '.join(values)}]';",
        "  }",
    ]


# --- PyMC -------------------------------------------------------------------------------------------------------------


def to_pymc(theory: ExportedTheory, data: str) -> str:
    """A hierarchical model of PyMC.

    Args:
        theory: What is written; it does not learn.
        data: Name of the file of responses.

    Raises:
        UnwritableError: The theory learns from trial to trial.
    """
    _need_participants(theory)
    form, names = theory.formulas, _names(theory)
    if form.state:
        raise UnwritableError(
            "the theory learns from trial to trial, which PyMC would walk through in single steps; export it for Stan "
            "or R instead."
        )
    lines, options = statements(form.probabilities, PYMC, names)
    own = [names[name] for name in form.parameters]
    columns = [names[name] for name in theory.columns]
    read = [f"rows[{name!r}].to_numpy(float)" for name in columns]
    bounds = {
        name: (prior.low, prior.high)
        for name, prior in zip(own, theory.priors.values(), strict=True)
    }
    centers = [float(f"{value:.6g}") for value in _centers(theory)]
    scaled = [
        _scaled(prior, f"center[{place}] + spread[{place}] * raw[:, {place}]", "pm.math.", "pt.")
        for place, prior in enumerate(theory.priors.values())
    ]
    text = [
        f'"""{_about(theory)[0]}',
        *_about(theory)[1:],
        "",
        f"    python {data.removesuffix('_data.csv')}.py      # samples the model and prints a summary",
        '"""',
        "",
        "import arviz as az",
        "import numpy as np",
        "import pandas as pd",
        "import pymc as pm",
        "import pytensor.tensor as pt",
        "",
        f"BOUNDS = {bounds!r}",
        f"START = {list(theory.start)!r}  # medians of the population",
        "",
        "",
        f"def option_probabilities({', '.join([*own, *columns])}):",
        '    """Probability of each option on the last axis; arguments are numbers, or one for each row."""',
        *(f"    {name} = {written}" for name, written in lines),
        f"    options = pt.broadcast_arrays({', '.join(options)})",
        f"    return pt.maximum(pt.stack(options, axis=-1), {LEAST_PROBABILITY})",
        "",
        "",
        "def model(rows):",
        '    """A hierarchical model of responses, one in each row: parameters for each participant."""',
        "    place, people = pd.factorize(rows['participant'])",
        "    with pm.Model(coords={'parameter': list(BOUNDS), 'person': people}) as built:",
        f"        center = pm.Normal('center', {centers}, 1.5, dims='parameter')",
        "        spread = pm.HalfNormal('spread', 1, dims='parameter')",
        "        raw = pm.Normal('raw', dims=('person', 'parameter'))",
        *(
            f"        {name} = pm.Deterministic({name!r}, {written}, dims='person')"
            for name, written in zip(own, scaled, strict=True)
        ),
        f"        found = option_probabilities({', '.join([*(f'{name}[place]' for name in own), *read])})",
        "        pm.Categorical('choice', p=found, observed=rows['response'].to_numpy() - 1)",
        "    return built",
        "",
        "",
        "def log_likelihood(parameters, rows):",
        '    """Nats of each row of responses."""',
        f"    found = option_probabilities({', '.join(['*parameters', *read])})",
        "    found = found + pt.zeros((len(rows), 1))",
        "    return pt.log(found[np.arange(len(rows)), rows['response'].to_numpy() - 1])",
        "",
        "",
        "if __name__ == '__main__':",
        f"    rows = pd.read_csv({data!r})",
        f"    first = rows.iloc[:{theory.n_checked}]",
        "    total = float((first['n'].to_numpy() * log_likelihood(START, first)).sum().eval())",
        f"    assert abs(total - ({theory.log_likelihood!r})) < 1e-8, 'not the log likelihood that Lakatos computes'",
        "    with model(rows.loc[rows.index.repeat(rows['n'])]):",
        "        found = pm.sample()",
        "    print(az.summary(found, var_names=['center', 'spread']))",
    ]
    return "\n".join(text) + "\n"


def _need_participants(theory: ExportedTheory) -> None:
    """Refuse a hierarchical model of counts, in which participants cannot be told apart."""
    if theory.pooled:
        raise UnwritableError(
            "the responses are counts in which participants cannot be told apart, so that there is no model of their "
            "differences; export the theory as r."
        )


# --- what they share --------------------------------------------------------------------------------------------------


def _about(theory: ExportedTheory) -> list[str]:
    """Describe the theory, in lines."""
    claim = textwrap.wrap(f"{theory.name}: {' '.join(theory.claim.split())}", 110)
    priors = [
        f"  {name}: {prior.low:g} to {prior.high:g}"
        f"{f' ({prior.unit})' if prior.unit else ''}{f', {prior.meaning}' if prior.meaning else ''}"
        for name, prior in theory.priors.items()
    ]
    same = [f"  {name} = {value:g}" for name, value in theory.formulas.constants.items()]
    if same:
        same = ["", "The same in all trials of the responses, and numbers in the formulas:", *same]
    return [*claim, "", "Parameters:", *priors, *same, "", "Written by Lakatos."]


def _scaled(prior: Prior, score: str, logit: str = "", log: str = "") -> str:
    """A parameter from a score whose inverse logit is its place in the range."""
    inverse = f"{logit}invlogit({score})" if logit else f"inv_logit({score})"
    if prior.is_log:
        low, high = math.log(prior.low), math.log(prior.high)
        return f"{log}exp({low!r} + {high - low!r} * {inverse})"
    return f"{prior.low!r} + {prior.high - prior.low!r} * {inverse}"


def _centers(theory: ExportedTheory) -> list[float]:
    """Scores of the medians; see `_scaled`."""
    found = []
    for prior, at in zip(theory.priors.values(), theory.start, strict=True):
        low, high, value = (
            map(math.log, (prior.low, prior.high, at))
            if prior.is_log
            else (prior.low, prior.high, at)
        )
        share = min(max((value - low) / (high - low), 0.01), 0.99)
        found.append(math.log(share / (1 - share)))
    return found


PROGRAMS: Final[Mapping[str, tuple[str, Callable[[ExportedTheory, str], str]]]] = {
    "r": (".R", to_r),
    "stan": (".stan", to_stan),
    "pymc": (".py", to_pymc),
}
"""Ending of the file, and what writes it."""

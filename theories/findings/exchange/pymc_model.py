"""Models of PyMC as likelihood functions of one participant's columns: the log density of the responses, in NumPy.

Data (``pm.Data``, columns of a table) become columns, random variables parameters between the ends of their priors, and
each variable with ``observed=`` a log density of its responses. Tensor functions become those of NumPy and SciPy, so
that no model is compiled and one call takes many vectors of parameters. Of a prior only the ends are kept: how a
parameter is distributed over participants is estimated. Of a hierarchical model, variables that are indexed by
participants are the parameters, and the population above them is left out.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from scipy import special, stats

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.findings.exchange.likelihood import (
    PEOPLE,
    Said,
    TranslatedModel,
    bounds_said,
)
from lakatos.theories.language.parsing import parse

TENSORS: Final = ("pytensor.tensor.", "aesara.tensor.", "theano.tensor.", "pymc.math.")
DATA: Final = ("pymc.Data", "pymc.MutableData", "pymc.ConstantData")
SAMPLING: Final = ("sample", "find_MAP", "fit", "model_to_graphviz", "compute_log", "set_data")
"""Beginnings of functions of PyMC that state nothing about the model."""
SEVERAL: Final = ("shape", "dims", "size")
"""Arguments that make a variable have several values."""
TAIL: Final = 0.001
"""Share of an unbounded prior beyond each end."""
FUNCTIONS: Final[Mapping[str, str]] = {
    "and_": "np.logical_and",
    "as_tensor": "np.asarray",
    "as_tensor_variable": "np.asarray",
    "cast": "np.asarray",
    "constant": "np.asarray",
    "eq": "np.equal",
    "ge": "np.greater_equal",
    "gt": "np.greater",
    "invlogit": "special.expit",
    "invprobit": "special.ndtr",
    "le": "np.less_equal",
    "log1pexp": "(lambda x: np.logaddexp(0.0, x))",
    "lt": "np.less",
    "neq": "np.not_equal",
    "or_": "np.logical_or",
    "pow": "np.power",
    "probit": "special.ndtri",
    "sigmoid": "special.expit",
    "softplus": "(lambda x: np.logaddexp(0.0, x))",
    "sqr": "np.square",
    "switch": "np.where",
}
"""Tensor functions that NumPy and SciPy call otherwise."""
PRIORS: Final[Mapping[str, tuple[dict[str, float | None], Callable[..., Any]]]] = {
    "Uniform": ({"lower": 0.0, "upper": 1.0}, lambda a, b: stats.uniform(a, b - a)),
    "Normal": ({"mu": 0.0, "sigma": 1.0}, stats.norm),
    "HalfNormal": ({"sigma": 1.0}, lambda s: stats.halfnorm(0, s)),
    "Beta": ({"alpha": None, "beta": None}, stats.beta),
    "Exponential": ({"lam": 1.0}, lambda rate: stats.expon(0, 1 / rate)),
    "Gamma": ({"alpha": None, "beta": None}, lambda a, b: stats.gamma(a, 0, 1 / b)),
    "LogNormal": ({"mu": 0.0, "sigma": 1.0}, lambda m, s: stats.lognorm(s, 0, np.exp(m))),
    "StudentT": ({"nu": None, "mu": 0.0, "sigma": 1.0}, stats.t),
    "TruncatedNormal": (
        {"mu": 0.0, "sigma": 1.0, "lower": -np.inf, "upper": np.inf},
        lambda m, s, a, b: stats.truncnorm((a - m) / s, (b - m) / s, m, s),
    ),
}
"""Arguments of distributions with their defaults in their order, and the same distribution of SciPy."""
DENSITIES: Final[Mapping[tuple[str, ...], str]] = {
    ("Bernoulli", "p"): "np.log(np.maximum(np.where(np.equal(y, 1), p, 1 - p), 1e-300))",
    ("Bernoulli", "logit_p"): "-np.logaddexp(0.0, np.where(np.equal(y, 1), -logit_p, logit_p))",
    ("Binomial", "n", "p"): (
        "special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)"
        " + special.xlogy(y, p) + special.xlog1py(n - y, -p)"
    ),
    ("Categorical", "p"): (
        "np.log(np.broadcast_to(p, np.broadcast_shapes(np.shape(p), (len(y), np.shape(p)[-1])))"
        "[..., np.arange(len(y)), y])"
    ),
    ("Categorical", "logit_p"): (
        "special.log_softmax(np.broadcast_to(logit_p, (len(y), np.shape(logit_p)[-1])), axis=-1)[np.arange(len(y)), y]"
    ),
    ("Normal", "mu", "sigma"): "-0.5 * ((y - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)",
    ("LogNormal", "mu", "sigma"): (
        "-0.5 * ((np.log(y) - mu) / sigma) ** 2 - np.log(sigma * y) - 0.5 * np.log(2 * np.pi)"
    ),
}  # fmt: skip
"""Log densities of responses y, by a distribution and the arguments that are given."""
SHARES: Final = '''
def _shares(*parts):
    """Shares that add up to 1: each part is a share of what is left."""
    rest, found = 1.0, []
    for part in parts:
        found.append(rest * part)
        rest = rest * (1 - part)
    return [*found, rest]
'''


def is_pymc(text: str) -> bool:
    """Whether a text of Python imports PyMC."""
    return re.search(r"^\s*(?:import|from)\s+pymc3?\b", text, re.MULTILINE) is not None


def read_pymc(text: str) -> TranslatedModel:
    """The log density of the responses of a PyMC model.

    Raises:
        TheorySourceError: There is no such model, or it uses what has no counterpart here; the message names the line.
    """
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TheorySourceError(f"the model is no Python: {error}.") from None
    names = imported_names(tree)
    before, body, given = _model_in(tree, names)
    before, body = _of_one_participant(before, body, names)
    model = _Model(names, given, _literals(tree))
    module: list[ast.stmt] = []
    inside: list[ast.stmt] = []
    for line in before:
        made = model.visit(line)
        if isinstance(line, ast.Import | ast.ImportFrom) or made is None or _binds(line, "BOUNDS"):
            continue
        (inside if model.read_data(made) else module).append(made)
    inside += [made for line in body if (made := model.visit(line)) is not None]
    if not model.densities:
        raise TheorySourceError(
            "the model observes no responses: give the variable of the responses `observed=`, as in "
            "`pm.Bernoulli('choice', p=p, observed=choice)`."
        )
    model.bounds |= bounds_said(text, "")
    arguments = [*model.columns, *model.parameters]
    title = (ast.get_docstring(tree) or "A PyMC model").partition("\n")[0].strip().rstrip(".")
    lines = [f'"""{title}."""', *map(ast.unparse, inside), f"return {' + '.join(model.densities)}"]
    helpers = [SHARES] if model.needs_shares else []
    parts = [
        "import numpy as np\nfrom scipy import special\n",
        f"BOUNDS = {model.bounds!r}\n",
        *helpers,
        *(f"{ast.unparse(line)}\n" for line in module),
        f"\ndef model({', '.join(arguments)}):",
        *("    " + part for line in lines for part in line.splitlines()),
    ]
    known = Said("model", columns=model.columns, responses=tuple(model.responses))
    return TranslatedModel("\n".join(parts) + "\n", known, tuple(model.notes))


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for, with its module."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole.replace("pymc3", "pymc")
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                module = node.module.replace("pymc3", "pymc")
                found[alias.asname or alias.name] = f"{module}.{alias.name}"
    return found


def _literals(tree: ast.Module) -> dict[str, Any]:
    """Numbers that the file gives names."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError):
                continue
    return found


def _model_in(
    tree: ast.Module, names: Mapping[str, str]
) -> tuple[list[ast.stmt], list[ast.stmt], list[str]]:
    """Statements before the model, its own, and the arguments of the function in which it stands, if any."""

    def opens(node: ast.With) -> bool:
        return any(
            isinstance(item.context_expr, ast.Call)
            and whole_name(item.context_expr.func, names) == "pymc.Model"
            for item in node.items
        )

    found: list[tuple[list[ast.stmt], ast.With, list[str]]] = []
    for place, node in enumerate(tree.body):
        if isinstance(node, ast.With) and opens(node):
            found.append((tree.body[:place], node, []))
        elif isinstance(node, ast.FunctionDef):
            for own, line in enumerate(node.body):
                if isinstance(line, ast.With) and opens(line):
                    given = [item.arg for item in node.args.args]
                    found.append(([*tree.body[:place], *node.body[:own]], line, given))
    if len(found) != 1:
        raise TheorySourceError(
            f"the file has {len(found) or 'no'} model{'s' * (len(found) > 1)} of PyMC (`with pm.Model() as model:` at "
            "the top of the file or of a function); leave one in it."
        )
    before, model, given = found[0]
    return before, model.body, given


def _binds(line: ast.stmt, name: str) -> bool:
    """Whether a statement assigns to a name."""
    return isinstance(line, ast.Assign) and any(
        isinstance(item, ast.Name) and item.id == name
        for target in line.targets
        for item in ast.walk(target)
    )


def _of_one_participant(
    before: list[ast.stmt], body: list[ast.stmt], names: Mapping[str, str]
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Statements of a hierarchical model for one participant; those of another model unchanged.

    A number of each row that is computed from the column of participants indexes their parameters. These lose the
    index and their prior, if the population decides it; what is then used nowhere is left out.
    """
    lines = [*before, *body]
    places = {
        item.id
        for line in lines
        if isinstance(line, ast.Assign) and _names_participants(line.value, names)
        for target in line.targets
        for item in ast.walk(target)
        if isinstance(item, ast.Name)
    }
    person = _OneParticipant(places)
    lines = [person.visit(line) for line in lines if not any(_binds(line, own) for own in places)]
    if not person.parameters:
        return before, body
    above = {
        item.id
        for line in body
        if isinstance(line, ast.Assign) and _of_pymc(line.value, names)
        for target in line.targets
        for item in ast.walk(target)
        if isinstance(item, ast.Name)
    }
    for line in lines:
        for name in person.parameters:
            if _binds(line, name) and isinstance(line, ast.Assign):
                line.value = _alone(line.value, names, above)
    while True:
        used = {
            item.id
            for line in lines
            for item in ast.walk(line)
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)
        }
        kept = [line for line in lines if not _is_unused(line, used, names)]
        if len(kept) == len(lines):
            break
        lines = kept
    inside = {*map(id, body)}
    return [line for line in lines if id(line) not in inside], [
        line for line in lines if id(line) in inside
    ]


def _names_participants(node: ast.expr, names: Mapping[str, str]) -> bool:
    """Whether an expression reads the column of participants."""
    for item in ast.walk(node):
        key: ast.AST | None = None
        if isinstance(item, ast.Subscript):
            key = item.slice
        elif isinstance(item, ast.Call) and whole_name(item.func, names) in DATA:
            key = next(iter(item.args), None)
        elif isinstance(item, ast.Attribute):
            key = ast.Constant(item.attr)
        if isinstance(key, ast.Constant) and str(key.value).lower() in PEOPLE:
            return True
    return False


def _of_pymc(node: ast.expr, names: Mapping[str, str]) -> bool:
    """Whether an expression is a call of PyMC."""
    return isinstance(node, ast.Call) and whole_name(node.func, names).startswith("pymc.")


def _alone(node: ast.expr, names: Mapping[str, str], above: set[str]) -> ast.expr:
    """The variable of one participant; without a prior where other variables decide it."""
    if not isinstance(node, ast.Call) or not _of_pymc(node, names):
        return node
    if any(isinstance(item, ast.Name) and item.id in above for item in ast.walk(node)):
        free = ast.Attribute(ast.Name(_called(names), ast.Load()), "Flat", ast.Load())
        return ast.copy_location(ast.Call(free, node.args[:1], []), node)
    node.keywords = [item for item in node.keywords if item.arg not in SEVERAL]
    return node


def _called(names: Mapping[str, str]) -> str:
    """Return the name by which a file calls PyMC."""
    return next(own for own, whole in names.items() if whole == "pymc")


def _is_unused(line: ast.stmt, used: set[str], names: Mapping[str, str]) -> bool:
    """Whether a statement makes a variable of PyMC that no other one reads and that observes nothing."""
    if not isinstance(line, ast.Assign | ast.Expr) or not _of_pymc(line.value, names):
        return False
    observes = any(
        isinstance(item, ast.keyword) and item.arg == "observed" for item in ast.walk(line)
    )
    return not observes and not any(_binds(line, name) for name in used)


class _OneParticipant(ast.NodeTransformer):
    """Takes the index of participants from variables, and notes which had one."""

    def __init__(self, places: set[str]) -> None:
        self.places = places
        self.parameters: set[str] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        is_index = isinstance(node.slice, ast.Name) and node.slice.id in self.places
        if is_index and isinstance(node.value, ast.Name):
            self.parameters.add(node.value.id)
            return node.value
        return node


def whole_name(node: ast.expr, names: Mapping[str, str]) -> str:
    """A dotted name with its module; empty for what is none."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])


def ends_of_prior(name: str, given: Mapping[str, Any]) -> tuple[tuple[float, float], bool] | None:
    """The ends of a prior, and whether one of them cuts a tail; None for a prior that is not known or written out."""
    defaults, made = PRIORS.get(name, ({"": None}, None))
    values = defaults | {key: value for key, value in given.items() if key in defaults}
    if made is None or not all(isinstance(value, int | float) for value in values.values()):
        return None
    prior = made(*values.values())
    ends = [float(end) for end in prior.support()]
    low, high = (
        end if np.isfinite(end) else float(f"{prior.ppf(tail):.3g}")
        for end, tail in zip(ends, (TAIL, 1 - TAIL), strict=True)
    )
    return (low, high), not bool(np.isfinite(ends).all())


def as_name(text: str) -> str:
    """A text as the name of an argument."""
    name = re.sub(r"\W", "_", text)
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name


class _Model(ast.NodeTransformer):
    """Rewrites a model's statements; collects columns, parameters and densities of responses."""

    def __init__(
        self, names: Mapping[str, str], given: list[str], literals: Mapping[str, Any]
    ) -> None:
        self.names, self.given, self.literals = names, given, literals
        self.columns: dict[str, str] = {}
        self.parameters: list[str] = []
        self.bounds: dict[str, tuple[float, float]] = {}
        self.responses: list[str] = []
        self.densities: list[str] = []
        self.notes: list[str] = []
        self.needs_shares = False
        self.tables: set[str] = set()
        self.meant: dict[str, str] = {}
        self.log_odds: dict[str, str] = {}
        """Names of log odds, by the name of the probabilities that are computed from them."""

    def read_data(self, node: ast.AST) -> bool:
        """Whether a statement reads columns, so that it belongs into the function."""
        inside = {*self.columns, *self.parameters, *self.meant}
        return not isinstance(node, ast.FunctionDef) and any(
            isinstance(item, ast.Name) and item.id in inside for item in ast.walk(node)
        )

    def refuse(self, node: ast.AST, reason: str) -> TheorySourceError:
        return TheorySourceError(f"line {getattr(node, 'lineno', 0)}: {reason}")

    def column(self, name: str) -> ast.Name:
        self.columns.setdefault(as_name(name), name)
        return ast.Name(as_name(name), ast.Load())

    # Statements

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        target, value = node.targets[0], node.value
        if isinstance(value, ast.Call) and isinstance(target, ast.Name):
            whole = whole_name(value.func, self.names)
            if whole.startswith("pandas.read_"):
                self.tables.add(target.id)
                return None
            if self.says_nothing(whole):
                return None
        node.value = self.visit(value)
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Name):
            self.meant[target.id] = self.meant.get(node.value.id, node.value.id)
            return None if target.id == node.value.id else node
        if isinstance(target, ast.Name):
            self.log_odds.pop(target.id, None)
            if (odds := _log_odds_in(node.value)) is not None:
                own = self.log_odds[target.id] = f"{target.id}_log_odds"
                node.value.args[0] = ast.NamedExpr(ast.Name(own, ast.Store()), odds)  # type: ignore[attr-defined]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        if isinstance(node.value, ast.Call) and self.says_nothing(
            whole_name(node.value.func, self.names)
        ):
            return None
        made = self.visit(node.value)
        return ast.Expr(made) if isinstance(made, ast.Call) else None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.returns, node.decorator_list = None, []
        for item in node.args.args:
            item.annotation = None
        self.generic_visit(node)
        return node

    def says_nothing(self, whole: str) -> bool:
        return whole.startswith("arviz.") or (
            whole.startswith("pymc.") and whole.split(".")[1].startswith(SAMPLING)
        )

    # Expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.given and node.id not in self.tables and isinstance(node.ctx, ast.Load):
            return self.column(node.id)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value, key = node.value, node.slice
        if isinstance(value, ast.Name) and isinstance(key, ast.Constant):
            is_table = value.id in self.tables or value.id in self.given
            if is_table and isinstance(key.value, str):
                self.tables.add(value.id)
                return self.column(key.value)
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        whole = whole_name(node, self.names)
        for module in TENSORS:
            if whole.startswith(module):
                return self.function(node, whole.removeprefix(module))
        if isinstance(node.value, ast.Name) and node.value.id in self.tables:
            return self.column(node.attr)
        made = self.visit(node.value)
        if node.attr == "values" and isinstance(made, ast.Name):
            return made
        node.value = made
        return node

    def function(self, node: ast.AST, name: str) -> ast.expr:
        """The counterpart of a tensor function."""
        if name in FUNCTIONS:
            text = FUNCTIONS[name]
        elif hasattr(np, name):
            text = f"np.{name}"
        elif hasattr(special, name):
            text = f"special.{name}"
        else:
            raise self.refuse(
                node,
                f"the tensor function {name} has no counterpart in NumPy. Write the model as a function of NumPy "
                "arrays that returns the log probability of each response, and import that with --likelihood.",
            )
        return ast.parse(text, mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.expr:
        whole = whole_name(node.func, self.names)
        if not whole.startswith("pymc.") or whole.startswith("pymc.math."):
            made = self.generic_visit(node)
            assert isinstance(made, ast.Call)
            is_array = isinstance(made.func, ast.Attribute) and made.func.attr == "to_numpy"
            return made.func.value if is_array else made  # type: ignore[attr-defined]
        name = whole.removeprefix("pymc.")
        if whole in DATA:
            return self.column(self.label(node))
        if name == "Deterministic":
            made = self.visit(node.args[1])
            assert isinstance(made, ast.expr)
            return made
        if name == "logp" and isinstance(node.args[0], ast.Call):
            own = (
                whole_name(node.args[0].func, self.names)
                .removeprefix("pymc.")
                .removesuffix(".dist")
            )
            return self.density(node.args[0], own, self.visit(node.args[1]), 0)
        if not name[0].isupper() or name == "Potential":
            raise self.refuse(
                node,
                f"pm.{name} is not read here. State the responses by a distribution with observed=, or write the model "
                "as a function that returns the log probability of each response and import it with --likelihood.",
            )
        observed = next((item.value for item in node.keywords if item.arg == "observed"), None)
        if observed is None:
            return self.parameter(node, name)
        response = self.visit(observed)
        called = {
            self.meant.get(item.id, item.id)
            for item in ast.walk(response)
            if isinstance(item, ast.Name)
        } & set(self.columns)
        if len(called) != 1:
            raise self.refuse(
                node,
                f"observed= of {self.label(node)!r} is no column: give the responses as pm.Data, as a column of a "
                "table (`responses['choice']`), or as an argument of the function that builds the model.",
            )
        self.responses += [item for item in called if item not in self.responses]
        self.densities.append(f"({ast.unparse(self.density(node, name, response, 1))})")
        return ast.Constant(None)

    def label(self, node: ast.Call) -> str:
        if node.args and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value)
        raise self.refuse(node, "the first argument must be the variable's name, written out.")

    def density(self, node: ast.Call, name: str, response: ast.expr, first: int) -> ast.expr:
        """The log density of responses."""
        forms = {own[1:]: text for own, text in DENSITIES.items() if own[0] == name}
        given = {
            str(item.arg): item.value
            for item in node.keywords
            if item.arg not in ("observed", "dims")
        }
        places = max(forms, key=len, default=())
        given |= dict(zip(places, node.args[first:], strict=False))
        if tuple(given) not in forms and tuple(sorted(given)) not in forms:
            known = ", ".join(sorted({own[0] for own in DENSITIES}))
            raise self.refuse(
                node,
                f"responses distributed as pm.{name}({', '.join(given)}) are not read; there are {known}. Write the "
                "model as a function that returns the log density of each response, and import it with --likelihood.",
            )
        order = tuple(given) if tuple(given) in forms else tuple(sorted(given))
        values = {key: self.visit(given[key]) for key in order} | {"y": response}
        if (name, *order) == (
            "Bernoulli",
            "p",
        ):  # as PyMC does, since 1 - p is 0 where log odds are large
            odds = _log_odds_in(values["p"])
            if isinstance(values["p"], ast.Name) and values["p"].id in self.log_odds:
                odds = ast.Name(self.log_odds[values["p"].id], ast.Load())
            if odds is not None:
                order, values = ("logit_p",), {"logit_p": odds, "y": response}
        return _Filled(values).visit(ast.parse(forms[order], mode="eval").body)  # type: ignore[no-any-return]

    def parameter(self, node: ast.Call, name: str) -> ast.expr:
        """A random variable as a parameter within the ends of its prior."""
        label = self.label(node)
        given = {str(item.arg): item.value for item in node.keywords if item.arg != "initval"}
        if set(SEVERAL) & set(given):
            raise self.refuse(
                node,
                f"{label!r} has several values (shape, dims). A likelihood function has the parameters of one "
                "participant: write them as single variables, without the population, which is estimated.",
            )
        if name == "Dirichlet":
            return self.shares(node, label)
        own = as_name(label)
        self.parameters += [own] * (own not in self.parameters)
        if name in PRIORS:
            defaults, _ = PRIORS[name]
            values = {key: self.number(value) for key, value in given.items()}
            values |= {
                key: self.number(value) for key, value in zip(defaults, node.args[1:], strict=False)
            }
            if found := ends_of_prior(name, values):
                (low, high), is_cut = found
                self.bounds[own] = (low, high)
                if is_cut:
                    self.notes.append(
                        f"{own} lies between {low:g} and {high:g}, which hold all but {TAIL:.1%} of its {name} prior "
                        f"at an end; --bound {own}=LOW,HIGH for others"
                    )
        return ast.Name(own, ast.Load())

    def shares(self, node: ast.Call, label: str) -> ast.expr:
        """Shares that add up to 1, by one parameter less."""
        wanted = [*node.args[1:], *(item.value for item in node.keywords if item.arg == "a")]
        text = ast.unparse(wanted[0]) if wanted else ""
        ones = re.fullmatch(r"np\.ones\((\d+)\)", text)
        n_shares = int(ones[1]) if ones else text.count(",") + 1 if text.startswith("[") else 0
        if not 2 <= n_shares <= 20:
            raise self.refuse(
                node, f"how many shares {label!r} has must be written out, as [1, 1]."
            )
        names = [f"{as_name(label)}_{place}" for place in range(1, n_shares)]
        self.parameters += names
        self.bounds |= dict.fromkeys(names, (0.0, 1.0))
        self.needs_shares = True
        self.notes.append(
            f"{label} has {n_shares} shares, each a part of what is left by those before"
        )
        return ast.parse(f"_shares({', '.join(names)})", mode="eval").body

    def number(self, node: ast.expr) -> float | None:
        """A number that is written out; None for anything else."""
        try:
            value = self.literals[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)
            return float(value)
        except (KeyError, ValueError, TypeError):
            return None


def _log_odds_in(node: ast.AST) -> ast.expr | None:
    """The log odds of which an expression is the probability; None for another expression."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "special.expit":
        return node.args[0]
    return None


class _Filled(ast.NodeTransformer):
    """Puts expressions in place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)

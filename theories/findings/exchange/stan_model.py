"""Stan programs as likelihood functions: models of hBayesDM, and programs with a ``log_lik`` for each row of a table.

The description states columns, parameters and their bounds. The program's generated quantities add up ``log_lik`` over
the trials of each participant; this part, with the functions and the transformed data that it uses, is rewritten
statement by statement for one participant in NumPy. Priors, posterior predictions and group means are left out.

A program without a description, such as one that `theory export` writes, is read for one participant as well. Its data
hold the columns of a table with one that names participants; its parameters are vectors over participants with both
ends declared; and ``log_lik`` has a number for each row.

Reference:
    Ahn, Haines & Zhang (2017), Revealing neurocomputational mechanisms of reinforcement learning and decision-making
    with the hBayesDM package, Computational Psychiatry 1, 24-57.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import yaml

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.findings.exchange.likelihood import (
    LOGS,
    PEOPLE,
    TOTAL,
    Said,
    TranslatedModel,
)
from lakatos.theories.findings.exchange.pymc_model import as_name

TOKEN: Final = re.compile(
    r"\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|\.?[*/]=|[-+]=|<=|>=|==|!=|&&|\|\||\.\*|\./"
    r"|\"[^\"]*\"|\S)"
)
COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
TYPES: Final = ("int", "real", "vector", "row_vector", "matrix", "simplex")
KEPT_NAMES: Final = ("np", "special")
FUNCTIONS: Final[Mapping[str, str]] = {
    "abs": "np.abs({})",
    "dot_product": "np.dot({}, {})",
    "exp": "np.exp({})",
    "fabs": "np.abs({})",
    "expm1": "np.expm1({})",
    "floor": "np.floor({})",
    "fmod": "np.fmod({}, {})",
    "fmax": "np.fmax({}, {})",
    "fmin": "np.fmin({}, {})",
    "inv_logit": "special.expit({})",
    "log": "np.log({})",
    "log1m": "np.log1p(-{})",
    "log1p": "np.log1p({})",
    "log_softmax": "special.log_softmax({})",
    "log_sum_exp": "special.logsumexp({})",
    "logit": "special.logit({})",
    "max": "np.max({})",
    "mean": "np.mean({})",
    "min": "np.min({})",
    "modulus": "({} % {})",
    "num_elements": "np.size({})",
    "Phi": "special.ndtr({})",
    "Phi_approx": "_phi_approx({})",
    "pow": "np.float_power({}, {})",
    "rep_array": "np.full({1}, {0})",
    "rep_matrix": "np.full(({1}, {2}), float({0}))",
    "rep_vector": "np.full({1}, float({0}))",
    "size": "len({})",
    "softmax": "special.softmax({})",
    "round": "np.trunc({0} + np.copysign(0.5, {0}))",
    "sqrt": "np.sqrt({})",
    "std_normal_lcdf": "special.log_ndtr({})",
    "square": "np.square({})",
    "sum": "np.sum({})",
    "tanh": "np.tanh({})",
    "trunc": "np.trunc({})",
    "bernoulli_lpmf": "np.log(np.maximum(np.where({0} == 1, {1}, 1 - {1}), 1e-300))",
    "bernoulli_logit_lpmf": "-np.logaddexp(0.0, np.where({0} == 1, -1.0, 1.0) * ({1}))",
    "categorical_lpmf": "np.log(np.maximum(({1})[{0} - 1], 1e-300))",
    "categorical_logit_lpmf": "special.log_softmax({1})[{0} - 1]",
    "normal_lpdf": "(-0.5 * (({0} - ({1})) / ({2})) ** 2 - np.log({2}) - 0.5 * np.log(2 * np.pi))",
    "wiener_lpdf": "_wiener({}, {}, {}, {}, {})",
}
"""Functions of Stan in NumPy, by the places of their arguments."""
HELPERS: Final[Mapping[str, str]] = {
    "_phi_approx": '''
def _phi_approx(x):
    """Stan's approximation to the normal distribution function."""
    return special.expit(0.07056 * x**3 + 1.5976 * x)
''',
    "_wiener": '''
def _wiener(times, a, tau, beta, delta):
    """Log density of first passages at the upper bound, from both series of Navarro & Fuss (2009)."""
    t, w = (np.atleast_1d(times) - tau) / a**2, 1 - beta
    k, place = np.arange(1, 31)[:, None], w + 2 * np.arange(-10, 11)[:, None]
    large = (k * np.exp(-0.5 * np.pi**2 * (k**2 - 1) * t) * np.sin(k * np.pi * w)).sum(axis=0)
    small = (place * np.exp(-(place**2 - w**2) / (2 * t))).sum(axis=0)
    slow = np.log(np.pi * np.maximum(large, 1e-300)) - 0.5 * np.pi**2 * t
    fast = np.log(np.maximum(small, 1e-300)) - w**2 / (2 * t) - 0.5 * np.log(2 * np.pi * t**3)
    return np.sum(np.where(t > 0.25, slow, fast) + delta * a * w - 0.5 * delta**2 * t * a**2 - 2 * np.log(a))
''',
    "_by_block": '''
def _by_block(column, block):
    """``(1, n_blocks, n_trials)`` a column by the order in which blocks begin."""
    names = list(dict.fromkeys(block.tolist()))
    rows = np.zeros((1, len(names), len(column)), column.dtype)
    for place, name in enumerate(names):
        own = column[block == name]
        rows[0, place, : len(own)] = own
    return rows
''',
    "_quotient": '''
def _quotient(a, b):
    """Stan divides whole numbers without a rest."""
    return int(a / b)
''',
}
DERIVED: Final[Mapping[tuple[str, str], str]] = {
    ("", "fd"): "feedback",
    ("", "Isubj"): "iter",
    ("", "los"): "-np.abs(loss)",
    ("", "loss"): "np.abs(loss)",
    ("", "minRT"): "np.array([RT.min()])",
    ("", "option1"): "type // 10",
    ("", "option2"): "type % 10",
    ("", "pressed"): "keyPressed",
    ("", "rew"): "gain",
    ("igt", "outcome"): "(gain - np.abs(loss)) / {payscale}",
    ("igt", "sign_out"): "np.sign(gain - np.abs(loss))",
    ("prl", "outcome"): "np.sign(outcome)",
    ("choiceRT", "Nl"): "np.array([(choice == 1).sum()])",
    ("choiceRT", "Nu"): "np.array([(choice == 2).sum()])",
    ("choiceRT", "RTl"): "RT[choice == 1]",
    ("choiceRT", "RTu"): "RT[choice == 2]",
}
"""Data of a Stan program that hBayesDM computes from columns, by task and name; without a task in any."""
SIZES: Final = ("N", "B", "T", "Tsubj", "Bsubj", "P", "Narm", "Nu_max", "Nl_max", "n_cond")
"""Numbers of participants, blocks, trials and options, which are counted."""
SHOWN: Final[Mapping[str, tuple[str, str, str]]] = {
    "ts": ("level2_choice", "level2_shown", "((level2_choice > 2) != (level2_shown > 2)).any()"),
}
"""Column of a task that holds the response, the name under which it also stands for what was shown, and where both
differ."""
ARITHMETIC: Final = 4
"""Level of binding from which signs are arithmetic; lower ones compare."""
FAR: Final = 10.0
"""Place where a parameter without an end is cut, in units of its plausible value, or of 1."""


def is_stan(file: Path, text: str) -> bool:
    """Whether a file describes a model of hBayesDM, or is a program of Stan."""
    return file.suffix == ".stan" or (
        file.suffix in (".yml", ".yaml") and re.search(r"^data_columns:", text, re.MULTILINE) is not None
    )  # fmt: skip


def read_hbayesdm(file: Path, read: Callable[[Path], str], table: pd.DataFrame) -> TranslatedModel:
    """A model of hBayesDM: its description, or its program, and the other of the two beside it or in its folder.

    Args:
        file: The description or the program.
        read: Reads a file.
        table: Responses, in which options are counted.

    Raises:
        TheorySourceError: A part is missing, or states what is not read here.
    """
    stem = file.stem
    places = {
        ".yml": (file.with_suffix(".yml"), file.parent.parent / "models" / f"{stem}.yml"),
        ".stan": (file.with_suffix(".stan"), file.parent.parent / "stan_files" / f"{stem}.stan"),
    }
    texts = {}
    for ending, own in places.items():
        found = next((item for item in own if item.is_file()), None)
        if found is None and file.suffix == ".stan":
            program = StanProgram(read(file))
            if program.participant:
                return _by_rows(program, stem)
        if found is None:
            what = "columns and bounds" if ending == ".yml" else "the formula"
            raise TheorySourceError(
                f"{what} of {stem} are in hBayesDM's {' or '.join(map(str, own))}, and there is no such file: keep "
                "hBayesDM's folders `models` and `stan_files` beside each other, or both files in one folder."
            )
        texts[ending] = read(found)
    try:
        described = yaml.safe_load(texts[".yml"])
        columns, parameters = described["data_columns"], described["parameters"]
        task = str(described["task_name"]["code"])
        bounds, notes = _bounds({str(name): item["info"] for name, item in parameters.items()})
    except (
        yaml.YAMLError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as error:
        raise TheorySourceError(
            f"the description of {stem} cannot be read ({error}); hBayesDM's have task_name, data_columns, and "
            "parameters with info of three numbers."
        ) from None
    given = {
        str(item["code"]): item.get("default") for item in described.get("additional_args") or []
    }
    meant = _columns_for([str(name) for name in columns], [str(name) for name in table.columns])
    program = StanProgram(texts[".stan"])
    if not any("log_lik" in line for line in program.log_likelihood):
        raise TheorySourceError(
            "the Stan program adds up no log_lik in its generated quantities, where hBayesDM's models have it."
        )
    return _translated(program, described, task, meant, bounds, given, table, notes)


def _by_rows(program: StanProgram, title: str) -> TranslatedModel:
    """The function of one participant's rows and parameters of a program whose data are columns of a table."""
    (n_rows,) = program.data[program.participant]
    columns = [
        name
        for name, sizes in program.data.items()
        if sizes == [n_rows] and name != program.participant
    ]
    bounds = {
        as_name(name): ends for name, ends in program.ends.items() if name not in program.data
    }
    numbers = [
        f"{as_name(name)} = np.asarray({as_name(name)}, {'int' if name in program.whole else 'float'})"
        for name in columns
    ]
    lines = [
        f"{n_rows} = len({as_name(columns[0])})",
        f"{as_name(program.participant)} = np.ones({n_rows}, int)",
        *numbers,
        *(f"{name} = np.array([{name}])" for name in bounds),
        *program.transformed_data,
        *program.log_likelihood,
        "return log_lik",
    ]
    source = [
        "import numpy as np\nfrom scipy import special\n",
        f"BOUNDS = {bounds!r}",
        *(text for name, text in HELPERS.items() if f"{name}(" in "\n".join([*lines, *program.functions])),
        *program.functions,
        "",
        f"def model({', '.join([*map(as_name, columns), *bounds])}):",
        f'    """{title}."""',
        *(f"    {line}" for line in lines),
    ]  # fmt: skip
    meant = {as_name(name): name for name in columns}
    known = Said("model", program.participant, meant, responses=(), returns=LOGS)
    return TranslatedModel("\n".join(source) + "\n", known)


def _columns_for(wanted: list[str], there: list[str]) -> dict[str, str]:
    """Columns of a table by the description's names, whatever their case and underscores."""
    plain = {re.sub(r"_", "", name).lower(): name for name in reversed(there)}
    return {name: plain.get(re.sub(r"_", "", name).lower(), name) for name in wanted}


def _bounds(info: Mapping[str, Any]) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Bounds of parameters; infinite ones are cut, which is noted."""
    bounds, notes = {}, []
    for name, (low, plausible, high) in info.items():
        ends = [float(str(end)) for end in (low, high)]
        matched = re.fullmatch(r"exp\((.*)\)", str(plausible))
        far = FAR * max(1.0, abs(float(np.exp(float(matched[1])) if matched else plausible)))
        cut = (max(ends[0], -far), min(ends[1], far))
        bounds[as_name(name)] = cut
        if cut != tuple(ends):
            notes.append(
                f"{as_name(name)} has no end in hBayesDM, and is fitted between {cut[0]:g} and {cut[1]:g}; "
                f"--bound {as_name(name)}=LOW,HIGH for others"
            )
    return bounds, notes


def _translated(
    program: StanProgram,
    described: Mapping[str, Any],
    task: str,
    meant: Mapping[str, str],
    bounds: dict[str, tuple[float, float]],
    given: Mapping[str, Any],
    table: pd.DataFrame,
    notes: list[str],
) -> TranslatedModel:
    """The function of one participant's columns and parameters."""
    people = next((name for name in meant if name.lower() == "subjid"), "")
    columns = {as_name(name): column for name, column in meant.items() if name != people}
    known = set(described["parameters"])
    unknown = program.raw - known
    computed = [
        line
        for words, statement in program.transformed
        if not words & (unknown | (known - program.raw))
        for line in statement
    ]
    body = [*program.transformed_data, *computed, *program.log_likelihood]
    data, sources = _data_lines(program, task, columns, given, "\n".join(body))
    lines = [f"T = len({next(iter(columns))})", *_sizes(program, columns, table, notes), *data]
    if "N" in program.data:
        lines += [f"{name} = np.array([{name}])" for name in bounds]
    lines += body
    if task in SHOWN:
        column, name, disagree = SHOWN[task]
        columns[name] = columns[column]
        lines = [f"if {disagree}:", "    return -np.inf", *lines]
    if "minRT" in program.data and "tau" in bounds:
        least = float(pd.to_numeric(table[columns["RT"]], errors="coerce").min())
        bounds["tau"] = (float(given.get("RTbound") or 0.0), least)
        notes.append(f"tau lies below the shortest response time, {least:g}")
    inside = [f"    {line}" for line in lines]
    where = "\n".join([*inside, *program.functions])
    titles = [described[part].get("desc") for part in ("model_name", "task_name")]
    title = " ".join(str(own).replace('"', "") for own in titles if own)
    reach = [name for name in columns if re.search(rf"\b{name}\b", where)]
    behind = [column for name in program.responses for column in sources.get(as_name(name), ())]
    source = [
        "import numpy as np\nfrom scipy import special\n",
        f"BOUNDS = {bounds!r}",
        *(text for name, text in HELPERS.items() if f"{name}(" in where),
        *program.functions,
        "",
        f"def model({', '.join([*reach, *bounds])}):",
        f'    """{title}."""',
        *inside,
        f"    return float(log_lik{'[0]' if 'N' in program.data else ''})",
    ]
    stated = Said(
        "model",
        meant.get(people, ""),
        {name: columns[name] for name in reach},
        responses=tuple(dict.fromkeys(behind)),
        returns=TOTAL,
    )
    return TranslatedModel("\n".join(source) + "\n", stated, tuple(notes))


def _sizes(
    program: StanProgram, columns: Mapping[str, str], table: pd.DataFrame, notes: list[str]
) -> list[str]:
    """Lines that count participants, blocks, trials and options."""
    lines = []
    if "B" in program.data:
        lines = [
            "Tsubj = np.array([[(block == own).sum() for own in dict.fromkeys(block.tolist())]])",
            "B = Tsubj.shape[1]",
            "Bsubj = np.array([B])",
        ]
    elif "Tsubj" in program.data:
        lines = ["Tsubj = np.array([T])" if "N" in program.data else "Tsubj = T"]
    if "N" in program.data:
        lines.append("N = 1")
    for name, column in {"Narm": "choice", "P": "pumps", "n_cond": "cond"}.items():
        if name in program.data and columns.get(column) in table.columns:
            cells = pd.to_numeric(table[columns[column]], errors="coerce")
            n = int(cells.max()) + 1 if name == "P" else cells.nunique()
            lines.append(f"{name} = {n}")
            notes.append(f"{name} is {n}, from the responses")
    return lines


def _data_lines(
    program: StanProgram,
    task: str,
    columns: Mapping[str, str],
    given: Mapping[str, Any],
    body: str,
) -> tuple[list[str], dict[str, list[str]]]:
    """Lines that make the program's data of columns, and the columns behind each.

    Raises:
        TheorySourceError: How one is computed is not known.
    """
    from_others: list[str] = []
    from_themselves: list[str] = []
    sources: dict[str, list[str]] = {}
    for name, dims in program.data.items():
        own = as_name(name)
        if name in SIZES or not re.search(rf"\b{own}\b", body):
            continue
        text = DERIVED.get((task, name), DERIVED.get(("", name), own)).format(**given)
        used = [item for item in columns if re.search(rf"\b{item}\b", text)]
        if not used and given.get(name) is not None:
            from_others.append(f"{own} = {given[name]!r}")
            continue
        if not used:
            raise TheorySourceError(
                f"hBayesDM computes {name!r}, which its program reads, from columns in a way that is not known here; "
                "write the likelihood in Python and import it with --likelihood."
            )
        sources[own] = used
        if text.startswith("np.array("):
            text += "" if dims else "[0]"
        else:
            text = f"np.asarray({text}, {'int' if name in program.whole else 'float'})"
            text = f"_by_block({text}, block)" if len(dims) == 3 else text
            text += "[None, :]" * (len(dims) == 2)
        (from_themselves if own in used else from_others).append(f"{own} = {text}")
    return [*from_others, *from_themselves], sources


class StanProgram:
    """A program of Stan: its data, and the lines of Python of its functions, transformed data and ``log_lik``."""

    def __init__(self, text: str) -> None:
        plain = COMMENT.sub("", text)
        self.tokens = [item for item in TOKEN.findall(plain) if item.strip()]
        self.place = 0
        self.whole: set[str] = set()
        """Variables of whole numbers."""
        self.arrays: set[str] = set()
        self.assigned: dict[str, set[str]] = {}
        self.observed: set[str] = set()
        self.own_functions: set[str] = set()
        self.data: dict[str, list[str]] = {}
        self.raw: set[str] = set()
        """Variables that Stan samples."""
        self.transformed: list[tuple[set[str], list[str]]] = []
        """Words and lines of each statement that computes from them."""
        self.ends: dict[str, tuple[float, float]] = {}
        """Ends of vectors that declare both as numbers."""
        self.functions: list[str] = []
        self.transformed_data: list[str] = []
        self.log_likelihood: list[str] = []
        while self.place < len(self.tokens):
            self._block()
        self.responses = self._data_behind(self.observed)
        self.participant = next(
            (
                name
                for name, sizes in self.data.items()
                if len(sizes) == 1 and name.lower() in PEOPLE
            ),
            "",
        )
        """Data that name participants; empty where there are none."""

    def _data_behind(self, names: set[str]) -> list[str]:
        """Arrays of data that decide variables."""
        found: list[str] = []
        seen, left = set(), sorted(names)
        while left:
            name = left.pop(0)
            if name in seen:
                continue
            seen.add(name)
            if self.data.get(name):
                found.append(name)
            else:
                left += sorted(self.assigned.get(name, ()))
        return [name for name in found if name not in ("Tsubj", "Bsubj")]

    # Blocks

    def _block(self) -> None:
        words = [self._next()]
        while self._peek() != "{":
            words.append(self._next())
        name = " ".join(words)
        if name == "functions":
            self._take("{")
            while self._peek() != "}":
                self._function()
            self._take("}")
        elif name == "data":
            self._take("{")
            while self._peek() != "}":
                own, dims, _ = self._declaration()
                self.data[own] = dims
            self._take("}")
        elif name == "transformed data":
            self.transformed_data = self._statement()
        elif name == "parameters":
            self._take("{")
            while self._peek() != "}":
                self.raw.add(self._declaration()[0])
            self._take("}")
        elif name == "transformed parameters":
            self._take("{")
            while self._peek() != "}":
                begin = self.place
                lines = self._statement()
                inside = set(self.tokens[begin : self.place])
                if "log_lik" in inside:
                    self.log_likelihood += lines
                else:
                    self.transformed.append((inside, lines))
            self._take("}")
        elif name == "generated quantities":
            self._take("{")
            while self._peek() != "}":
                begin = self.place
                lines = self._statement()
                if "log_lik" in self.tokens[begin : self.place] or self.tokens[begin] in (
                    *TYPES,
                    "array",
                ):
                    self.log_likelihood += lines
            self._take("}")
        else:
            self._skip()

    def _skip(self) -> None:
        """Leave out a block."""
        depth = 0
        while True:
            token = self._next()
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return

    def _function(self) -> None:
        begin = self.place
        kind = self._next()
        while self._peek() in ("[", ",", "]"):
            self._next()
        name = self._next()
        self._take("(")
        arguments = []
        while self._peek() != ")":
            own = self._next()
            while self._peek() not in (",", ")") or self._inside_brackets(begin):
                own = self._next()
            arguments.append(as_name(own))
            if self._peek() == ",":
                self._next()
        self._take(")")
        if kind == "void" or name.endswith(("_rng", "_lpdf")):
            self._skip()
            return
        self.own_functions.add(name)
        self.functions += ["", f"def {as_name(name)}({', '.join(arguments)}):"]
        self.functions += [f"    {line}" for line in self._statement()] or ["    pass"]

    def _inside_brackets(self, begin: int) -> bool:
        part = self.tokens[begin : self.place]
        return part.count("[") > part.count("]")

    # Statements

    def _statement(self) -> list[str]:
        token = self._peek()
        if token == "{":
            self._take("{")
            lines = []
            while self._peek() != "}":
                lines += self._statement()
            self._take("}")
            return lines
        if token == ";":
            self._next()
            return []
        if token in (*TYPES, "array"):
            return self._declared()
        if token in ("if", "while"):
            self._next()
            self._take("(")
            condition = self._expression()
            self._take(")")
            lines = [f"{token} {condition}:", *self._indented(self._statement())]
            if token == "if" and self._peek() == "else":
                self._next()
                lines += ["else:", *self._indented(self._statement())]
            return lines
        if token == "for":
            return self._loop()
        if token == "return":
            self._next()
            value = self._expression()
            self._take(";")
            return [f"return {value}"]
        if token in ("print", "reject", "break", "continue"):
            self._until(";")
            return [token] if token in ("break", "continue") else []
        return self._assignment()

    @staticmethod
    def _indented(lines: list[str]) -> list[str]:
        return [f"    {line}" for line in lines] or ["    pass"]

    def _loop(self) -> list[str]:
        self._take("for")
        self._take("(")
        name = self._next()
        self._take("in")
        low = self._expression()
        self._take(":")
        high = self._expression()
        self._take(")")
        self.whole.add(name)
        return [
            f"for {as_name(name)} in range({low}, {high} + 1):",
            *self._indented(self._statement()),
        ]

    def _declared(self) -> list[str]:
        name, dims, value = self._declaration()
        own = as_name(name)
        if value is not None:
            return [f"{own} = np.array({value})" if dims else f"{own} = {value}"]
        empty = "0" if name in self.whole else "np.nan"
        if not dims:
            return [f"{own} = {empty}"]
        return [f"{own} = np.full(({', '.join(dims)},), {empty})"]

    def _declaration(self) -> tuple[str, list[str], str | None]:
        """Name, sizes and value of a variable that a statement declares."""
        dims: list[str] = []
        if self._peek() == "array":
            self._next()
            dims += self._sizes()
        kind = self._next()
        limits = self._limits() if self._peek() == "<" else {}
        inner = self._sizes() if self._peek() == "[" else []
        name = self._next()
        dims += self._sizes() if self._peek() == "[" else []
        dims += inner
        if len(dims) == 1 and {"lower", "upper"} <= set(limits):
            self.ends[name] = (limits["lower"], limits["upper"])
        (self.whole.add if kind == "int" else self.whole.discard)(name)
        (self.arrays.add if dims else self.arrays.discard)(name)
        value = None
        if self._peek() == "=":
            self._next()
            begin = self.place
            value = self._expression()
            self.assigned.setdefault(name, set()).update(self.tokens[begin : self.place])
        self._take(";")
        return name, dims, value

    def _limits(self) -> dict[str, float]:
        """Ends of a declared variable that are written as numbers."""
        begin = self.place
        self._until(">")
        text = "".join(self.tokens[begin : self.place])
        return {
            name: float(end)
            for name, end in re.findall(r"(lower|upper)=(-?[\d.]+(?:[eE][-+]?\d+)?)(?=[,>])", text)
        }

    def _sizes(self) -> list[str]:
        self._take("[")
        found = [self._expression()]
        while self._peek() == ",":
            self._next()
            found.append(self._expression())
        self._take("]")
        return found

    def _assignment(self) -> list[str]:
        begin = self.place
        name = self._peek()
        target = self._postfix()
        sign = self._next()
        if sign not in ("=", "+=", "-=", "*=", "/=", ".*=", "./="):
            raise self._unread(f"{name} {sign}")
        if any(item.endswith("_rng") for item in self._line_from(begin)):
            self._until(";")
            return []
        start = self.place
        value = self._expression()
        self.assigned.setdefault(name, set()).update(self.tokens[start : self.place])
        self._take(";")
        is_array = name in self.arrays and target == as_name(name)
        if is_array and sign == "=":
            value = f"np.array({value})"
        return [f"{target} {sign.removeprefix('.')} {value}"]

    def _line_from(self, begin: int) -> list[str]:
        return self.tokens[begin : self.tokens.index(";", begin)]

    # Expressions

    def _expression(self) -> str:
        return self._choice()[0]

    def _choice(self) -> tuple[str, bool]:
        condition = self._binary(0)
        if self._peek() != "?":
            return condition
        self._next()
        yes = self._choice()
        self._take(":")
        no = self._choice()
        return f"({yes[0]} if {condition[0]} else {no[0]})", yes[1] and no[1]

    LEVELS: Final = (
        {"||": "or"},
        {"&&": "and"},
        {"==": "==", "!=": "!="},
        {"<": "<", "<=": "<=", ">": ">", ">=": ">="},
        {"+": "+", "-": "-"},
        {"*": "*", "/": "/", ".*": "*", "./": "/", "%": "%"},
    )

    def _binary(self, level: int) -> tuple[str, bool]:
        """The text of an expression, and whether it is a whole number."""
        if level == len(self.LEVELS):
            return self._unary()
        left, is_whole = self._binary(level + 1)
        signs = self.LEVELS[level]
        while self._peek() in signs:
            sign = self._next()
            right, also = self._binary(level + 1)
            is_whole = is_whole and also
            if sign == "/" and is_whole:
                left = f"_quotient({left}, {right})"
            elif level < ARITHMETIC:  # a truth value is a whole number
                left, is_whole = f"int({left} {signs[sign]} {right})", True
            else:
                left = f"({left} {signs[sign]} {right})"
        return left, is_whole

    def _unary(self) -> tuple[str, bool]:
        if self._peek() in ("-", "+", "!"):
            sign = self._next()
            value, is_whole = self._unary()
            return (f"int(not {value})", True) if sign == "!" else (f"({sign}{value})", is_whole)
        value, is_whole = self._primary()
        if self._peek() == "^":
            self._next()
            power, _ = self._unary()
            return f"np.float_power({value}, {power})", False
        return value, is_whole

    def _primary(self) -> tuple[str, bool]:
        token = self._peek()
        if re.match(r"[\d.]", token):
            self._next()
            return token, token.isdigit()
        if token == "(":
            self._take("(")
            value = self._choice()
            self._take(")")
            return value
        if token == "[":
            text = f"np.array([{', '.join(self._sizes())}])"
            if self._peek() == "'":  # a column of numbers, as is any vector here
                self._next()
            return text, False
        return self._postfix(), token in self.whole

    def _postfix(self) -> str:
        """A name with its indices, or a call."""
        name = self._next()
        if not re.match(r"[A-Za-z_]", name):
            raise self._unread(name)
        if self._peek() == "(":
            return self._call(name)
        text = as_name(name)
        while self._peek() == "[":
            self._take("[")
            parts = []
            while self._peek() != "]":
                parts.append(self._index())
                if self._peek() == ",":
                    self._next()
                    if self._peek() == "]":
                        parts.append(":")
            self._take("]")
            text += f"[{', '.join(parts)}]"
        if self._peek() == "'":
            raise self._unread(f"{name}'")
        return text

    def _index(self) -> str:
        """One index, counted from 0."""
        if self._peek() == ",":
            return ":"
        low = "" if self._peek() == ":" else self._expression()
        if self._peek() != ":":
            return str(int(low) - 1) if low.isdigit() else f"{low} - 1"
        self._next()
        high = "" if self._peek() in (",", "]") else self._expression()
        return f"{f'{low} - 1' if low else ''}:{high}"

    def _call(self, name: str) -> str:
        self._take("(")
        arguments: list[str] = []
        while self._peek() != ")":
            begin = self.place
            arguments.append(self._expression())
            if self._peek() == "|":
                self.observed |= set(self.tokens[begin : self.place])
            if self._peek() in (",", "|"):
                self._next()
        self._take(")")
        if name in self.own_functions:
            return f"{as_name(name)}({', '.join(arguments)})"
        if name in ("max", "min") and len(arguments) == 2:
            return f"np.{name}imum({', '.join(arguments)})"
        if name not in FUNCTIONS:
            raise self._unread(f"{name}(...)")
        try:
            return FUNCTIONS[name].format(*arguments)
        except IndexError:
            raise self._unread(f"{name} with {len(arguments)} arguments") from None

    # Tokens

    def _peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise TheorySourceError("the Stan program ends in the middle of a statement.")
        self.place += 1
        return token

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise self._unread(f"{self.tokens[self.place - 1]!r} in place of {wanted!r}")

    def _until(self, end: str) -> None:
        while self._next() != end:
            pass

    def _unread(self, what: str) -> TheorySourceError:
        here = " ".join(self.tokens[max(0, self.place - 8) : self.place + 4])
        return TheorySourceError(
            f"the Stan program has {what} in `{here}`, which is not read here; write the likelihood in Python and "
            "import it with --likelihood."
        )

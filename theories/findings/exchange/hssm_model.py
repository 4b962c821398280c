"""Models of HSSM as likelihood functions: the call ``hssm.HSSM(data, model="ddm", include=[...])`` of a script.

HSSM's models with a closed form are written in NumPy with its parameters, floors and bounds; formulas of ``include``
and ``global_formula`` become sums of one participant's parameters and columns. Priors only give ends, and group terms
such as ``(1|participant_id)`` only parameters, since the population is estimated. Models whose likelihood is a network
(angle, weibull, ...) are refused.

References:
    Fengler et al. (2026), HSSM, bioRxiv 2026.06.05.730398 (the package); Navarro & Fuss (2009), Journal of Mathematical
    Psychology 53, 222-230; Brown & Heathcote (2008), Cognitive Psychology 57, 153-178.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.findings.exchange.likelihood import (
    LOGS,
    Said,
    TranslatedModel,
    parse_source,
)
from lakatos.theories.findings.exchange.pymc_model import (
    as_name,
    ends_of_prior,
    imported_names,
    whole_name,
)

Ends = tuple[float, float]
DIFFUSION: Final = '''
def _ddm(rt, response, v, a, z, t, sv=0.0):
    """Log density of first passages by Navarro & Fuss; a is half of the distance of the bounds."""
    up, a = response > 0, 2 * a
    v, z, left = np.where(up, -v, v), np.where(up, 1 - z, z), np.maximum(rt - t, 1e-15)
    u, w = (own[..., None] for own in np.broadcast_arrays(left / a**2, z))
    k, place = np.arange(1, 9), w + 2 * np.arange(-4, 5)
    slow = np.pi * (k * np.exp(-0.5 * (k * np.pi) ** 2 * u) * np.sin(k * np.pi * w)).sum(axis=-1)
    fast = (place * np.exp(-(place**2) / (2 * u))).sum(axis=-1) / np.sqrt(2 * np.pi * u[..., 0] ** 3)
    p = np.maximum(np.where(u[..., 0] > 0.25, slow, fast), np.exp(FLOOR))
    drift = ((a * z * sv) ** 2 - 2 * a * v * z - v**2 * left) / (2 * sv**2 * left + 2)
    log_p = np.log(p) + drift - 0.5 * np.log(sv**2 * left + 1) - 2 * np.log(a)
    return np.where(rt - t <= 1e-15, FLOOR, log_p)
'''
FULL: Final = '''

def _full_ddm(rt, response, v, a, z, t, sz, sv, st):
    """The same with starts and delays that vary evenly, by quadrature."""
    points, weights = np.polynomial.legendre.leggauss(8)
    total = 0.0
    for x, share in zip(points / 2, weights / 2):
        for y, part in zip(points / 2, weights / 2):
            total = total + share * part * np.exp(_ddm(rt, response, v, a, z + sz * x, t + st * y, sv))
    inside = (z - sz / 2 >= 0) & (z + sz / 2 <= 1) & (t - st / 2 >= 0)
    return np.where(inside, np.log(np.maximum(total, np.exp(FLOOR))), FLOOR)
'''
BALLISTIC: Final = '''
def _lba(rt, response, A, b, *drifts):
    """Log density of linear ballistic accumulators whose drifts have the standard deviation 0.1."""
    value, none, s = 1.0, 1.0, 0.1
    for place, v in enumerate(drifts):
        g, h = (b - A - rt * v) / (rt * s), (b - rt * v) / (rt * s)
        up, down = (np.exp(-0.5 * own**2) / np.sqrt(2 * np.pi) for own in (g, h))
        wins = (v * (special.ndtr(h) - special.ndtr(g)) + s * (up - down)) / A
        below = 1 + rt * s / A * (g * special.ndtr(g) - h * special.ndtr(h) + up - down)
        value = value * np.where(response == place, wins, 1 - below)
        none = none * special.ndtr(-v / s)
    return np.where(b > A, np.log(np.clip(value / (1 - none), np.exp(FLOOR), np.exp(-FLOOR))), FLOOR)
'''
DECISION: Final[Mapping[str, Ends]] = {"v": (-3, 3), "a": (0.3, 2.5), "z": (0, 1), "t": (0, 2)}
RACE: Final[Mapping[str, Ends]] = {"A": (0, 1), "b": (0.2, 2)}


@dataclass(frozen=True)
class AnalyticModel:
    """A model of HSSM with a closed form."""

    code: str
    function: str
    ends: Mapping[str, Ends]
    """Parameters in HSSM's order, with the ends of its networks or of ssm-simulators where HSSM has none."""
    n_choices: int = 2


MODELS: Final = {
    "ddm": AnalyticModel(DIFFUSION, "_ddm", DECISION),
    "ddm_sdv": AnalyticModel(DIFFUSION, "_ddm", {**DECISION, "sv": (0, 2)}),
    "full_ddm": AnalyticModel(
        DIFFUSION + FULL, "_full_ddm", {**DECISION, "sz": (0, 0.5), "sv": (0, 2), "st": (0, 0.5)}
    ),
    **{
        f"lba{n}": AnalyticModel(
            BALLISTIC, "_lba", {**RACE, **{f"v{place}": (0, 2) for place in range(n)}}, n
        )
        for n in (2, 3)
    },
}
HARD: Final[Mapping[str, Ends]] = {"v": (-np.inf, np.inf), "z": (0.0, 1.0), "b": (0.2, np.inf)}
"""Ends outside of which HSSM's likelihood is its floor; 0 and infinity for other parameters."""
OF_SAMPLING: Final = (
    *("data", "choices", "loglik_kind", "prior_settings", "noncentered", "process_initvals"),
    *("initval_jitter", "missing_data", "deadline", "extra_namespace", "loglik_missing_data"),
)
"""Arguments that change neither the likelihood nor its parameters, if they are None or False where they could."""


def is_hssm(text: str) -> bool:
    """Whether a text of Python imports HSSM."""
    return re.search(r"^\s*(?:import|from)\s+hssm\b", text, re.MULTILINE) is not None


def read_hssm(text: str, table: pd.DataFrame) -> TranslatedModel:
    """The log density of each response of the only model of HSSM in a script.

    Args:
        text: The script.
        table: Responses as text; values of columns that are no numbers become indicators.

    Raises:
        TheorySourceError: There is no such model, or it uses what is not read here; the message names it.
    """
    tree = parse_source(text)
    names = imported_names(tree)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and whole_name(node.func, names) == "hssm.HSSM"
    ]
    if len(calls) != 1:
        raise TheorySourceError(
            f"the file has {len(calls) or 'no'} model{'s' * (len(calls) > 1)} of HSSM (`hssm.HSSM(data, "
            'model="ddm")`); leave one in it.'
        )
    given = _Given(tree, names)
    places = ("data", "model", "choices", "include", "model_config", "loglik")
    arguments = dict(zip(places, calls[0].args, strict=False))
    arguments |= {str(item.arg): item.value for item in calls[0].keywords}
    return _Regressions(given, table).model(
        {key: given.value(own) for key, own in arguments.items() if key != "data"}
    )


@dataclass(frozen=True)
class _Given:
    """Values that a script writes out."""

    tree: ast.Module
    names: Mapping[str, str]

    def value(self, node: ast.expr) -> Any:
        """Numbers, texts, lists, dictionaries, and calls as dictionaries; other expressions stay nodes."""
        if isinstance(node, ast.Name):
            found = [
                line.value
                for line in self.tree.body
                if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == node.id
            ]
            return self.value(found[0]) if len(found) == 1 else node
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(item) for item in node.elts]
        if isinstance(node, ast.Dict):
            return {
                str(getattr(key, "value", "")): self.value(own)
                for key, own in zip(node.keys, node.values, strict=True)
            }
        if isinstance(node, ast.Call):
            first = {"name": self.value(node.args[0])} if node.args else {}
            return first | {str(item.arg): self.value(item.value) for item in node.keywords}
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            return node


@dataclass
class _Regressions:
    """Parameters of a model as sums of one participant's parameters and columns."""

    given: _Given
    table: pd.DataFrame
    columns: dict[str, str] = field(default_factory=lambda: {"rt": "rt", "response": "response"})
    bounds: dict[str, Ends] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)

    def model(self, keywords: dict[str, Any]) -> TranslatedModel:
        """The function of a call's arguments."""
        name = keywords.pop("model", "ddm")
        known = MODELS.get(name) if isinstance(name, str) else None
        if known is None or keywords.pop("model_config", None) or keywords.pop("loglik", None):
            raise TheorySourceError(
                f"the likelihood of {_shown(name)} is a network, a simulation or a function of its own, and is not "
                f"read; there are {', '.join(MODELS)}. A function in NumPy is imported with --likelihood."
            )
        if keywords.get("missing_data") or keywords.get("deadline"):
            raise TheorySourceError(
                "missing_data and deadline are not read: leave rows without a response out, by --skip rt=-999."
            )
        if keywords.get("loglik_kind") == "approx_differentiable":
            self.notes.append(f"{name} is computed by its closed form, and not by HSSM's network")
        if keywords.pop("link_settings", None):
            raise TheorySourceError("link_settings is not read; write parameters without a link.")
        outliers = self._outliers(keywords.pop("p_outlier", 0.05), keywords.pop("lapse", None))
        everywhere = keywords.pop("global_formula", "")
        parts = {part["name"]: part for part in keywords.pop("include", None) or []}
        parts |= {key: value for key, value in keywords.items() if key not in OF_SAMPLING}
        if foreign := [key for key in parts if key not in known.ends]:
            raise TheorySourceError(
                f"{name} has no parameter {foreign[0]!r}, and HSSM no argument of this name that is read; {name} has "
                f"{', '.join(known.ends)}."
            )
        lines, inside, values = [], [], []
        for key, usual in known.ends.items():
            value = self._parameter(key, usual, parts.get(key), everywhere)
            values.append(value)
            if value in self.bounds:
                continue
            values[-1] = f"{key}_"
            lines.append(f"{key}_ = {value}")
            low, high = HARD.get(key, (0.0, np.inf))
            inside += [f"({key}_ >= {low})"] if np.isfinite(low) else []
            inside += [f"({key}_ <= {high})"] if np.isfinite(high) else []
        lines.append(f"log_p = {known.function}(rt, response, {', '.join(values)})")
        if outliers:
            share, longest = outliers
            self.notes.append(
                f"outliers have any of the {known.n_choices} responses; HSSM counts their density for each"
            )
            lines.append(f"outlier = (rt <= {longest}) / {longest * known.n_choices}")
            lines.append(
                f"log_p = np.log((1 - {share}) * np.exp(log_p) + {share} * outlier + 1e-29)"
            )
        outside = f"np.where({' & '.join(inside)}, log_p, FLOOR)"
        lines.append(f"return {outside if inside else 'log_p'}")
        if self.groups:
            self.notes.append(
                f"each participant ({', '.join(self.groups)}) has parameters of their own; the population is estimated"
            )
        source = (
            f"import numpy as np\nfrom scipy import special\n\nFLOOR = -66.1\nBOUNDS = {self.bounds!r}\n\n"
            f"{known.code}\n\ndef model({', '.join([*self.columns, *self.bounds])}):\n"
            f'    """HSSM {name}."""\n' + "".join(f"    {line}\n" for line in lines)
        )
        meaning = Said(
            "model",
            participant=next((own for own in self.groups if own in self.table.columns), ""),
            columns=self.columns,
            responses=("rt", "response"),
            returns=LOGS,
        )
        return TranslatedModel(source, meaning, tuple(self.notes))

    def _outliers(self, share: Any, lapse: Any) -> tuple[str, float] | None:
        """The share of outliers, a number or a parameter, and the longest time of one."""
        if share is None or share == 0:
            return None
        ends = (0.0, 20.0)
        if isinstance(lapse, Mapping) and lapse.get("name") == "Uniform":
            ends = (float(lapse.get("lower", 0.0)), float(lapse.get("upper", 1.0)))
        elif lapse is not None:
            ends = (np.nan, np.nan)
        if ends[0] != 0.0:
            raise TheorySourceError("lapse is read as a Uniform prior from 0 only.")
        if isinstance(share, int | float):
            return repr(float(share)), ends[1]
        self._bound("p_outlier", share, (0.0, 1.0))
        return "p_outlier", ends[1]

    def _bound(self, name: str, prior: Any, usual: Ends) -> str:
        """A new parameter within the ends of its prior, where that has a beginning and an end."""
        own = as_name(name)
        given = prior if isinstance(prior, Mapping) else {}
        found = ends_of_prior(str(given.get("name")), given)
        self.bounds[own] = found[0] if found and not found[1] else usual
        return own

    def _parameter(self, name: str, usual: Ends, part: Any, everywhere: Any) -> str:
        """A parameter's value as an expression."""
        if isinstance(part, int | float):
            return repr(float(part))
        part = part if isinstance(part, Mapping) else {}
        formula, prior = part.get("formula", everywhere), part.get("prior", part)
        if part.get("link", "identity") != "identity":
            raise TheorySourceError(f"the link of {name} is not read; write it without a link.")
        if isinstance(part.get("bounds"), list):
            usual = (float(part["bounds"][0]), float(part["bounds"][1]))
        if not formula:
            return (
                repr(float(prior))
                if isinstance(prior, int | float)
                else self._bound(name, prior, usual)
            )
        priors = prior if isinstance(prior, Mapping) else {}
        width = usual[1] - usual[0]
        sums, terms = [], self._terms(name, formula)
        own = [term for term in terms if term not in ("0", "1")]
        full = "1" not in terms  # the first column of words has an indicator for each of them
        if not full:
            sums.append(
                self._bound(f"{name}_Intercept" if own else name, priors.get("Intercept"), usual)
            )
        for term in own:
            column = term.removeprefix("C@")
            if column not in self.table.columns:
                raise TheorySourceError(
                    f"the formula of {name} names {term!r}, which is no column; sums of columns, C(column) and "
                    "(1 + column|participant) are read."
                )
            argument = next((key for key, of in self.columns.items() if of == column), "")
            if not argument:
                argument = as_name(column)
                while argument in self.columns or argument in {name, *self.bounds}:
                    argument += "_"
                self.columns[argument] = column
            slope = (-width, width) if "1" in terms else usual
            cells = pd.to_numeric(self.table[column], errors="coerce")
            if not term.startswith("C@") and cells.notna().all():
                sums.append(
                    f"{self._bound(f'{name}_{column}', priors.get(column), (-width, width))} * {argument}"
                )
                continue
            levels = sorted(set(self.table[column].astype(str).str.strip()))
            if cells.notna().all():
                levels = sorted(set(cells.tolist()))
            for level in levels[0 if full else 1 :]:
                shown = int(level) if isinstance(level, float) and level == int(level) else level
                own_name = self._bound(f"{name}_{column}_{shown}", None, slope)
                sums.append(f"{own_name} * ({argument} == {shown!r})")
            full = False
        return " + ".join(sums) or "0.0"

    def _terms(self, name: str, formula: Any) -> list[str]:
        """Terms of a formula, those of all participants and those of each."""
        text = formula if isinstance(formula, str) else _shown(formula)
        right = re.sub(r"\bC\(\s*([\w.]+)\s*\)", r"C@\1", text.partition("~")[2]).replace(
            "-", "+ 0 *"
        )
        parts = re.findall(r"\(([^()|]*)\|\s*([^()|]*?)\s*\)", right)
        self.groups |= {group.removeprefix("C@") for _, group in parts}
        sums = [re.sub(r"\([^()|]*\|[^()|]*\)", "", right), *(own for own, _ in parts)]
        terms: list[str] = []
        for own in sums:
            pieces = [piece.strip().replace("0 * 1", "0") for piece in own.split("+")]
            terms += ["1"] * ("0" not in pieces)
            terms += [piece for piece in pieces if piece not in ("", "0", "1")]
        bad = [term for term in terms if not re.fullmatch(r"(?:C@)?[\w.]+", term)]
        if bad or len(self.groups) > 1:
            raise TheorySourceError(
                f"the formula {text!r} of {name} is not read: write sums of columns, C(column), and terms of "
                "participants such as (1 + column|participant_id), of one column of participants."
            )
        return list(dict.fromkeys(terms))


def _shown(value: Any) -> str:
    return ast.unparse(value) if isinstance(value, ast.AST) else str(value)

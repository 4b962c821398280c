"""Program judges: small programs over named features that evolve; data through and through, so nothing untrusted runs.

A program is a sum of terms; a term is a weight times one or two transformed features. The sum is the log odds that
people's next data favour the candidate. Structure changes by mutation and recombination, weights are then fitted.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from lakatos.judges.errors import VerdictError
from lakatos.judges.feature import features_of, table
from lakatos.judges.judge import JudgeSubmission
from lakatos.traces.digest import Digest, digest_of

Array = NDArray[np.float64]
TRANSFORMS = ("as it is", "saturating", "root", "sign", "square")
"""All that can be done to a feature; see `transformed`."""
WEAKEST, STRONGEST = 0.01, 0.99
"""A program is never surer than this, so that one surprise does not ruin its log score."""
RIDGE = 0.1
"""Prior precision of weights, so that features that separate the labels keep finite ones."""
MOST_TERMS = 12


@dataclass(frozen=True, order=True)
class ProgramFactor:
    """A feature in units of ``scale``, transformed."""

    feature: str
    transform: str = "as it is"
    scale: float = 1.0


@dataclass(frozen=True, order=True)
class ProgramTerm:
    """One or two factors, multiplied."""

    factors: tuple[ProgramFactor, ...]
    weight: float = 0.0


@dataclass(frozen=True)
class JudgeProgram:
    """Log odds as ``bias`` plus the sum of terms."""

    terms: tuple[ProgramTerm, ...]
    bias: float = 0.0

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the program reads."""
        return tuple(sorted({factor.feature for term in self.terms for factor in term.factors}))

    @property
    def structure(self) -> tuple[tuple[ProgramFactor, ...], ...]:
        """What it is apart from weights."""
        return tuple(sorted(term.factors for term in self.terms))

    def to_json(self) -> dict[str, Any]:
        """Write the program as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> JudgeProgram:
        """Read the program that `to_json` wrote.

        Raises:
            VerdictError: A transform is unknown, a term has not one or two factors, or a number is not finite.
        """
        terms = []
        for term in value["terms"]:
            factors = tuple(
                ProgramFactor(item["feature"], item["transform"], float(item["scale"]))
                for item in term["factors"]
            )
            if not 1 <= len(factors) <= 2 or any(
                factor.transform not in TRANSFORMS for factor in factors
            ):
                raise VerdictError(
                    f"the term {term!r} of a judge is not one or two factors bent by one of {', '.join(TRANSFORMS)}."
                )
            terms.append(ProgramTerm(factors, float(term["weight"])))
        program = cls(tuple(terms), float(value["bias"]))
        numbers = [
            program.bias,
            *(t.weight for t in terms),
            *(f.scale for t in terms for f in t.factors),
        ]
        if not np.isfinite(numbers).all():
            raise VerdictError(
                f"a judge has a weight or scale that is no finite number: {value!r}."
            )
        return program


def transformed(x: Array, transform: str) -> Array:
    """A feature after one of `TRANSFORMS`."""
    if transform == "as it is":
        return x
    if transform == "saturating":
        return np.tanh(x)
    if transform == "root":
        return np.sign(x) * np.sqrt(np.abs(x))
    return np.sign(x) if transform == "sign" else np.square(x)


def columns(
    structure: Sequence[tuple[ProgramFactor, ...]], features: Sequence[str], values: Array
) -> Array:
    """Values of terms without their weights, ``(n_submissions, n_terms)``; arguments as in `log_odds`."""
    place = {name: number for number, name in enumerate(features)}
    found = np.ones((len(values), len(structure)))
    for number, factors in enumerate(structure):
        for factor in factors:
            found[:, number] *= transformed(
                values[:, place[factor.feature]] / factor.scale, factor.transform
            )
    return found


def log_odds(program: JudgeProgram, features: Sequence[str], values: Array) -> Array:
    """``(n_submissions,)`` log odds; ``values`` is ``(n_submissions, n_features)`` in the order of ``features``."""
    weights = np.array([term.weight for term in program.terms])
    return np.asarray(
        program.bias + columns([term.factors for term in program.terms], features, values) @ weights
    )


@dataclass(frozen=True)
class ProgramJudge:
    """A program as a judge."""

    program: JudgeProgram
    name: str = "program"

    @cached_property
    def digest(self) -> Digest:
        """Version: the program and the code that runs it; not its name."""
        code = [
            inspect.getsource(part) for part in (transformed, columns, log_odds, table, features_of)
        ]
        return digest_of(
            {"program": self.program.to_json(), "code": code, "limits": [WEAKEST, STRONGEST]}
        )

    def judge(self, submission: JudgeSubmission) -> float:
        """Probability that people's next data favour the candidate."""
        return float(self.judge_all([submission])[0])

    def judge_all(self, submissions: Sequence[JudgeSubmission]) -> Array:
        """Probabilities for many submissions at once: ``(n_submissions,)``."""
        features = self.program.features
        return np.clip(
            expit(log_odds(self.program, features, table(submissions, features))),
            WEAKEST,
            STRONGEST,
        )


@dataclass(frozen=True)
class LabelledComparisons:
    """Settled comparisons as arrays, on which programs are fitted and compared."""

    features: tuple[str, ...]
    values: Array
    """``(n_items, n_features)``."""
    labels: Array
    """``(n_items,)`` 0 or 1."""
    weights: Array
    """``(n_items,)`` how much each item counts."""


def labelled(
    submissions: Sequence[JudgeSubmission],
    labels: Sequence[bool],
    features: Sequence[str],
    weights: Array | None = None,
) -> LabelledComparisons:
    """Arrays of items; every item counts once where no weights are given."""
    own = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
    return LabelledComparisons(
        tuple(features), table(submissions, features), np.asarray(labels, dtype=np.float64), own
    )


def fit(
    program: JudgeProgram, items: LabelledComparisons, *, n_iterations: int = 25
) -> JudgeProgram:
    """The program with the weights of greatest posterior density under a normal prior (penalised Newton steps)."""
    x = np.column_stack(
        (np.ones(len(items.labels)), columns(program.structure, items.features, items.values))
    )
    precision = RIDGE * np.eye(x.shape[1])
    precision[0, 0] = 1e-6  # the bias is free
    w = np.zeros(x.shape[1])

    def objective(w: Array) -> float:
        return float(
            items.weights @ log_expit(np.where(items.labels > 0, 1, -1) * (x @ w))
            - w @ precision @ w / 2
        )

    current = objective(w)
    for _ in range(n_iterations):
        p = expit(x @ w)
        slope = x.T @ (items.weights * (items.labels - p)) - precision @ w
        step = np.linalg.solve((x.T * (items.weights * p * (1 - p))) @ x + precision, slope)
        while (following := objective(w + step)) < current - 1e-9 and np.abs(step).max() > 1e-9:
            step = step / 2
        w, gained, current = w + step, following - current, following
        if gained < 1e-9:
            break
    return JudgeProgram(tuple(map(ProgramTerm, program.structure, w[1:].tolist())), float(w[0]))


def criterion(program: JudgeProgram, items: LabelledComparisons) -> float:
    """Log score of all items less half the logarithm of their number for each weight; larger is better.

    References:
        Schwarz (1978), Annals of Statistics 6, 461-464.
    """
    odds = log_odds(program, items.features, items.values)
    score = items.weights @ log_expit(np.where(items.labels > 0, 1, -1) * odds)
    return float(score - np.log(max(items.weights.sum(), 2)) / 2 * (len(program.terms) + 1))


def scales(items: LabelledComparisons) -> dict[str, float]:
    """Root mean square of each feature, by which it is divided, so that transforms bend where features lie."""
    spread = np.sqrt((items.values**2).mean(axis=0))
    return {
        name: float(f"{max(value, 1e-6):.3g}")
        for name, value in zip(items.features, spread, strict=True)
    }


def mutate(
    program: JudgeProgram, scale: dict[str, float], rng: np.random.Generator
) -> JudgeProgram:
    """One change of structure: a term dropped, added, bent another way, or multiplied by another feature."""

    def factor() -> ProgramFactor:
        feature = str(rng.choice(sorted(scale)))
        return ProgramFactor(feature, str(rng.choice(TRANSFORMS)), scale[feature])

    terms = list(program.terms)
    kind = rng.choice(["drop", "add", "bend", "multiply"])
    if not terms or (kind == "add" and len(terms) < MOST_TERMS):
        terms.append(ProgramTerm((factor(),)))
    else:
        place = int(rng.integers(len(terms)))
        factors = terms[place].factors
        if kind == "drop":
            del terms[place]
        elif kind == "multiply":
            terms[place] = ProgramTerm(
                tuple(sorted((factors[0], factor()))) if len(factors) == 1 else factors[:1]
            )
        else:
            chosen = int(rng.integers(len(factors)))
            bent = replace(factors[chosen], transform=str(rng.choice(TRANSFORMS)))
            terms[place] = ProgramTerm(
                tuple(sorted((*factors[:chosen], bent, *factors[chosen + 1 :])))
            )
    return _distinct(terms)


def recombine(first: JudgeProgram, second: JudgeProgram, rng: np.random.Generator) -> JudgeProgram:
    """Each term of either parent with even odds."""
    return _distinct([term for term in (*first.terms, *second.terms) if rng.random() < 0.5])


def _distinct(terms: Sequence[ProgramTerm]) -> JudgeProgram:
    return JudgeProgram(tuple({term.factors: term for term in sorted(terms)}.values())[:MOST_TERMS])


def breed(
    incumbent: JudgeProgram,
    items: LabelledComparisons,
    rng: np.random.Generator,
    *,
    n_generations: int = 12,
    n_children: int = 16,
    n_parents: int = 6,
) -> list[JudgeProgram]:
    """Challengers bred from the incumbent on dev items only, best first by `criterion`; the first goes to the gate.

    Args:
        incumbent: Ancestor of all.
        items: Dev, hard cases included.
        rng: Decides on mutations and recombinations.
        n_generations, n_children, n_parents: Extent of the search; parents are the best found so far.
    """
    scale = scales(items)
    found: dict[tuple[tuple[ProgramFactor, ...], ...], tuple[float, JudgeProgram]] = {}

    def consider(program: JudgeProgram) -> None:
        if program.structure not in found:
            fitted = fit(program, items)
            found[program.structure] = criterion(fitted, items), fitted

    consider(incumbent)
    for _ in range(n_generations):
        parents = [
            program for _, program in sorted(found.values(), key=lambda item: -item[0])[:n_parents]
        ]
        for _ in range(n_children):
            one, two = (parents[int(place)] for place in rng.integers(len(parents), size=2))
            consider(recombine(one, two, rng) if rng.random() < 0.25 else mutate(one, scale, rng))
    return [program for _, program in sorted(found.values(), key=lambda item: -item[0])]


def gain_of_breeding(
    incumbent: JudgeProgram,
    items: LabelledComparisons,
    groups: Sequence[int],
    rng: np.random.Generator,
    n_folds: int = 5,
    n_repeats: int = 3,
) -> tuple[float, float]:
    """What breeding gains over the incumbent's structure on items that it has not seen, nats per item.

    The search is made anew without each fold in turn: a program that was chosen among hundreds looks better than it is
    on the items that chose it, and a challenger that is none costs a test.

    Args:
        incumbent: Ancestor; its weights are fitted to the same items.
        items: Dev, hard cases included.
        groups: ``(n_items,)`` items of one group share a problem or people, and are left out together.
        rng: Deals groups to folds, and breeds.
        n_folds: Parts that are left out in turn.
        n_repeats: Deals, over which it is averaged.

    Returns:
        Gain, and its standard error over groups.

    References:
        Cawley & Talbot (2010), Journal of Machine Learning Research 11, 2079-2107.
    """
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    n_groups = int(group.max()) + 1
    gained = np.zeros(len(group))
    signs = np.where(items.labels > 0, 1, -1)
    for _ in range(n_repeats):
        fold = (rng.permutation(n_groups) % n_folds)[group]
        for number in np.unique(fold):
            left = fold == number
            seen = LabelledComparisons(
                items.features, items.values[~left], items.labels[~left], items.weights[~left]
            )
            for sign, program in ((1, breed(incumbent, seen, rng)[0]), (-1, fit(incumbent, seen))):
                odds = log_odds(program, items.features, items.values[left])
                gained[left] += (
                    sign * items.weights[left] * log_expit(signs[left] * odds) / n_repeats
                )
    sums, total = np.bincount(group, gained), float(items.weights.sum())
    return float(sums.sum()) / total, float(np.sqrt(n_groups) * sums.std(ddof=1)) / total

"""A mixed model of values whose uncertainty is known: effects on parameters, their intervals, and their test.

The values are what cells (one participant in one condition) say of a theory's parameters, with a covariance each
(`cell_posterior`). All parameters are modelled together::

    value(cell) = design(cell) . effects + participant + rest(cell) + error(cell)

where participants and rests are normal with covariances that are estimated without any label (so that the weights of
cells do not depend on what is tested), and errors are normal with the known covariances. Effects are estimated by
generalised least squares. Their standard errors are clustered by participant (CR2, with degrees of freedom after
Satterthwaite), so that they hold however much participants differ in an effect: random slopes are inside the intervals,
whether or not a formula names them. For one condition of two levels and cells of equal precision this is the paired t
test.

The test exchanges labels and computes the same estimate again: whole cells of a participant for what varies within
participants, participants of one experiment for what does not. The largest statistic of any tested parameter is
compared, so that p allows for their number.

References:
    Bell & McCaffrey (2002), Survey Methodology 28, 169-181 (CR2, degrees of freedom).
    van Houwelingen, Arends & Stijnen (2002), Statistics in Medicine 21, 589-624 (known uncertainties).
    Westfall & Young (1993), Resampling-based multiple testing (largest statistic).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
N_ROUNDS = 60
"""Most rounds of expectation maximisation of the covariances."""
SETTLED = 1e-3
"""Relative change of the participants' variances, after which no round follows."""
N_EXCHANGES = 1999
LEVEL = 0.05
"""Probability, over all tested parameters together, of an effect where there is none."""
NOTHING = 1e-9


@dataclass(frozen=True)
class CellValues:
    """Values of cells, grouped by participant; all participants are padded to as many cells, which weigh nothing."""

    value: Array
    """``(n_people, n_cells, n_parameters)``."""
    variance: Array
    """``(n_people, n_cells, n_parameters, n_parameters)``."""
    there: NDArray[np.bool_]
    """``(n_people, n_cells)`` which cells there are."""
    place: Ints
    """``(n_all_cells, 2)`` participant and place of each cell in the order in which they were given."""

    def spread_out(self, rows: Array) -> Array:
        """``(n_people, n_cells, n_columns)`` of ``(n_all_cells, n_columns)``; 0 where there is no cell."""
        found = np.zeros((*self.there.shape, rows.shape[1]))
        found[self.place[:, 0], self.place[:, 1]] = rows
        return found


def group_cells(value: Array, variance: Array, person: Ints) -> CellValues:
    """Values ``(n_all_cells, n_parameters)`` and their covariances, by ``(n_all_cells,)`` participant."""
    _, number = np.unique(person, return_inverse=True)
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number)
    start = np.cumsum(counts) - counts
    place = np.empty((len(person), 2), dtype=np.int64)
    place[order, 0] = number[order]
    place[order, 1] = np.arange(len(person)) - start[number[order]]
    n_people, n_cells, n_parameters = len(counts), int(counts.max()), value.shape[1]
    there = np.zeros((n_people, n_cells), dtype=bool)
    there[place[:, 0], place[:, 1]] = True
    values = np.zeros((n_people, n_cells, n_parameters))
    values[place[:, 0], place[:, 1]] = value
    variances = np.tile(np.eye(n_parameters), (n_people, n_cells, 1, 1))
    variances[place[:, 0], place[:, 1]] = variance
    return CellValues(values, variances, there, place)


@dataclass(frozen=True)
class Covariances:
    """Variation of participants, and of cells of one participant beside that, on top of known errors."""

    between: Array
    """``(n_parameters, n_parameters)``."""
    within: Array


def estimate_covariances(cells: CellValues, nuisance: Array) -> Covariances:
    """Covariances of participants and of cells, by expectation maximisation, without any label that is tested.

    Args:
        cells: Values of cells.
        nuisance: ``(n_people, n_cells, n_columns)`` design of what is not tested, a column of ones at least.
    """
    n_people, _, n = cells.value.shape
    there = cells.there
    has_repeats = bool((there.sum(axis=1) > 1).any())
    pooled = cells.value[there]
    whole = np.cov(pooled.T).reshape(n, n)
    known = np.median(cells.variance[there], axis=0)
    left = np.diag(np.maximum(np.diag(whole) - np.diag(known), 0.1 * np.diag(whole)) + NOTHING)
    between, within = (left / 2, left / 2) if has_repeats else (left, np.zeros((n, n)))
    for _ in range(N_ROUNDS):
        weight = _weights(cells, Covariances(between, within))
        effects, _ = _solved(cells, weight, nuisance)
        rest = cells.value - np.einsum("pcq,kq->pck", nuisance, effects)
        rest = np.where(there[:, :, None], rest, 0.0)
        products = np.einsum("pckdl,pdl->pck", weight, rest)
        # Of participants: their posterior mean and covariance.
        summed = products.sum(axis=1)
        mean = summed @ between
        around = np.einsum("pckdl->pkl", weight)
        spread = between - np.einsum("ij,pjk,kl->pil", between, around, between)
        moved = (np.einsum("pi,pj->ij", mean, mean) + spread.sum(axis=0)) / n_people
        if has_repeats:
            own = np.einsum("ij,pcj->pci", within, products)
            diagonal = np.einsum("pckcl->pckl", weight)
            inside = within - np.einsum("ij,pcjk,kl->pcil", within, diagonal, within)
            inside = np.where(there[:, :, None, None], inside, 0.0)
            squares = np.einsum("pci,pcj->ij", np.where(there[:, :, None], own, 0.0), own)
            within = _shrunk((squares + inside.sum(axis=(0, 1))) / there.sum(), int(there.sum()))
        moved = _shrunk(moved, n_people)
        change = np.abs(np.diag(moved) - np.diag(between)).max() / np.diag(moved).max()
        between = moved
        if change < SETTLED:
            break
    return Covariances(between, within)


def _shrunk(covariance: Array, n: int) -> Array:
    """A covariance whose correlations are drawn towards 0, the more the fewer it was estimated from."""
    size = len(covariance)
    covariance = (covariance + covariance.T) / 2
    diagonal = np.diag(np.maximum(np.diag(covariance), NOTHING))
    share = n / (n + 2.0 * size)
    return np.asarray(share * covariance + (1 - share) * diagonal)


def _weights(cells: CellValues, covariances: Covariances) -> Array:
    """``(n_people, n_cells, n, n_cells, n)`` inverse covariance of each participant's values; 0 for missing cells."""
    n_people, n_cells, n = cells.value.shape
    whole = np.zeros((n_people, n_cells, n, n_cells, n))
    whole += covariances.between[None, None, :, None, :]
    for c in range(n_cells):
        whole[:, c, :, c, :] += covariances.within + cells.variance[:, c]
    pair = cells.there[:, :, None, None, None] & cells.there[:, None, None, :, None]
    square = np.where(pair, whole, 0.0).reshape(n_people, n_cells * n, n_cells * n)
    missing = np.repeat(~cells.there, n, axis=1)
    square[:, np.arange(n_cells * n), np.arange(n_cells * n)] += missing
    inverse = np.linalg.inv(square)
    inverse *= ~(missing[:, :, None] | missing[:, None, :])
    return np.asarray(inverse.reshape(n_people, n_cells, n, n_cells, n))


def _normal_equations(cells: CellValues, weight: Array, design: Array) -> tuple[Array, Array]:
    """``(n * n_columns, n * n_columns)`` matrix, and right side; parameters vary slower than columns."""
    n, n_columns = cells.value.shape[2], design.shape[2]
    weighted = np.einsum("pckdl,pdr->pcklr", weight, design, optimize=True)
    matrix = np.einsum("pcq,pcklr->kqlr", design, weighted, optimize=True)
    products = np.einsum("pckdl,pdl->pck", weight, cells.value, optimize=True)
    right = np.einsum("pcq,pck->kq", design, products, optimize=True)
    return matrix.reshape(n * n_columns, n * n_columns), right.reshape(-1)


def _solved(
    cells: CellValues, weight: Array, design: Array, ridge: Array | None = None
) -> tuple[Array, Array]:
    """Effects ``(n, n_columns)`` by generalised least squares, and the inverse of the normal equations' matrix."""
    matrix, right = _normal_equations(cells, weight, design)
    if ridge is not None:
        matrix = matrix + np.diag(ridge)
    inverse: Array = np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
    n, n_columns = cells.value.shape[2], design.shape[2]
    return (inverse @ right).reshape(n, n_columns), inverse


@dataclass(frozen=True)
class Effects:
    """Effects of the columns of a design on parameters, with errors that are clustered by participant."""

    estimate: Array
    """``(n_parameters, n_columns)``."""
    error: Array
    """Standard errors."""
    degrees: Array
    """Degrees of freedom of Student's t."""
    covariances: Covariances

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Ends of intervals."""
        reach = student.ppf((1 + level) / 2, self.degrees) * self.error
        return self.estimate - reach, self.estimate + reach


def estimate_effects(
    cells: CellValues, design: Array, nuisance: Array, ridge: Array | None = None
) -> Effects:
    """Effects by generalised least squares, with CR2 errors.

    Args:
        cells: Values of cells.
        design: ``(n_people, n_cells, n_columns)``, of full rank, with the column of ones.
        nuisance: Columns of the design that are not tested; the weights of cells are estimated with them alone.
        ridge: ``(n_parameters * n_columns,)`` precisions of normal priors of effects; none by default.
    """
    covariances = estimate_covariances(cells, nuisance)
    weight = _weights(cells, covariances)
    estimate, inverse = _solved(cells, weight, design, ridge)
    n_people, n_cells, n = cells.value.shape
    n_columns = design.shape[2]
    size = n_cells * n

    # Whitened, so that a participant's share of the fit is a symmetric matrix.
    matrices = weight.reshape(n_people, size, size)
    values, vectors = np.linalg.eigh((matrices + np.swapaxes(matrices, 1, 2)) / 2)
    root = np.einsum("pij,pj,pkj->pik", vectors, np.sqrt(np.maximum(values, 0.0)), vectors)
    wide = np.zeros((n_people, n_cells, n, n, n_columns))
    for k in range(n):
        wide[:, :, k, k] = design
    white = root @ wide.reshape(n_people, size, n * n_columns)
    rest = cells.value - np.einsum("pcq,kq->pck", design, estimate)
    rest = np.where(cells.there[:, :, None], rest, 0.0).reshape(n_people, size)
    rest = np.einsum("pij,pj->pi", root, rest)

    leverage = white @ inverse @ np.swapaxes(white, 1, 2)
    values, vectors = np.linalg.eigh(np.eye(size) - leverage)
    inverse_root = np.where(values > 1e-8, 1 / np.sqrt(np.maximum(values, 1e-8)), 0.0)
    adjust = np.einsum("pij,pj,pkj->pik", vectors, inverse_root, vectors)
    scores = np.einsum("pik,pi->pk", white, np.einsum("pij,pj->pi", adjust, rest))
    middle = scores.T @ scores
    variance = np.diag(inverse @ middle @ inverse)
    degrees = np.array([_degrees(white, adjust, inverse, place) for place in range(n * n_columns)])
    return Effects(
        estimate,
        np.sqrt(np.maximum(variance, 0.0)).reshape(n, n_columns),
        degrees.reshape(n, n_columns),
        covariances,
    )


def _degrees(white: Array, adjust: Array, inverse: Array, place: int) -> float:
    """Satterthwaite's degrees of freedom of one effect's variance (Bell & McCaffrey)."""
    mine = np.einsum("pij,pj->pi", adjust, white @ inverse[:, place])
    lever = np.einsum("pik,pi->pk", white, mine)
    product = -lever @ inverse @ lever.T
    product[np.diag_indices(len(product))] += (mine**2).sum(axis=1)
    squares = float((product**2).sum())
    return max(float(np.trace(product)) ** 2 / squares if squares > 0 else 1.0, 1.0)


@dataclass(frozen=True)
class Exchange:
    """Exchange of the labels of some columns where they mean nothing."""

    columns: tuple[int, ...]
    """Columns of the design that are exchanged together."""
    is_within: bool
    """Whether whole cells of a participant are exchanged; else participants of one stratum."""
    stratum: Ints
    """``(n_people,)``."""


def exchange_p(
    cells: CellValues,
    design: Array,
    covariances: Covariances,
    exchange: Exchange,
    tested: Sequence[int],
    rng: np.random.Generator,
    *,
    counted: Sequence[bool] = (),
    n_exchanges: int = N_EXCHANGES,
    ridge: Array | None = None,
) -> tuple[Array, Array]:
    """Statistics and probabilities of effects as strong, if the labels of some columns mean nothing.

    Args:
        cells: Values of cells.
        design: ``(n_people, n_cells, n_columns)``.
        covariances: Covariances with which the effects were estimated.
        exchange: Columns that are exchanged, and how.
        tested: Places of the parameters that are tested.
        rng: Generator for exchanges.
        counted: Exchanged columns that are tested; all by default.
        n_exchanges: Exchanges.
        ridge: As in `estimate_effects`.

    Returns:
        ``(n_tested, n_exchanged_columns)`` estimates in standard errors of the model, with their signs; and
        probabilities that allow for the number of tested parameters and columns.
    """
    weight = _weights(cells, covariances)
    n_columns = design.shape[2]
    columns = list(exchange.columns)
    places = np.array(tested)[:, None] * n_columns + np.array(columns)

    def statistics(shown: Array) -> Array:
        estimate, inverse = _solved(cells, weight, shown, ridge)
        return np.asarray(estimate.reshape(-1)[places] / np.sqrt(np.diag(inverse)[places] + 1e-300))

    kept = np.array(counted or [True] * len(columns))
    observed = statistics(design)
    largest = np.empty(n_exchanges)
    for number in range(n_exchanges):
        shown = design.copy()
        shown[:, :, columns] = _exchanged(design[:, :, columns], cells.there, exchange, rng)
        largest[number] = np.abs(statistics(shown))[:, kept].max()
    reached = (largest[:, None, None] >= np.abs(observed) * (1 - NOTHING)).sum(axis=0)
    return observed, np.asarray((1 + reached) / (n_exchanges + 1))


def _exchanged(
    labels: Array, there: NDArray[np.bool_], exchange: Exchange, rng: np.random.Generator
) -> Array:
    """Labels ``(n_people, n_cells, n_columns)`` in another order: of each participant's cells, or of participants."""
    if exchange.is_within:
        # Cells that are not there stay at the end.
        order = np.argsort(np.where(there, rng.random(there.shape), 2.0), axis=1)
        return np.take_along_axis(labels, order[:, :, None], axis=1)
    stratum = exchange.stratum
    order = np.empty(len(stratum), dtype=np.int64)
    order[np.argsort(stratum, kind="stable")] = np.lexsort((rng.random(len(stratum)), stratum))
    own = labels[np.arange(len(labels)), 0][order]
    return np.where(there[:, :, None], own[:, None], 0.0)

import numpy as np
import pytest
from scipy.special import expit

from lakatos.theories.engine.sandbox.layout import ColumnArray, columns

RNG = np.random.default_rng(0)
VALUES, SHARES = RNG.normal(size=(7, 5, 3, 2)), RNG.random((7, 1))
PICKED = RNG.random((1, 5, 3, 2))


def learned(values, shares, picked):
    """What theories do with arrays, in small."""
    here = (np.zeros((1, 5))[..., None] == np.arange(3)) * 1.0
    surprise = 1 - (picked * values).sum(axis=(-2, -1))
    moved = values + picked * (shares * surprise)[..., None, None]
    seen = np.where(np.arange(5)[:, None, None] > 2, 0.5, moved)
    strength = np.exp(np.clip(shares[..., None] * (here[..., None] * seen).sum(axis=-2), -3, 3))
    parts = (
        np.stack([strength.max(axis=-1), expit(surprise)], axis=-1)
        + np.concatenate([strength, seen[..., 0]], -1)[..., :2]
    )
    return parts / parts.sum(axis=-1)[..., None]


def test_what_is_computed_is_what_numpy_computes():
    np.testing.assert_allclose(
        learned(columns(VALUES), columns(SHARES), PICKED),
        learned(VALUES, SHARES, PICKED),
        rtol=1e-13,
    )


def test_draws_stay_next_to_one_another_where_an_operand_lacks_an_axis():
    product = columns(SHARES)[..., None, None] * PICKED
    assert product.shape == (7, 5, 3, 2)
    assert product.strides[0] == product.itemsize
    assert (SHARES[..., None, None] * PICKED).strides[0] != product.itemsize


def test_arrays_changed_in_place_are_the_same_arrays():
    array = columns(VALUES) + 0.0
    before = array
    array += 1.0
    np.add(array, 1.0, out=array)
    np.add.at(array, (0, 0, 0, 0), 1.0)
    array[1, 1, 1, 1] = 9.0
    assert array is before
    wanted = VALUES + 2.0
    wanted[0, 0, 0, 0] += 1.0
    wanted[1, 1, 1, 1] = 9.0
    np.testing.assert_allclose(array, wanted)


def test_products_of_matrices_and_operations_with_two_results_work():
    np.testing.assert_allclose(columns(VALUES) @ np.eye(2), VALUES)
    whole, rest = np.divmod(columns(VALUES), 1.0)
    np.testing.assert_allclose(whole + rest, VALUES)
    assert type(rest) is ColumnArray


def test_single_numbers_are_plain():
    assert type(columns(VALUES)[0, 0, 0, 0] + 1.0) is np.float64
    assert type(columns(VALUES).sum()) is np.float64


def test_what_was_handed_over_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        columns(VALUES)[0] = 1.0

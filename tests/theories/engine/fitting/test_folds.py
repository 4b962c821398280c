"""People are divided into folds by how well they are predicted, not by rounding."""

from __future__ import annotations

import numpy as np

from lakatos.theories.engine.fitting.fit import N_FOLDS, folds_of_people


def test_people_who_differ_by_rounding_only_are_divided_alike():
    log_p = np.tile([-3.0, -2.0, -3.0, -1.0, -3.0, -2.0, -4.0], (2, 1))
    noise = 1e-13 * np.random.default_rng(0).normal(size=log_p.shape)
    assert folds_of_people(log_p + noise).tolist() == folds_of_people(log_p).tolist()


def test_each_fold_holds_easy_and_hard_people():
    log_p = np.random.default_rng(1).normal(size=(1, 4 * N_FOLDS))
    fold = folds_of_people(log_p)
    order = np.argsort(log_p[0])
    assert fold[order].tolist() == list(range(N_FOLDS)) * 4

"""A theorist and an experimentalist with the signatures of AutoRA, on plain data frames.

`TheorySearch` is an estimator of the kind of scikit-learn, as AutoRA's `estimator_on_state` takes it;
`sample` chooses conditions as AutoRA's experimentalists do, for `on_state`. AutoRA itself is not needed here.

Reference:
    Musslick, Bartlett, Chandramouli, Dubova, Gobet, Griffiths, Hullman, King, Kutz, Lucas, Mahesh, Pestilli, Sloman &
    Holmes (2024), AutoRA: Automated research assistant for closed-loop empirical research. Journal of Open Source
    Software 9(104), 6839.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lakatos.domains import open_domain
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.option_code import option_named, two_readings
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.design import choose_trials
from lakatos.experiments.errors import TrialsError
from lakatos.flows.notebook.answers import PeoplesAnswers, adopt, table_of
from lakatos.flows.notebook.fitted import FittedTheory
from lakatos.flows.notebook.frames import as_pandas
from lakatos.flows.notebook.theory import people_s_choices, predict
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief, SearchStart
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.family import find_family

Array = NDArray[np.float64]
COUNT = "answers of this row"
N_STARTS = 3
"""Published theories from which a search sets out; the others are among its candidates."""
N_DRAWS = 64
"""People by whom a theory is compared with others, condition by condition."""


class TheorySearch(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Theorist for AutoRA: an estimator that searches the theories of a domain for the best prediction of choices.

    Args:
        domain: Kind of task; guessed from the columns of the conditions by default.
        columns: Meanings of columns that replace guessed ones; see `lakatos.adopt`. ``{"participant": "id"}`` names
            the column that identifies participants; without it they are not distinguished.
        candidates: Compositions of mechanisms that the search may try.
        answers_per_row: Number of responses behind a row whose observation is a share of choices of the second option.
        seed: Random seed of the search.
        n_workers: Theories that are fitted at the same time; does not change results.

    Attributes:
        theory_: The `lakatos.FittedTheory` that was found, with its name, claim, population (``people``) and source.

    Example:
        >>> theorist = TheorySearch(domain="intertemporal").fit(conditions, observations)  # doctest: +SKIP
        >>> print(theorist.theory_.claim)  # doctest: +SKIP
    """

    def __init__(
        self,
        domain: str = "",
        columns: Mapping[str, Any] | None = None,
        candidates: int = 40,
        answers_per_row: int = 0,
        seed: int = 0,
        n_workers: int = 2,
    ) -> None:
        self.domain, self.columns, self.candidates = domain, columns, candidates
        self.answers_per_row, self.seed, self.n_workers = answers_per_row, seed, n_workers

    def fit(self, conditions: Any, observations: Any) -> Self:
        """Search for a theory of the observations.

        Args:
            conditions: Rows of presented trials, with a column of participants if they are identified.
            observations: One column: the option chosen (its label, or its place from 0), or shares of choices.

        Raises:
            TrialsError: A row is not a trial or a response of the domain; the message names it.
            TheoryError: No candidate runs on them.
        """
        answers = self._answers(as_pandas(conditions), as_pandas(observations))
        family = find_family(answers.domain).without(answers.closed)
        grammar, seeds = family.grammar, family.seeds
        published = tuple(composition for _, composition in seeds.values())
        starts = tuple(SearchStart(None, composition) for composition in published[:N_STARTS])
        brief = AdvocateBrief(starts, published=published, n_candidates=self.candidates)
        with Laboratory(answers.domain, self.n_workers) as laboratory:
            found = search_compositions(
                laboratory, grammar, brief, answers.trials, np.random.default_rng(self.seed)
            )  # fmt: skip
        best = next((item.evaluated for item in found.submitted if item.evaluated), None)
        if best is None:
            raise TheoryError(
                "no candidate runs on these responses; score published theories to see why."
            )
        self.theory_ = FittedTheory(best.theory, answers.domain)
        self.n_options_ = answers.trials[0].n_options
        return self

    def predict(self, conditions: Any) -> Array:
        """Predict the share of the second option, or of more options the index of the likeliest: ``(n_rows, 1)``."""
        shares = self.predict_proba(conditions)
        chosen = shares[:, 1] if self.n_options_ == 2 else shares.argmax(axis=1)
        return np.asarray(chosen, dtype=np.float64)[:, None]

    def predict_proba(self, conditions: Any) -> Array:
        """Predict the share of choices of each option, ``(n_rows, n_options)``."""
        table = predict(self.theory_, as_pandas(conditions), columns=self._shown())
        labels = [str(label) for label in self.theory_.domain.options[: self.n_options_]]
        return np.asarray(table[labels], dtype=np.float64)

    def draws(self, conditions: Any) -> Array:
        """Choice probabilities of participants drawn from the population, ``(n_people, n_rows, n_options)``."""
        return people_s_choices(
            self.theory_, as_pandas(conditions), columns=self._shown(), n_draws=N_DRAWS
        )

    def _shown(self) -> dict[str, Any] | None:
        """Meanings of the columns of the stimulus, which are all that predictions need."""
        stimulus = dict(self.columns or {}).get("stimulus")
        return {"stimulus": stimulus} if stimulus else None

    def _answers(self, conditions: pd.DataFrame, observations: pd.DataFrame) -> PeoplesAnswers:
        if observations.shape[1] != 1:
            raise TrialsError(
                f"observations have {observations.shape[1]} columns; give one with the option chosen."
            )
        response = str(observations.columns[0])
        table = conditions.reset_index(drop=True).assign(
            **{response: observations.iloc[:, 0].to_numpy()}
        )
        columns = dict(self.columns or {})
        if not columns.get("participant"):
            as_shares = self.answers_per_row > 0
            columns |= {"participant": "", "order": "", "attributes": (), "count": COUNT}
            columns |= {("share" if as_shares else "response"): response}
            columns |= {"response": ""} if as_shares else {"share": ""}
            table[COUNT] = self.answers_per_row or 1
        else:
            columns |= {"response": response}
        if not columns.get("responses"):
            _check_orientation(response, table, self.domain, columns)
        return adopt(table, self.domain, columns)


def _check_orientation(
    response: str, shown: pd.DataFrame, domain: str, columns: Mapping[str, Any]
) -> None:
    """Refuse 0 and 1, or shares, under the name of the first option: predictions are shares of the second one.

    Raises:
        TrialsError: The column has the first option's name; the message states both readings.
    """
    if pd.to_numeric(shown[response], errors="coerce").isna().any():
        return  # labels say which option they are
    table = table_of(shown)
    found = describe_table(table, open_domain(domain) if domain else None).with_columns(columns)
    labels = (open_domain(domain or found.domain)).options if domain or found.domain else ()
    if option_named(response, RowCells(table.frame, table.name), found.mapping, labels) == 0:
        raise TrialsError(
            f"observations: {two_readings(response)} Or say it: columns={{'responses': {{'0': 1, '1': 0}}}}; "
            "predictions still are those of the second option."
        )


def sample(
    conditions: Any,
    models: Sequence[Any],
    num_samples: int = 1,
    *,
    random_state: int | None = None,
    random_share: float = 0.0,
) -> pd.DataFrame:
    """Select the conditions whose responses are most informative about the models; an experimentalist for AutoRA.

    The batch is chosen greedily by the expected information, in nats, of one participant's responses about the model.

    Args:
        conditions: Rows to choose from.
        models: Two or more. The population of a `TheorySearch` is taken into account; other models give the first
            option's probability by ``predict_proba``, or as 1 - ``predict``.
        num_samples: Number of conditions to choose.
        random_state: Random seed of the conditions that are chosen at random.
        random_share: Share of the conditions that are chosen at random.

    Raises:
        TrialsError: There are fewer than two models, or one predicts no probabilities.
        DesignError: There are fewer conditions than ``num_samples``.
    """
    table = as_pandas(conditions).reset_index(drop=True)
    if len(models) < 2:
        raise TrialsError(
            f"{len(models)} model is not enough to choose conditions by; give two or more, such as the last two."
        )
    chosen = choose_trials(
        [_choices_of(model, table) for model in models],
        np.full(len(models), -np.log(len(models))),
        n_trials=num_samples,
        rng=np.random.default_rng(random_state),
        random_share=random_share,
    )
    return table.iloc[list(chosen.rows)].reset_index(drop=True)


def _choices_of(model: Any, conditions: pd.DataFrame) -> Array:
    """Choice probabilities that a model predicts, ``(n_draws, n_conditions, n_options)``.

    Raises:
        TrialsError: A prediction is not a probability.
    """
    if isinstance(model, TheorySearch):
        return model.draws(conditions)
    if hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(conditions), dtype=np.float64)
    else:
        second = np.asarray(model.predict(conditions), dtype=np.float64).reshape(len(conditions))
        shares = np.stack([1 - second, second], axis=1)
    if not (np.isfinite(shares) & (shares >= 0) & (shares <= 1)).all():
        raise TrialsError(
            f"the model {type(model).__name__} predicts {float(shares.min()):.3g} to {float(shares.max()):.3g}, which "
            "are no probabilities of the second option; use a model that predicts these."
        )
    return shares[None]

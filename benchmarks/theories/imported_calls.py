"""Processor time of imported likelihood functions: a call in the sandbox beside a plain one, and a participant's fit.

    python benchmarks/run.py theories/imported_calls --hbayesdm COPY --gecco COPY

Of each model one participant. ``plain`` calls the same function in this process, one vector of parameters at a time;
``sandbox`` is what `theory fit` pays for the same vectors. ``ours`` fits the participant as `theory fit --each` does;
``ten_starts`` runs L-BFGS-B from ten points on the plain function, as GeCCo does. The models of PyMC and HSSM stand
here, on 200 random responses; those of GeCCo and hBayesDM need copies of their repositories.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.notebook.answers import table_of
from lakatos.flows.notebook.likelihood import imported_likelihood
from lakatos.theories.engine.sandbox.likelihoods import (
    CalledFunction,
    Columns,
    LikelihoodSandbox,
    LikelihoodSession,
    limits_of_calls,
)
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.wire import COLUMN, PARAMETER
from lakatos.theories.findings.exchange.likelihood import Likelihood, Said, vectors_within
from lakatos.theories.findings.likelihood_fit import represent_participants

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "imported_calls.json"
N_CALLS, N_STARTS, SEED = 256, 10, 0
PYMC = """
import pymc as pm

def build(sooner, later, delay, choice):
    with pm.Model() as model:
        k = pm.Beta("k", 1, 1)
        slope = pm.HalfNormal("slope", 1)
        value = later / (1 + k * delay) - sooner
        pm.Bernoulli("chosen", p=pm.math.invlogit(slope * value), observed=choice)
    return model
"""
HSSM = """
import hssm
model = hssm.HSSM(data, model="ddm")
"""


def random_responses() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Choices between amounts, and timed responses of two kinds, as text."""
    rng, n = np.random.default_rng(SEED), 200
    people = np.repeat(["a", "b"], n)
    choices = {
        "participant": people,
        "sooner": rng.integers(10, 20, 2 * n),
        "later": rng.integers(20, 40, 2 * n),
        "delay": rng.integers(1, 60, 2 * n),
        "choice": rng.integers(0, 2, 2 * n),
    }
    timed = {
        "participant_id": people,
        "rt": (0.3 + rng.gamma(2.0, 0.2, 2 * n)).round(3),
        "response": rng.choice([-1, 1], 2 * n),
    }
    return pd.DataFrame(choices).astype(str), pd.DataFrame(timed).astype(str)


def plain(item: Likelihood, columns: dict[str, Array]) -> Callable[[Array], float]:
    """The log likelihood of one participant by a plain call."""
    held: dict[str, Any] = {}
    exec(item.source, held)
    place = {name: number for number, name in enumerate(item.bounds)}
    function, roles = held[item.function], item.called.roles

    def value(vector: Array) -> float:
        given = [
            columns[name]
            if role == COLUMN
            else float(vector[place[name]])
            if role == PARAMETER
            else vector
            for name, role in roles
        ]
        with np.errstate(all="ignore"):
            returned = np.atleast_1d(function(*given))[None]
        return float(item.log_likelihood(returned)[0])

    return value


class Watched(LikelihoodSandbox):
    """A sandbox that adds up the processor time of its functions."""

    used = 0.0

    def open_function(
        self, function: CalledFunction, people: Sequence[Columns], limits: SandboxLimits
    ) -> LikelihoodSession:
        """The session, whose time is counted when it is closed."""
        session = super().open_function(function, people, limits)
        close = session.close

        def closing() -> None:
            self.used += session._child.processor_seconds()
            close()

        session.close = closing  # type: ignore[method-assign]
        return session


def measured(name: str, file: Path, text: str, table: pd.DataFrame, said: Said) -> dict[str, Any]:
    """One model."""
    item = imported_likelihood(file, text, table, said, 10.0).likelihood
    who, own = next(iter(item.people_in(table).items()))
    value, vectors = plain(item, own), vectors_within(item, N_CALLS)
    value(vectors[0])
    begun = time.process_time()
    expected = [value(vector) for vector in vectors]
    each = (time.process_time() - begun) / N_CALLS
    with (
        LikelihoodSandbox() as sandbox,
        sandbox.open_function(item.called, [own], limits_of_calls()) as session,
    ):
        session.together = item.vectorised
        session.values(0, vectors[:2])
        used, begun = session._child.processor_seconds(), time.process_time()
        found = item.log_likelihood(session.values(0, vectors))
        inside = session._child.processor_seconds() - used + time.process_time() - begun
    begun = time.process_time()
    with Watched() as sandbox:
        (draws,) = represent_participants(item, {who: own}, sandbox)
        ours = time.process_time() - begun + sandbox.used
    begun, rng, bounds = time.process_time(), np.random.default_rng(SEED), [*item.bounds.values()]
    ends = [
        minimize(lambda x: -value(x), [rng.uniform(*ends) for ends in bounds], bounds=bounds).fun
        for _ in range(N_STARTS)
    ]
    theirs = time.process_time() - begun
    return {
        "model": name,
        "n_trials": len(next(iter(own.values()))),
        "plain_ms": 1e3 * each,
        "sandbox_ms": 1e3 * inside / N_CALLS,
        "ratio": inside / N_CALLS / each,
        "largest_difference": float(np.abs(found - expected).max()),
        "ours_s": ours,
        "ten_starts_s": theirs,
        "ours_nats_beyond": float(draws.log_likelihood + min(ends)),
    }


def models(
    hbayesdm: Path | None, gecco: Path | None
) -> Iterator[tuple[str, Path, str, pd.DataFrame, Said]]:
    """Name, file, text, responses of each model, and how its arguments are read."""
    choices, timed = random_responses()
    yield "PyMC, hyperbolic", Path("pymc_model.py"), PYMC, choices, Said()
    yield "HSSM, ddm", Path("hssm_model.py"), HSSM, timed, Said()
    if hbayesdm is not None:
        for name, example in (("bandit2arm_delta", "bandit2arm"), ("dd_hyperbolic", "dd")):
            file = hbayesdm / "commons" / "models" / f"{name}.yml"
            table = table_of(hbayesdm / "commons" / "extdata" / f"{example}_exampleData.txt").frame
            yield f"hBayesDM, {name}", file, file.read_text(), table, Said()
    if gecco is not None:
        task = "multi_attribute_decision_making"
        file = gecco / "results" / task / "models" / "iter0.py"
        table = table_of(gecco / "data" / f"{task}.csv").frame
        yield (
            "GeCCo, products",
            file,
            file.read_text(),
            table,
            Said("cognitive_model1", "participant"),
        )


def main() -> None:
    """Measure each model, and write it as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--hbayesdm", type=Path)
    options.add_argument("--gecco", type=Path)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    rows = []
    for given in models(chosen.hbayesdm, chosen.gecco):
        rows.append(measured(*given))
        chosen.out.write_text(json.dumps({"models": rows, **provenance()}, indent=1) + "\n")
        print({key: round(v, 4) if isinstance(v, float) else v for key, v in rows[-1].items()})


if __name__ == "__main__":
    main()

"""The same responses in another form are read alike, or refused: ``python benchmarks/run.py forms/chains``.

A random data set of a kind of task is written in its plain form and in the form that a random chain of one to four
changes makes of it. Read are both: all responses with what was shown and what followed them must be equal, and in
seven chains of ten also the scores of all published theories; or the changed file is refused with a message. A third
result is a fault. Scores are computed once for each table of responses, so that a chain whose table is that of the
plain form to the last bit takes no further fit; both kinds are counted. Chains that were run before are not run again,
except for those with a third result and those whose scores are still to be compared.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forms.changes import GROUPS, FormedFile, plain_form
from benchmarks.forms.data_sets import KINDS, domain_of
from benchmarks.provenance import ROOT, provenance
from lakatos.experiments.adoption.adopt import adopt as adopt_table
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.packing import answers_digest
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ExperimentError, ImplausibleError
from lakatos.experiments.task import Trials
from lakatos.flows.notebook.answers import PeoplesAnswers, adopt
from lakatos.flows.notebook.fitted import draws_for, is_pooled
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import mean_score
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import Theory, read_program

RESULTS = ROOT / "benchmarks" / "raw" / "forms" / "chains.json"
DONE = RESULTS.with_suffix(".jsonl")
"""A line for each chain, so that several processes can run chains of different kinds of tasks."""
MOST_CHANGES = 4
EQUAL, THIRD = "equal", "third result"
MOST_DRAWS = 20
"""Data sets that are drawn until one is plausible in its plain form."""
CHAINS_OF_A_FILE = 4
"""Chains that begin with the same data set."""
NAMED_SHARE = 0.7
"""Share of chains in which the user names the kind of task."""
SCORED = 7
"""Chains of ten of each kind of task of which scores are compared, too, unless more are asked for."""
LARGEST_DIFFERENCE = 1e-6
"""Of scores in nats per response, relative, that another order of sums may make."""
REASONS: Mapping[str, str] = {
    "nothing says yet": "a column's meaning is asked for",
    "cannot be guessed": "the kind of task is asked for",
    "as columns.where says": "no row is left by where",
    "has no column": "a column is not there",
    "names no option that is known": "which cell is which option is asked for",
    "say in columns.responses": "which cell is which option is asked for",
    "may be an option": "whether 0 is an option is asked for",
    "is an option": "whether 0 is an option is asked for",
    "is no option": "a cell is no option",
    "is no number": "a cell is no number",
    "shows no such trial": "a row shows no possible trial",
    "there is no part": "the kind of task was guessed wrongly",
    "differs between people at one step": "steps of participants differ",
    "say which column holds": "a column's meaning is asked for",
    "Is it an option": "whether 0 is an option is asked for",
    "may be numbered from": "which cell is which option is asked for",
    "something lost": "whether a word is a loss is asked for",
    "one of two states": "a cell is no state",
    "outside of the range": "a number is out of range",
    "right key in no row": "whether a cell is a key is asked for",
    "says the same": "the order of rows cannot be known",
    "are not read; there are": "the form of the file is not read",
}
"""What a refusal says, and the reason that it states, by the first that fits."""


class ThirdResultError(AssertionError):
    """A file was read as something else, or failed without a message for its user."""


@dataclass(frozen=True)
class Chain:
    """A data set and what is done to its form."""

    kind: str
    seed: int
    changes: tuple[str, ...]
    is_named: bool
    """Whether the user names the kind of task."""

    @property
    def words(self) -> str:
        """For reports of failures."""
        named = "" if self.is_named else ", kind of task not named"
        return f"{self.kind}, seed {self.seed}{named}: {' -> '.join(self.changes)}"


@dataclass(frozen=True)
class Outcome:
    """What became of a changed file: equal, or the reason of the refusal."""

    reason: str
    message: str = ""
    changes: tuple[str, ...] = ()
    """Those that the data set allowed."""
    n_scores: int = 0
    """Theories whose scores were compared."""
    is_same_table: bool = False
    """Whether theories are fitted to the table of the plain form, to the last bit."""


def drawn_chain(kind: str, seed: int) -> Chain:
    """A chain of changes for a kind of task; equal seeds are equal chains."""
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    n_changes = int(rng.integers(1, MOST_CHANGES + 1))
    groups = np.sort(rng.choice(len(GROUPS), n_changes, replace=False))
    names = tuple(str(rng.choice(sorted(GROUPS[group]))) for group in groups)
    return Chain(kind, seed, names, bool(rng.random() < NAMED_SHARE))


@lru_cache(maxsize=64)
def plain_file(kind: str, seed: int) -> tuple[FormedFile, PeoplesAnswers]:
    """A random data set that is plausible, in its plain form, and its responses.

    Raises:
        ThirdResultError: The plain form is read as something else than what was simulated.
    """
    own, domain = KINDS[kind], domain_of(kind)
    for draw in range(MOST_DRAWS):
        file = own.draw(domain, np.random.default_rng([seed, draw]))
        table = table_of_frame("plain.csv", file.frame)
        mapping = describe_table(table, domain).with_columns(file.said).mapping
        try:
            found = adopt_table(table, mapping, domain)
        except ImplausibleError:
            continue
        if not are_equal(found.trials, (file.truth,), 1e-9):
            raise ThirdResultError(f"{kind}, seed {seed}: the plain form is read as something else")
        plain = plain_form(kind, file, mapping.model_dump(exclude_defaults=True))
        columns = tuple(file.frame.columns)
        return plain, PeoplesAnswers(domain, found.trials, closed=found.closed, columns=columns)
    raise ThirdResultError(f"{kind}, seed {seed}: no plausible data set in {MOST_DRAWS} draws")


def changed_file(file: FormedFile, chain: Chain) -> tuple[FormedFile, tuple[str, ...]]:
    """The file after the changes of a chain, and the changes that it allowed."""
    rng = np.random.default_rng([chain.seed, 1])
    made = []
    for name in chain.changes:
        change = next(group[name] for group in GROUPS if name in group)
        if (found := change(file, rng)) is not None:
            file = found
            made.append(name)
    return file, tuple(made)


def run_chain(chain: Chain, *, with_scores: bool = False) -> Outcome:
    """Read a data set in both forms and compare.

    Raises:
        ThirdResultError: The changed file is read as something else, or fails without a message.
    """
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        plain, wanted = plain_file(chain.kind, chain.seed // CHAINS_OF_A_FILE)
        file, made = changed_file(plain, chain)
        path = file.write(folder)
        try:
            found = adopt(
                path, file.domain if chain.is_named else _if_declared(file), file.columns()
            )
        except ExperimentError as error:
            return Outcome(reason_of(error), str(error), made)
        except Exception as error:
            raise ThirdResultError(f"{chain.words}: {type(error).__name__}: {error}") from error
        if found.domain.name != wanted.domain.name:
            raise ThirdResultError(f"{chain.words}: read as {found.domain.name}")
        if not are_equal(found.trials, wanted.trials, file.tolerance):
            raise ThirdResultError(
                f"{chain.words}: {first_difference(wanted.trials, found.trials)}"
            )
        n_scores = _check_scores(chain, wanted, found) if with_scores else 0
        is_same = table_of(chain.kind, found) == table_of(chain.kind, wanted)
        return Outcome("", changes=made, n_scores=n_scores, is_same_table=is_same)


def _if_declared(file: FormedFile) -> str:
    """A declared task is always named: its file is nowhere else."""
    return file.domain if file.domain.endswith(".toml") else ""


def reason_of(error: ExperimentError) -> str:
    """The reason of a refusal in a few words."""
    words = str(error)
    if isinstance(error, ImplausibleError):
        name = re.search(r"--accept (\w+)", words)
        return f"implausible ({name[1]})" if name else "implausible"
    return next((reason for said, reason in REASONS.items() if said in words), "other")


@lru_cache(maxsize=1)
def laboratory(kind: str) -> Laboratory:
    """One sandbox for all theories of a kind of task, whose start would take longer than a score."""
    return Laboratory(domain_of(kind), 1)


_SCORES: dict[tuple[str, str], dict[str, float]] = {}
"""Scores that were computed, by kind of task and digest of the table of responses."""


def scores_of(kind: str, answers: PeoplesAnswers) -> dict[str, float]:
    """Log score per response of published theories, as `lakatos.score` computes it, of those that run."""
    key = (kind, table_of(kind, answers))
    if key not in _SCORES:
        _SCORES[key] = _computed_scores(kind, answers)
    return _SCORES[key]


@lru_cache(maxsize=1)
def published(kind: str) -> dict[str, Theory]:
    """The published theories of a kind of task."""
    family = find_family(domain_of(kind))
    return {name: read_program(family.program(name)) for name in family.seeds}


def table_of(kind: str, answers: PeoplesAnswers) -> str:
    """Digest of the table that published theories are fitted to."""
    return answers_digest(answers.taught(published(kind).values()))


def _computed_scores(kind: str, answers: PeoplesAnswers) -> dict[str, float]:
    own, forms = laboratory(kind), published(kind)
    trials = answers.taught(forms.values())
    populations = own.people_of(list(forms.values()), [{}] * len(forms), trials)
    fitted = {
        name: form.with_people(people, pooled=is_pooled(answers))
        for (name, form), people in zip(forms.items(), populations, strict=True)
        if not isinstance(people, TheoryError)
    }
    found = own.scores_of(list(fitted.values()), trials, draws_for(fitted.values(), answers.domain))
    return {
        name: mean_score([item.left_out for item in items]).value
        for name, items in zip(fitted, found, strict=True)
        if not isinstance(items, TheoryError)
    }


def _check_scores(chain: Chain, plain: PeoplesAnswers, changed: PeoplesAnswers) -> int:
    """Compare the scores of all published theories in both forms; the number of theories.

    Raises:
        ThirdResultError: A score differs, or a theory runs on one form only.
    """
    wanted, other = scores_of(chain.kind, plain), scores_of(chain.kind, changed)
    largest = LARGEST_DIFFERENCE * max([1.0, *map(abs, wanted.values())])
    # Within this difference the order is that of the scores, or a tie.
    different = [
        f"{name} {wanted.get(name)} and {other.get(name)}"
        for name in sorted({*wanted, *other})
        if not abs(wanted.get(name, np.nan) - other.get(name, np.nan)) <= largest
    ]
    if different or not wanted:
        raise ThirdResultError(f"{chain.words}: scores differ: {'; '.join(different)}")
    return len(wanted)


# Comparing ------------------------------------------------------------------------------------


def rows_of(trials: Sequence[Trials]) -> list[tuple[Any, ...]]:
    """Each participant's responses as a table of what was shown, the response and what followed.

    Numbers of participants and trials do not count; the order of responses counts where something follows them.
    """
    found = []
    for item in trials:
        arrays = {
            name: np.asarray(array, dtype=np.float64)
            for name, array in sorted(item.stimuli.arrays.items())
        }
        if item.feedback:  # what would have followed other choices is in no file
            arrays = {
                name: array
                for name, array in arrays.items()
                if name not in ("payoff", "next_state")
            }
        flat = [array.reshape(len(item.stimuli), -1) for array in arrays.values()]
        shown = np.concatenate(flat, axis=1)[item.trial]
        followed = [
            np.asarray(values, dtype=np.float64) for _, values in sorted(item.feedback.items())
        ]
        rows = np.column_stack([shown, item.response, item.count, *followed]) + 0.0
        for who in range(item.n_participants):
            own = rows[item.participant == who]
            if not item.feedback:
                own = own[np.lexsort(own.round(6).T[::-1])]
            found.append((item.n_options, item.n_people, item.pooled, own))
    # By rounded numbers, so that what rounding makes of a number does not change the order.
    return sorted(found, key=lambda one: (one[3].shape, one[3].round(6).tolist()))


def are_equal(first: Sequence[Trials], second: Sequence[Trials], tolerance: float) -> bool:
    """Whether two data sets hold the same responses of the same number of participants in as many experiments."""
    if len(first) != len(second):
        return False
    pairs = list(zip(rows_of(first), rows_of(second), strict=False))
    return len(rows_of(first)) == len(rows_of(second)) and all(
        one[:3] == other[:3]
        and one[3].shape == other[3].shape
        and np.allclose(one[3], other[3], rtol=tolerance, atol=max(tolerance, 1e-12))
        for one, other in pairs
    )


def first_difference(wanted: Sequence[Trials], found: Sequence[Trials]) -> str:
    """What differs, in words, for whoever looks for the fault."""
    sizes = [
        [(item.n_participants, item.n_responses, item.n_options) for item in own]
        for own in (wanted, found)
    ]
    if sizes[0] != sizes[1]:
        return f"participants, responses and options {sizes[0]} are {sizes[1]}"
    for one, other in zip(rows_of(wanted), rows_of(found), strict=True):
        if one[3].shape != other[3].shape:
            return f"a participant's {one[3].shape[0]} responses are {other[3].shape[0]}"
        wrong = np.argwhere(~np.isclose(one[3], other[3], rtol=1e-9, atol=1e-9))
        if len(wrong):
            row, column = wrong[0]
            was, now = one[3][row, column], other[3][row, column]
            return f"{len(wrong)} numbers differ, as {was:g} is {now:g} in column {column}"
    return "nothing but what rounding makes"


# The benchmark --------------------------------------------------------------------------------


def main() -> None:
    """Run chains of all kinds of tasks, and count what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chains", type=int, default=2_000)
    parser.add_argument("--only", nargs="+", default=list(KINDS), help="kinds of tasks")
    parser.add_argument("--scored", type=int, default=SCORED, help="of ten chains, those scored")
    parser.add_argument(
        "--again", action="store_true", help="forget the chains that were run before"
    )
    given = parser.parse_args()
    DONE.parent.mkdir(parents=True, exist_ok=True)
    if given.again:
        DONE.unlink(missing_ok=True)
    for place, kind in enumerate(KINDS):
        known = _done()
        for seed in range((given.chains - place - 1) // len(KINDS) + 1):
            is_scored = seed % 10 < given.scored  # chains that share a data set
            if kind in given.only and not _is_done(known.get(f"{kind} {seed}"), is_scored):
                _run_and_write(kind, seed, is_scored)
        laboratory(kind).close()
        laboratory.cache_clear()
        _SCORES.clear()
    _write(_done())


def _is_done(known: Mapping[str, Any] | None, is_scored: bool) -> bool:
    if known is None or known["reason"] == THIRD:
        return False
    return bool(known["scored"]) or known["reason"] != EQUAL or not is_scored


def _run_and_write(kind: str, seed: int, is_scored: bool) -> None:
    """Run a chain and write a line about it."""
    try:
        outcome = run_chain(drawn_chain(kind, seed), with_scores=is_scored)
        reason, told = outcome.reason or EQUAL, outcome.message
    except ThirdResultError as error:
        outcome = Outcome(THIRD)
        reason, told = THIRD, str(error)
        print(told, flush=True)
    line = {
        "kind": kind,
        "seed": seed,
        "reason": reason,
        "told": told,
        "scored": outcome.n_scores,
        "same table": outcome.is_same_table,
    }
    with DONE.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _done() -> dict[str, dict[str, Any]]:
    """The chains that were run, by kind of task and seed; of one that was run again the last outcome."""
    lines = DONE.read_text().splitlines() if DONE.exists() else []
    return {f"{item['kind']} {item['seed']}": item for item in map(json.loads, lines)}


def _scored(chains: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many of the chains were equal in the scores of all theories, too, and of these, how many by which table."""
    scored = [item for item in chains if item["scored"]]
    return {
        "equal in scores, too": len(scored),
        "of these, fitted to another table": sum(not item["same table"] for item in scored),
        "scores compared": sum(item["scored"] for item in scored),
    }


def _write(done: Mapping[str, Mapping[str, Any]]) -> None:
    """A row for each kind of task and each reason of a refusal."""
    reasons = Counter(item["reason"] for item in done.values())
    cells = []
    for kind in KINDS:
        counts = Counter(item["reason"] for item in done.values() if item["kind"] == kind)
        n_refused = counts.total() - counts[EQUAL] - counts[THIRD]
        cells.append(
            {
                "kind": kind,
                "chains": counts.total(),
                "equal": counts[EQUAL],
                "refused": n_refused,
                "third results": counts[THIRD],
                **_scored([item for item in done.values() if item["kind"] == kind]),
            }
        )
    summary = {
        "chains": len(done),
        "equal": reasons.pop(EQUAL, 0),
        "third results": reasons.pop(THIRD, 0),
        "refused": reasons.total(),
        "refused:": dict(reasons.most_common()),
        **_scored(list(done.values())),
        "kinds": cells,
    }
    RESULTS.write_text(json.dumps({**provenance(), **summary}, indent=1) + "\n")

"""Statements of language models held against the records of a campaign: hundreds of true ones and of false ones.

    python benchmarks/run.py models/statements                 # half a minute

The records are those of the golden campaign (two cycles, simulated people), as the arbiter is shown
them. True values are computed here from scores and answers, as a reader of the exhibits would state
them; false ones are true ones with one thing wrong. ``by_digits`` is what looking for the digits of
the words in the cited records lets through, as earlier versions did.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.roles.brief import CycleCase, case_of
from lakatos.flows.run.run import open_run
from lakatos.language_models.pins import active
from lakatos.theories.discovery.roles.answer import Statement, TypedClaim
from lakatos.theories.discovery.roles.exhibit import Exhibit, records_of, share_text
from lakatos.theories.discovery.roles.overview import SHARE_DECIMALS
from lakatos.theories.discovery.roles.rule import pins_of
from lakatos.theories.discovery.roles.statement import checked, contradictions
from lakatos.theories.discovery.roles.typed_claim import PEOPLE

GOLDEN = ROOT / "tests" / "golden" / "format-1.tar.gz"
RULES = active(pins_of(), "arbiter", 1)
EACH = 25
"""Statements of each kind."""


@dataclass(frozen=True)
class Known:
    """One number of the campaign as it can be stated."""

    claim: dict[str, Any]
    cites: tuple[str, ...]
    exact: float
    """In the unit of the claim, before rounding."""
    decimals: int


@dataclass(frozen=True)
class World:
    """What the arbiter is shown, and the numbers in it."""

    shown: tuple[Exhibit, ...]
    known: tuple[Known, ...]

    def of(self, *quantities: str) -> list[Known]:
        """Numbers of these quantities."""
        return [item for item in self.known if item.claim["quantity"] in quantities]


@contextmanager
def golden_case() -> Iterator[tuple[Any, CycleCase]]:
    """The golden campaign and its last case file."""
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(GOLDEN) as archive:
            archive.extractall(place, filter="data")
        with open_run(Path(place) / "runs" / "simulated", n_workers=1) as run:
            for item in run.trace.journal.events():
                if item.kind != "intent":
                    run.recall(run.trace.read(item))
            yield run, case_of(run.evidence, run.state.theories.diagnoses[-1])


def world() -> World:
    """The exhibits of the golden case, and every number of its records as it can be stated."""
    with golden_case() as (run, case):
        exhibits = (case.file, *case.background, *case.evidence)
        marks = {item.title.partition(",")[0]: f"#{item.reference[:12]}" for item in exhibits}
        names = {theory: run.state.theories.name(theory) for theory in (case.loser, case.leader)}
        known = list(_of_case(run.state.theories.diagnoses[-1].record, names, marks["case file"]))
        for experiment in run.state.experiments.collected:
            trials = run.trials(experiment)
            scores = {
                name: run.state.theories.scores[theory, experiment].record
                for theory, name in names.items()
            }
            cited = dict.fromkeys([PEOPLE, *scores], marks[f"experiment {experiment}"])
            known += _of_experiment(experiment, trials, scores, cited, _rows(case, experiment))
        return World(exhibits, tuple(known))


def _rows(case: CycleCase, experiment: str) -> list[int]:
    """Rows of the trials beside whose responses predictions are shown."""
    (table,) = (
        item for item in case.evidence if item.title == f"predictions in experiment {experiment}"
    )
    numbers = (line.partition(":")[0] for line in table.value)
    return [int(number) - 1 for number in numbers if number.isdigit()]


def _claim(quantity: str, of: str, unit: str, **more: Any) -> dict[str, Any]:
    empty = {"against": "", "experiment": "", "trial": 0, "option": "", "direction": "is"}
    return {"quantity": quantity, "of": of, "unit": unit, **empty, **more}


def _of_case(record: Any, names: dict[Any, str], mark: str) -> Iterator[Known]:
    loser, leader = names[record.loser], names[record.leader]
    for of, against, direction in ((loser, leader, "below"), (leader, loser, "above")):
        pair = {"against": against}
        score = _claim("score", of, "nats per choice", direction=direction, **pair)
        yield _known(score, (mark,), record.difference)
        yield _known(
            _claim("standard_error", of, "nats per choice", **pair), (mark,), record.standard_error
        )


def _of_experiment(
    experiment: str, trials: Any, scores: dict[str, Any], cited: dict[str, str], rows: list[int]
) -> Iterator[Known]:
    counts = trials.counts.sum(axis=(0, 2))
    shares = {name: np.asarray(score.proportions) for name, score in scores.items()}
    shares[PEOPLE] = trials.proportions[:, 1]
    for name, score in scores.items():
        place = {"experiment": experiment}
        means = score.left_out.scores.mean
        yield _known(_claim("score", name, "nats per choice", **place), (cited[name],), means)
        yield _known(_claim("squared_error", name, "none", **place), (cited[name],), score.error)
    for row in rows:
        place = {"experiment": experiment, "trial": row + 1}
        yield Known(
            _claim("answers", PEOPLE, "count", **place), (cited[PEOPLE],), float(counts[row]), 0
        )
        seen = {name: values[row] for name, values in shares.items() if _is_shown(values[row])}
        for name, value in seen.items():
            second, shown = {**place, "option": "second"}, round(value, SHARE_DECIMALS)
            claim = _claim("share", name, "share", **second)
            yield Known(claim, (cited[name],), shown, SHARE_DECIMALS)
            claim = _claim("share", name, "percent", **second)
            yield Known(claim, (cited[name],), 100 * shown, SHARE_DECIMALS - 2)
            for other in sorted(set(seen) - {name}):
                gap = round(shown - round(seen[other], SHARE_DECIMALS), SHARE_DECIMALS)
                pair = {**second, "against": other, "direction": "above"}
                if gap > 0:
                    claim = _claim("share", name, "share", **pair)
                    yield Known(claim, (cited[name],), gap, SHARE_DECIMALS)


def _is_shown(share: float) -> bool:
    """Whether a share stands in a table as a number."""
    return share_text(share)[0] not in "<>"


def _shown(value: float) -> float:
    return float(f"{value:.3g}")


def _decimals(value: float) -> int:
    """Decimals of a number with three significant digits."""
    return 3 if value == 0 else max(0, 2 - int(np.floor(np.log10(abs(value)))))


def _known(claim: dict[str, Any], cites: tuple[str, ...], value: float) -> Known:
    return Known(claim, cites, _shown(value), _decimals(value))


# --- what is said ----------------------------------------------------------------------------------------------------


def stated(known: Known, rng: np.random.Generator, **changes: Any) -> Statement:
    """A number in a sentence and as a claim, to as many digits as were shown or one less, with ``changes``."""
    decimals = known.decimals - int(known.decimals > SHARE_DECIMALS and rng.random() < 0.5)
    if known.claim["direction"] != "is" and round(known.exact, decimals) == 0:
        decimals = known.decimals
    return _statement(known, {"value": f"{known.exact:.{decimals}f}", **changes})


def _statement(known: Known, changes: dict[str, Any]) -> Statement:
    cites = changes.pop("cites", known.cites)
    claim = TypedClaim(**{**known.claim, **changes})
    where = f" on trial {claim.trial}" if claim.trial else ""
    where += f" of experiment {claim.experiment}" if claim.experiment else ""
    against = f" {claim.direction} {claim.against}" if claim.against else ""
    text = f"The {claim.quantity} of {claim.of}{where} is {claim.value} {claim.unit}{against}."
    return Statement(text=text, cites=cites, claims=(claim,))


Wrong = Callable[[World, np.random.Generator], Statement | None]


def _drawn(items: list[Known], rng: np.random.Generator) -> Known:
    return items[int(rng.integers(len(items)))]


def _with_number_of(known: Known, other: Known) -> Statement | None:
    """The claim of one number with the value of another; None where that would be true."""
    value = f"{other.exact:.{known.decimals}f}"
    if abs(float(value) - known.exact) <= 2 * 10.0**-known.decimals or float(value) <= 0:
        return None
    return _statement(known, {"value": value})


def _another(
    world: World, rng: np.random.Generator, quantity: str, same: set[str], other: str
) -> Statement | None:
    """A number that is right for another ``other``, all of ``same`` being equal."""
    known = _drawn([item for item in world.of(quantity) if item.claim["direction"] == "is"], rng)
    others = [
        item
        for item in world.of(quantity)
        if item.claim[other] != known.claim[other]
        and all(item.claim[name] == known.claim[name] for name in same)
    ]
    return _with_number_of(known, _drawn(others, rng)) if others else None


def swapped(world: World, rng: np.random.Generator) -> Statement | None:
    """Winner and loser exchanged."""
    known = _drawn([item for item in world.of("score", "share") if item.claim["against"]], rng)
    changes = {"of": known.claim["against"], "against": known.claim["of"]}
    return stated(known, rng, **changes)


def wrong_direction(world: World, rng: np.random.Generator) -> Statement | None:
    """Above in place of below."""
    known = _drawn([item for item in world.of("score", "share") if item.claim["against"]], rng)
    return stated(known, rng, direction="below" if known.claim["direction"] == "above" else "above")


def wrong_sign(world: World, rng: np.random.Generator) -> Statement | None:
    """A minus too many, or one too few."""
    known = _drawn(
        [item for item in world.of("score", "share", "squared_error") if not item.claim["against"]],
        rng,
    )
    if known.exact == 0:
        return None
    return stated(known, rng, value=f"{-known.exact:.{known.decimals}f}")


def another_trial(world: World, rng: np.random.Generator) -> Statement | None:
    """The share of another trial."""
    return _another(
        world, rng, "share", {"of", "against", "experiment", "unit", "direction"}, "trial"
    )


def another_experiment(world: World, rng: np.random.Generator) -> Statement | None:
    """The score or error in another experiment."""
    quantity = ("score", "squared_error")[int(rng.integers(2))]
    known = _drawn([item for item in world.of(quantity) if item.claim["experiment"]], rng)
    others = [item for item in world.of(quantity) if item.claim["of"] == known.claim["of"]
              and item.claim["experiment"] not in ("", known.claim["experiment"])]  # fmt: skip
    other = _drawn(others, rng)
    if abs(other.exact - known.exact) <= 10.0**-known.decimals:
        return None
    return _statement(known, {"value": f"{other.exact:.{known.decimals}f}"})


def another_theory(world: World, rng: np.random.Generator) -> Statement | None:
    """What the other theory predicts, or people chose."""
    return _another(
        world, rng, "share", {"trial", "against", "experiment", "unit", "direction"}, "of"
    )


def wrong_unit(world: World, rng: np.random.Generator) -> Statement | None:
    """Percent for a share, or nats for anything."""
    known = _drawn([item for item in world.of("share", "score", "answers") if item.exact], rng)
    units = {"share": "percent", "percent": "share"}
    return stated(known, rng, unit=units.get(known.claim["unit"], "none"))


def beyond_the_last_digit(world: World, rng: np.random.Generator) -> Statement | None:
    """One more digit than anybody was shown, or the last one off by one."""
    known = _drawn(
        [item for item in world.of("share", "score", "squared_error") if item.exact > 0], rng
    )
    if rng.random() < 0.5:
        return stated(
            known,
            rng,
            value=f"{known.exact:.{known.decimals}f}" + ("" if known.decimals else ".") + "37",
        )
    return stated(known, rng, value=f"{known.exact + 10.0**-known.decimals:.{known.decimals}f}")


def wrong_quantity(world: World, rng: np.random.Generator) -> Statement | None:
    """A right number of something else: an error as a score, a number of answers as a trial's share."""
    quantity, other = (
        ("squared_error", "score"),
        ("score", "squared_error"),
        ("share", "answers"),
    )[int(rng.integers(3))]
    known = _drawn([item for item in world.of(quantity) if item.claim["direction"] == "is"], rng)
    units = {"score": "nats per choice", "squared_error": "none", "answers": "count"}
    return stated(known, rng, quantity=other, unit=units[other])


def words_for_digits(world: World, rng: np.random.Generator) -> Statement | None:
    """A number in words, which nothing computes."""
    known = _drawn(world.of("share", "score"), rng)
    words = (
        "forty percent",
        "half of all answers",
        "two thirds",
        "twice as much",
        "a tenth of a nat",
    )
    text = f"{known.claim['of']} has {words[int(rng.integers(len(words)))]} more than anybody."
    return Statement(text=text, cites=known.cites)


def invented_citation(world: World, rng: np.random.Generator) -> Statement | None:
    """A record that nobody was shown."""
    return stated(_drawn(list(world.known), rng), rng, cites=(f"#{rng.bytes(6).hex()}",))


def uncited_record(world: World, rng: np.random.Generator) -> Statement | None:
    """A right number, resting on a record that does not hold it."""
    known = _drawn(list(world.known), rng)
    others = [
        f"#{item.reference[:12]}"
        for item in world.shown
        if item.reference and f"#{item.reference[:12]}" not in known.cites
    ]
    return stated(known, rng, cites=(others[int(rng.integers(len(others)))],))


def far_rounding(world: World, rng: np.random.Generator) -> Statement | None:
    """So few digits that it says something else: 1 for 0.6, 0 for 0.04."""
    known = _drawn(world.of("share", "score", "squared_error"), rng)
    if known.claim["unit"] == "percent":
        value = f"{10 * round(known.exact / 10)}"
        far = abs(float(value) - known.exact) > 3
    else:
        value = f"{known.exact:.0f}"
        far = abs(float(value) - known.exact) > max(0.03, 0.1 * abs(known.exact))
    if not far or (known.claim["direction"] != "is" and float(value) == 0):
        return None
    return _statement(known, {"value": value})


def error_with_a_direction(world: World, rng: np.random.Generator) -> Statement | None:
    """A standard error told as a difference."""
    return stated(_drawn(world.of("standard_error"), rng), rng, direction="above")


def another_option(world: World, rng: np.random.Generator) -> Statement | None:
    """The share of the other option."""
    known = _drawn([item for item in world.of("share") if not item.claim["against"]], rng)
    half = 50 if known.claim["unit"] == "percent" else 0.5
    return None if abs(known.exact - half) < 0.02 * half else stated(known, rng, option="first")


def no_experiment(world: World, rng: np.random.Generator) -> Statement | None:
    """A number of one experiment told as that of all."""
    items = [item for item in world.of("score", "squared_error") if item.claim["experiment"]]
    return stated(_drawn(items, rng), rng, experiment="")


def nobody(world: World, rng: np.random.Generator) -> Statement | None:
    """A number of people or a theory told as that of nobody, or of a theory that is not there."""
    known = _drawn([item for item in world.known if not item.claim["against"]], rng)
    return stated(known, rng, of=("", "Regret", "people and Tallying")[int(rng.integers(3))])


def lost_sign_of_percent(world: World, rng: np.random.Generator) -> Statement | None:
    """A share that is told as a percentage a hundred times too small, or the other way round."""
    known = _drawn([item for item in world.of("share") if item.exact > 0.02], rng)
    is_share = known.claim["unit"] == "share"
    return _statement(
        known,
        {"value": f"{known.exact:.{known.decimals}f}", "unit": "percent" if is_share else "share"},
    )


FALSE: dict[str, Wrong] = {
    item.__name__: item
    for item in (
        swapped, wrong_direction, wrong_sign, another_trial, another_experiment, another_theory, wrong_unit,
        beyond_the_last_digit, wrong_quantity, words_for_digits, invented_citation, uncited_record,
        far_rounding, error_with_a_direction, another_option, no_experiment, nobody, lost_sign_of_percent,
    )
}  # fmt: skip


def true_statements(
    world: World, rng: np.random.Generator, n: int
) -> Iterator[tuple[str, Statement]]:
    """True statements, as many of each kind of number as there can be."""
    kinds: dict[str, list[Known]] = {}
    for item in world.known:
        what = f"{item.claim['quantity']} in {item.claim['unit']}"
        kinds.setdefault(f"{what}{', a difference' if item.claim['against'] else ''}", []).append(
            item
        )
    names = sorted(kinds)
    for number in range(n):
        kind = names[number % len(names)]
        yield kind, stated(_drawn(kinds[kind], rng), rng)


def false_statements(
    world: World, rng: np.random.Generator, each: int
) -> Iterator[tuple[str, Statement]]:
    """``each`` false statements of every kind."""
    for kind, make in FALSE.items():
        made = (make(world, rng) for _ in range(100 * each))
        found = [statement for statement in made if statement is not None]
        assert len(found) >= each, f"the campaign has too few numbers for {kind}"
        yield from ((kind, statement) for statement in found[:each])


def judged(world: World, statement: Statement) -> tuple[bool, bool, tuple[str, ...]]:
    """Whether a statement is supported, whether looking for its digits lets it through, and what is wrong with it."""
    found = checked(statement, RULES, world.shown)
    digits = not contradictions(statement.text, statement.cites, RULES, records_of(world.shown))
    return found.supported, digits, found.problems


def main() -> None:
    """Make statements, judge them, and write down what came of it."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seed", type=int, default=7)
    default = ROOT / "benchmarks" / "raw" / "models" / "statements.json"
    options.add_argument("--out", type=Path, default=default)
    chosen = options.parse_args()
    where, rng = world(), np.random.default_rng(chosen.seed)
    result: dict[str, Any] = {**provenance(), "seed": chosen.seed}
    made = {
        "true": list(true_statements(where, rng, EACH * len(FALSE))),
        "false": list(false_statements(where, rng, EACH)),
    }
    for name, statements in made.items():
        n, supported, digits = Counter[str](), Counter[str](), Counter[str]()
        examples = []
        for kind, statement in statements:
            is_supported, by_digits, problems = judged(where, statement)
            n[kind] += 1
            supported[kind] += is_supported
            digits[kind] += by_digits
            if is_supported != (name == "true"):
                examples.append({"kind": kind, "text": statement.text, "problems": problems})
        total = sum(n.values())
        result[name] = {
            "n": total,
            "supported": sum(supported.values()),
            "by_digits": sum(digits.values()),
            "kinds": {
                kind: {"n": n[kind], "supported": supported[kind], "by_digits": digits[kind]}
                for kind in n
            },
            "misjudged": examples[:10],
        }
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    sys.exit(
        bool(
            result["false"]["supported"] or result["true"]["supported"] < 0.98 * result["true"]["n"]
        )
    )

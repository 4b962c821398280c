"""Predictions of a theory's claim: which properties can be stated, how they are read, and what trying them found."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakatos.theories.errors import ClaimContradictedError, TheorySourceError
from lakatos.theories.language.parsing import parse

PROPERTIES = {
    "increasing": "{change}: that never lowers, and somewhere raises, the probability of choosing it",
    "decreasing": "{change}: that never raises, and somewhere lowers, the probability of choosing it",
    "non_decreasing": "{change}: that never lowers the probability of choosing it",
    "non_increasing": "{change}: that never raises the probability of choosing it",
    "ignores": "{change}: that changes no probability",
    "depends_on": "{change}: that changes some probability",
    "reverses": "{change}: that exchanges the probabilities of the two options",
    "deterministic": "apart from lapses people always choose the same option, or either one by chance",
}
"""Known properties, in words."""
KEYS = ("property", "in", "of", "beyond")
SIDES = ("first", "second")


@dataclass(frozen=True)
class ClaimPrediction:
    """One statement about what a theory does."""

    property: str
    variation: str = ""
    """Variation; empty for what holds of single trials."""
    of: str = ""
    """Whether only the first or only the second option is varied; both, each by itself, when empty."""
    beyond: float | str = ""
    """Least size of what is varied, from which the prediction holds: a number, or the name of a parameter; empty for
    any."""

    def words(self, meaning: str = "") -> str:
        """The prediction as a sentence."""
        text = PROPERTIES[self.property].format(change=meaning or self.variation)
        limit = f", where it is at least {self.beyond} to begin with" if self.beyond != "" else ""
        return text + limit

    def to_literal(self) -> dict[str, Any]:
        """The prediction as a source declares it."""
        pairs = {
            "property": self.property,
            "in": self.variation,
            "of": self.of,
            "beyond": self.beyond,
        }
        return {name: value for name, value in pairs.items() if value != ""}


@dataclass(frozen=True)
class ClaimCounterexample:
    """A pair of trials, and a person, of which a prediction is not true."""

    before: str
    after: str
    """The changed trial."""
    parameters: Mapping[str, float]
    probability_before: float
    """Probability of the option that the change concerns, before the change."""
    probability_after: float

    def words(self) -> str:
        """The counterexample as a part of a sentence."""
        values = ", ".join(f"{name}={value:.6g}" for name, value in self.parameters.items())
        return (
            f"from {self.probability_before:.6g} on [{self.before}] to {self.probability_after:.6g} on [{self.after}]"
            + (f" with {values}" if values else "")
        )


@dataclass(frozen=True)
class TriedPrediction:
    """One prediction after it was tried."""

    prediction: ClaimPrediction
    held: bool
    n_pairs: int
    n_draws: int
    change: tuple[float, float]
    """Lowest and highest change of probability that was seen."""
    sentence: str
    counterexample: ClaimCounterexample | None = None


@dataclass(frozen=True)
class ClaimReport:
    """All predictions of one theory after they were tried."""

    theory: str
    tried: tuple[TriedPrediction, ...]

    @property
    def passed(self) -> bool:
        """Whether the code contradicts none of them."""
        return all(item.held for item in self.tried)

    def raise_for_contradiction(self) -> None:
        """Raise `ClaimContradictedError` with the first counterexample; nothing when there is none."""
        for item in self.tried:
            if not item.held:
                raise ClaimContradictedError(item.sentence, item.counterexample)

    def to_text(self) -> str:
        """A line for each prediction."""
        lines = [
            f"{self.theory}: {len(self.tried)} prediction{'s' * (len(self.tried) != 1)} tried on its code."
        ]
        lines += [
            f"  {'ok    ' if item.held else 'FAILED'}  {item.sentence}" for item in self.tried
        ]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for records and for advocates that are programs."""
        return {
            "theory": self.theory,
            "passed": self.passed,
            "predictions": [
                {
                    "prediction": item.prediction.to_literal(),
                    "held": item.held,
                    "n_pairs": item.n_pairs,
                    "n_draws": item.n_draws,
                    "change": list(item.change),
                    "sentence": item.sentence,
                    "counterexample": None
                    if item.counterexample is None
                    else {
                        "before": item.counterexample.before,
                        "after": item.counterexample.after,
                        "parameters": dict(item.counterexample.parameters),
                        "probability_before": item.counterexample.probability_before,
                        "probability_after": item.counterexample.probability_after,
                    },
                }
                for item in self.tried
            ],
        }


def read_predictions(source: str) -> tuple[ClaimPrediction, ...]:
    """The literal ``PREDICTIONS`` of a source; none where it is left out.

    Raises:
        TheorySourceError: It is no list of known properties; the message says what is known.
    """
    for node in parse(source).body:
        if isinstance(node, ast.Assign) and [getattr(item, "id", "") for item in node.targets] == [
            "PREDICTIONS"
        ]:
            where = f"PREDICTIONS at line {node.lineno}"
            try:
                literal = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                raise TheorySourceError(
                    f"{where} is not a literal; write names and numbers, no expressions."
                ) from None
            if not isinstance(literal, list | tuple):
                raise TheorySourceError(
                    f'{where} must be a list such as [{{"property": "increasing", "in": ...}}].'
                )
            return tuple(
                _read(item, f"{where}, number {number}")
                for number, item in enumerate(literal, start=1)
            )
    return ()


def _read(item: Any, where: str) -> ClaimPrediction:
    known = ", ".join(PROPERTIES)
    if not isinstance(item, dict) or item.get("property") not in list(PROPERTIES):
        raise TheorySourceError(f"{where}: {item!r} states no known property. Known: {known}.")
    unknown = [str(key) for key in item if key not in KEYS]
    if unknown:
        raise TheorySourceError(
            f"{where}: unknown entries {', '.join(unknown)}; a prediction has {', '.join(KEYS)}."
        )
    varied, of, beyond = item.get("in", ""), item.get("of", ""), item.get("beyond", "")
    if not isinstance(varied, str) or (varied == "") != (item["property"] == "deterministic"):
        raise TheorySourceError(
            f'{where}: {item["property"]!r} needs {"no" if varied else "an"} entry "in" that names what is varied.'
        )
    if of not in ("", *SIDES):
        raise TheorySourceError(
            f'{where}: "of" is {of!r}; write "first" or "second", or leave it out for both.'
        )
    if isinstance(beyond, bool) or not isinstance(beyond, int | float | str):
        raise TheorySourceError(
            f'{where}: "beyond" is {beyond!r}; write a number or the name of a parameter.'
        )
    return ClaimPrediction(item["property"], varied, of, beyond)

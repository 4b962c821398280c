"""Worlds to learn from: truths drawn from the grammar, people who follow them, and the answers as prompts show them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from textwrap import dedent, indent
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, with_random_sides
from lakatos.theories.discovery.roles.exhibit import essential_source
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism
from lakatos.theories.language.prior import Prior, draw_population, parse_prior

Array = NDArray[np.float64]
SPACES: dict[str, dict[str, Any]] = {
    "multiattribute": {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]},
    "risky": {},
}
"""The spaces of trials that the model knows: those of these studies, and no other."""
TASKS = tuple(SPACES)
N_PEOPLE = 25
N_BANK = 4000
"""Trials of a space from which worlds draw theirs."""
MOST_CHARACTERS = 6000
"""Of a source, as answers of revisers are limited."""
N_FEATURES = 12
"""Of a trial, before the share."""
_TRIAL = re.compile(r"^trial \d+: (.*?); (\d+) answers[^;]*; people ([0-9.e-]+)", re.MULTILINE)
_PRODUCTS = re.compile(r"A ([\d ]+) \| B ([\d ]+)")
_OUTCOME = re.compile(r"(-?[\d.]+) (?:with ([\d.]+)%|for sure)")


@dataclass(frozen=True)
class ShownAnswers:
    """A table of answers as a network reads it."""

    domain: str
    rows: Array
    """``(n_trials, N_FEATURES + 1)``: properties of each trial, and the share of people who chose the second option."""


@dataclass(frozen=True)
class DrawnTruth:
    """A truth, its form in the contract, and the people who follow it."""

    domain: str
    composition: Composition
    source: str
    """With declared ranges."""
    people: Mapping[str, Prior]


def _is_told_apart(mechanism: Mechanism) -> bool:
    """Whether a mechanism has no memory: shares of trials say nothing about what came before."""
    return not mechanism.learn


def draw_truth(domain: str, rng: np.random.Generator, *, published: float = 0.25) -> DrawnTruth:
    """A composition drawn by lot, or a published one, of people with small differences, none of whom remembers."""
    family = FAMILIES[domain]
    forms = [form for _, form in family.seeds.values()]
    while True:
        drawn = family.grammar.compose(rng)
        if rng.random() < published:
            drawn = forms[int(rng.integers(len(forms)))]
        if not all(map(_is_told_apart, family.grammar.used(drawn))):
            continue
        source = contract_source(family.grammar, drawn)
        if len(source) <= MOST_CHARACTERS:
            return DrawnTruth(domain, drawn, source, _people(family.grammar, drawn, rng))


def _people(
    grammar: Grammar, composition: Composition, rng: np.random.Generator
) -> dict[str, Prior]:
    """Numbers from the inner four fifths of their ranges, with small differences between people."""
    found = {}
    for name, literal in grammar.parameters(composition).items():
        prior = parse_prior(name, literal)
        low, high = prior.latent(np.array([prior.low, prior.high]))
        width = high - low
        center = rng.uniform(low + 0.1 * width, high - 0.1 * width)
        found[name] = prior.narrowed(float(center), float(0.05 * width))
    if "lapse" in found:
        found["lapse"] = replace(found["lapse"], kind="normal", center=0.02, spread=0.01)
    return found


def contract_source(
    grammar: Grammar, composition: Composition, people: Mapping[str, Prior] | None = None
) -> str:
    """A composition as a theory in the contract: claim, parameters, helpers that are called, ``choose``.

    Args:
        grammar: Of the composition.
        composition: Form.
        people: Distributions to declare instead of the grammar's.
    """
    used = grammar.used(composition)
    claims = "; ".join(item.claim for item in used)
    declared = grammar.parameters(composition)
    if people is not None:
        declared = {name: people[name].to_literal() for name in declared}
    lines = "".join(parameter_line(name, literal) for name, literal in declared.items())
    body = "".join(code_block(item.code) for item in used)
    return essential_source(
        f'"""{grammar.head(composition)}: people {claims}."""\n\nPARAMETERS = {{\n{lines}}}\n\n\n'
        f"{helpers_text(grammar)}def choose(parameters, trials, xp):\n"
        f"{code_block(grammar.before)}{body}{code_block(grammar.after)}"
    )


def parameter_line(name: str, literal: Mapping[str, Any]) -> str:
    """One entry of ``PARAMETERS``, without words."""
    kept = {key: value for key, value in literal.items() if key not in ("unit", "meaning")}
    return f'    "{name}": {kept},\n'


def code_block(code: str) -> str:
    """Statements as lines of a function."""
    text = dedent(code).strip("\n")
    return indent(text, "    ") + "\n" if text else ""


def helpers_text(grammar: Grammar) -> str:
    """Functions placed before ``choose``."""
    return dedent(grammar.helpers).strip("\n") + "\n\n\n" if grammar.helpers else ""


def composition_in(domain: str, source: str) -> Composition | None:
    """The composition whose form in the contract a source is; None where it is none of the grammar's."""
    grammar = FAMILIES[domain].grammar
    told, code = source.partition('"""\n')[::2]
    by_claim = [item for item in grammar.mechanisms if item.claim in told]
    by_code = [
        item for item in grammar.mechanisms if (block := code_block(item.code)) and block in code
    ]
    for named in (
        [item for item in by_claim if item in by_code or not item.code.strip()],
        by_claim,
        by_code,
    ):
        slots: dict[str, tuple[str, ...]] = {}
        for item in named:
            slots[item.slot] = (*slots.get(item.slot, ()), item.name)
        composition = Composition(slots)
        try:
            if contract_source(grammar, composition).strip() == source.strip():
                return composition
        except Exception:
            continue
    return None


@cache
def trial_bank(domain: str) -> tuple[Stimuli, Array]:
    """Trials of a space with random sides, and what the network reads of each."""
    rng = np.random.default_rng(7)
    stimuli = DOMAINS[domain].candidates(SPACES[domain], rng, N_BANK)
    stimuli = with_random_sides(DOMAINS[domain], stimuli, rng)
    told = [DOMAINS[domain].describe(stimuli, row) for row in range(len(stimuli))]
    return stimuli, np.array([trial_features(domain, words) for words in told])


def trial_features(domain: str, words: str) -> list[float]:
    """Properties of a trial, read from the words in which a prompt tells it."""
    if domain == "multiattribute":
        found = _PRODUCTS.search(words)
        if found is None:
            raise ValueError(f"no two products in {words!r}")
        a, b = (np.array([float(item) / 3 for item in side.split()]) for side in found.groups())
        return [*a, *b, *(b - a)]
    own: list[float] = []
    for side in words.split(" | ", 1):
        outcomes = [
            (float(amount), float(p) / 100 if p else 1.0) for amount, p in _OUTCOME.findall(side)
        ]
        (best, p_best), (worst, _) = outcomes[0], outcomes[-1]
        mean = sum(amount * p for amount, p in outcomes)
        own += [
            best / 20,
            worst / 20,
            p_best,
            mean / 20,
            np.log1p(max(best, 0)),
            np.log1p(max(worst, 0)),
        ]
    return own


def simulated_answers(truth: DrawnTruth, n_trials: int, rng: np.random.Generator) -> ShownAnswers:
    """Shares of `N_PEOPLE` people who follow a truth, on trials drawn by lot."""
    stimuli, features = trial_bank(truth.domain)
    rows = rng.choice(len(stimuli), n_trials, replace=False)
    shares = answered_shares(truth, stimuli.take(rows), rng)
    return ShownAnswers(truth.domain, np.column_stack([features[rows], shares]))


def answered_shares(truth: DrawnTruth, stimuli: Stimuli, rng: np.random.Generator) -> Array:
    """Share of simulated people who choose the second option, ``(n_trials,)``."""
    probabilities = expected_choices(truth, stimuli, rng)
    return np.asarray((rng.random(probabilities.shape) < probabilities).mean(axis=0))


def expected_choices(
    truth: DrawnTruth, stimuli: Stimuli, rng: np.random.Generator, n_people: int = N_PEOPLE
) -> Array:
    """``(n_people, n_trials)`` probability that each person chooses the second option.

    The source is the grammar's own text, so it runs here and not in a sandbox.
    """
    drawn = draw_population(truth.people, 1 << (n_people - 1).bit_length(), rng)
    people = {name: values[:n_people, None] for name, values in drawn.items()}
    space: dict[str, Any] = {}
    exec(compile(truth.source, "truth", "exec"), space)
    with np.errstate(all="ignore"):
        found = space["choose"](people, stimuli.arrays, np)
    return np.asarray(
        np.broadcast_to(np.asarray(found, dtype=np.float64), (n_people, len(stimuli)))
    )


def shown_answers(text: str) -> ShownAnswers:
    """The answers that a prompt shows, whatever else it says.

    Raises:
        ValueError: It shows none of a domain that the network knows.
    """
    found = _TRIAL.findall(text)
    domain = "multiattribute" if found and _PRODUCTS.search(found[0][0]) else "risky"
    rows = [[*trial_features(domain, words), float(share)] for words, _, share in found]
    if not rows:
        raise ValueError("the prompt shows no answers")
    return ShownAnswers(domain, np.array(rows))


def some_rows(answers: ShownAnswers, most: int, rng: np.random.Generator) -> Array:
    """At most so many rows of the answers, drawn by lot."""
    return answers.rows[rng.permutation(len(answers.rows))[:most]]


def mechanisms_of(grammar: Grammar, composition: Composition) -> set[str]:
    """Mechanisms that say something."""
    return {f"{item.slot}:{item.name}" for item in grammar.used(composition) if not item.is_null}


def all_snippets(domains: Sequence[str] = TASKS) -> list[str]:
    """Pieces that sources of these grammars are made of, each once."""
    pieces = ['"""', ": people ", "; ", '."""\n\nPARAMETERS = {\n', "}\n\n\n", " + ",
              "def choose(parameters, trials, xp):\n"]  # fmt: skip
    for domain in domains:
        grammar = FAMILIES[domain].grammar
        pieces += [name for _, name in grammar.heads]
        pieces += [item.name for item in grammar.mechanisms]
        pieces += [item.claim for item in grammar.mechanisms]
        pieces += [code_block(item.code) for item in grammar.mechanisms]
        pieces += [parameter_line(name, prior) for item in grammar.mechanisms
                   for name, prior in item.parameters.items()]  # fmt: skip
        pieces += [
            text.strip("\n") + "\n\n\n" for text in re.split(r"\n{3,}", helpers_text(grammar))
        ]
        pieces += [code_block(grammar.before), code_block(grammar.after)]
    return list(dict.fromkeys(piece for piece in pieces if piece.strip("\n")))

"""A theory: a claim about behaviour that can be run.

A `TheoryProgram` is text. `read_program` reads its claim and its declared parameters without running it, and
`checks.check.load_theory` then proves in the sandbox that it behaves as a theory must. The source looks like
this::

    \"\"\"Weighted additive: people add up the ratings, each weighted by the validity of its cue.\"\"\"
    PARAMETERS = {"sensitivity": {"prior": "log_uniform", "low": 0.1, "high": 20.0, "unit": "per point"}}

    def choose(parameters, trials, xp):
        difference = trials["ratings"][:, 1] - trials["ratings"][:, 0]
        evidence = (trials["validities"] * difference).sum(axis=-1)
        return 1 / (1 + xp.exp(-parameters["sensitivity"] * evidence))

``parameters[name]`` is ``(n_draws, 1)``, every array of ``trials`` has first axis ``n_trials``, and the answer is the
probability of the second option, ``(n_draws, n_trials)``, or of every option, ``(n_draws, n_trials, n_options)``.

A theory of people who learn, or who depend on what they did before, carries a *state* from trial to trial::

    def start(parameters, trials, xp):
        return {"value": xp.zeros((1, 1, trials["available"].shape[-1]))}

    def choose(parameters, trials, xp, state):
        strength = xp.exp(parameters["sensitivity"][..., None] * state["value"])
        return strength / strength.sum(axis=-1)[..., None]

    def learn(parameters, trials, xp, state, response, feedback):
        surprise = feedback["reward"][..., None] - state["value"]
        return {"value": state["value"] + parameters["rate"][..., None] * response * surprise}

``trials`` then holds what each person sees now, first axis ``n_sequences``; ``response`` is 1 at the option chosen,
``(n_draws or 1, n_sequences, n_options)``; each array of ``feedback`` is ``(n_draws or 1, n_sequences)``.

Numbers of people may depend on their age, group or condition, where a parameter's entry says so: see
`theories.language.dependence`.

What a theory says may depend on its numbers. A source that lists ``CLAUSES`` is named and told by these at the
distributions of its parameters, whatever its docstring says; see `theories.language.account`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.language.account import (
    RANDOM,
    TheoryAccount,
    Wording,
    account_of,
    read_clauses,
)
from lakatos.theories.language.dependence import OwnCenter
from lakatos.theories.language.dependence_words import with_dependences
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.prior import Prior, draw_population, parse_prior
from lakatos.traces.digest import Digest, digest_bytes

Array = NDArray[np.float64]
DECLARED = ("PARAMETERS", "COMPOSITION", "CLAUSES", "POOLED")
"""What a source may declare as literals."""
NO_CENTERS: Mapping[str, OwnCenter] = MappingProxyType({})
PUBLISHED = "published"
"""Author of theories that the package takes from the literature."""
LAPSE = RANDOM
"""Name by which a theory declares its share of random choices."""


@dataclass(frozen=True)
class TheoryProgram:
    """Text that claims to be a theory, with who wrote it and from what."""

    source: str
    author: str
    parents: tuple[Digest, ...] = ()

    @property
    def digest(self) -> Digest:
        """Address of the text: equal sources are one theory, whoever wrote them."""
        return digest_bytes(self.source.encode())


@dataclass(frozen=True)
class Theory:
    """A program that was read; to enter, it passes all checks: see `theories.engine.checks.check.load_theory`."""

    program: TheoryProgram
    name: str
    claim: str
    priors: Mapping[str, Prior]
    """How people differ: as declared, or as learned from answers."""
    composition: Mapping[str, Any] | None
    """Mechanisms per slot when the grammar wrote it, read from the source's ``COMPOSITION``."""
    learns: bool = False
    """Whether it carries a state from trial to trial, so that predictions depend on what came before."""
    broadcasts: bool = True
    """False when the theory only runs one draw at a time."""
    checks: tuple[str, ...] = field(default=(), compare=False)
    """What `load_theory` proved, a sentence each."""
    head: str = ""
    """Name of the form, to which `account_of` adds what the numbers make of it."""
    stated: str = ""
    """Claim of the docstring, to which `account` adds what was learned."""
    clauses: tuple[Wording, ...] = ()
    """What it says at which numbers; none where the docstring's claim is all there is."""
    pooled: bool = False
    """Whether its ranges were learned from people who could not be told apart."""
    lacking: frozenset[str] = frozenset()
    """What its clauses need and no trial that was asked has; see `theories.language.account.Wording`."""
    silent: frozenset[str] = frozenset()
    """Clauses, by what they say, that change nothing on the trials that were asked, or that its code contradicts."""

    @property
    def digest(self) -> Digest:
        """Digest of the source: the theory's address."""
        return self.program.digest

    @cached_property
    def short(self) -> str:
        """Name and the beginning of the digest, to tell namesakes apart."""
        return f"{self.name} ({self.digest[:6]})"

    def with_people(self, people: Mapping[str, Prior], *, pooled: bool = False) -> Theory:
        """The same theory of people who are distributed in another way over its ranges; its digest is the form's.

        Args:
            people: By parameter; the others stay as they are.
            pooled: Whether they were learned from people who could not be told apart.
        """
        priors = {name: people.get(name, prior) for name, prior in self.priors.items()}
        fitted = replace(self, priors=priors, pooled=pooled)
        renewed = fitted.account()
        return replace(fitted, name=renewed.name, claim=renewed.claim)

    def with_recorded(
        self,
        people: Mapping[str, tuple[float, float]],
        doubts: Mapping[str, float],
        centers: Mapping[str, OwnCenter] = NO_CENTERS,
        *,
        pooled: bool = False,
    ) -> Theory:
        """The same theory of the people of a `TheoryFitted`; on parameters that it leaves out no trial depended."""
        learned = {
            name: replace(
                prior.narrowed(*people[name], doubts.get(name, 0.0)), own=centers.get(name)
            )
            if name in people
            else replace(prior, idle=True)
            for name, prior in self.priors.items()
        }
        return self.with_people(learned, pooled=pooled)

    def account(self, priors: Mapping[str, Prior] | None = None) -> TheoryAccount:
        """What it says, at its declared distributions or at those of a newer fit."""
        used = priors or self.priors
        if not self.clauses:
            return with_dependences(TheoryAccount(self.name, self.stated, ()), used)
        account = account_of(
            self.head,
            self.clauses,
            used,
            pooled=self.pooled,
            lacking=self.lacking,
            silent=self.silent,
        )
        return with_dependences(account, used)

    def population(self, n_draws: int, *, lapse: bool = True) -> dict[str, Array]:
        """``n_draws`` people, the same for every caller.

        Args:
            n_draws: A power of two.
            lapse: With False the declared share of random choices is set to its lowest meaning, 0.
        """
        rng = np.random.default_rng(int(self.digest[:16], 16))
        drawn = draw_population(self.priors, n_draws, rng)
        if not lapse and LAPSE in drawn:
            drawn[LAPSE] = np.zeros(n_draws)
        return drawn or {"": np.zeros(n_draws)}


def read_program(program: TheoryProgram) -> Theory:
    """Claim, parameters and composition, read from the syntax tree; nothing is run and nothing is proved.

    Raises:
        TheorySourceError: It does not parse, or lacks its claim, ``PARAMETERS`` or ``choose``.
        PriorError: A parameter's prior is not proper.
    """
    try:
        tree = parse(program.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise TheorySourceError(
            f"the source does not parse{f' at line {line}' if line else ''}: {error}."
        ) from None
    docstring = ast.get_docstring(tree)
    name, _, claim = (docstring or "").partition(":")
    if not name.strip() or not claim.strip():
        raise TheorySourceError(
            'the source has no claim. Begin it with a docstring of the form """Name: claim.""".'
        )
    literals = _literals_of(tree)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    _check_parts(literals, functions)
    priors = {
        str(key): parse_prior(str(key), value) for key, value in literals["PARAMETERS"].items()
    }
    head, words = (" ".join(text.split()) for text in (name, claim))
    clauses = read_clauses(literals.get("CLAUSES", ()), priors)
    pooled = bool(literals.get("POOLED"))
    theory = Theory(
        program,
        head,
        words,
        priors,
        literals.get("COMPOSITION"),
        "learn" in functions,
        head=head,
        stated=words,
        clauses=clauses,
        pooled=pooled,
    )
    found = theory.account()
    return replace(theory, name=found.name, claim=found.claim)


def _literals_of(tree: ast.Module) -> dict[str, Any]:
    """What a source declares as literals, by name."""
    literals: dict[str, Any] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if not isinstance(target, ast.Name) or target.id not in DECLARED:
            continue
        try:
            literals[target.id] = ast.literal_eval(node.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise TheorySourceError(
                f"{target.id} at line {node.lineno} is not a literal; write numbers and strings, no expressions."
            ) from None
    return literals


def _check_parts(literals: Mapping[str, Any], functions: set[str]) -> None:
    """Refuse a source that lacks a part of a theory, or has one without the other."""
    if "choose" not in functions:
        raise TheorySourceError("the source defines no function `choose(parameters, trials, xp)`.")
    if not isinstance(literals.get("PARAMETERS"), dict):
        raise TheorySourceError(
            "the source declares no PARAMETERS; write `PARAMETERS = {}` for a theory without any."
        )
    if ("start" in functions) != ("learn" in functions):
        raise TheorySourceError(
            "the source defines one of `start` and `learn` without the other; a theory that learns needs "
            "`start(parameters, trials, xp)` and `learn(parameters, trials, xp, state, response, feedback)`."
        )
    composition = literals.get("COMPOSITION")
    if composition is not None and not _is_composition(composition):
        raise TheorySourceError(
            'COMPOSITION must name mechanisms by slot, `{"slot": ["mechanism", ...], ...}`; leave it out of a theory '
            "that the grammar did not write."
        )


def _is_composition(value: Any) -> bool:
    """Whether ``value`` has the form of a composition, whatever the grammar."""
    return isinstance(value, dict) and all(
        isinstance(slot, str)
        and isinstance(names, list | tuple)
        and all(isinstance(name, str) for name in names)
        for slot, names in value.items()
    )

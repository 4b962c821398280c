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

A theory of learning, or of dependence on earlier responses, carries a *state* from trial to trial::

    def start(parameters, trials, xp):
        return {"value": xp.zeros((1, 1, trials["available"].shape[-1]))}

    def choose(parameters, trials, xp, state):
        strength = xp.exp(parameters["sensitivity"][..., None] * state["value"])
        return strength / strength.sum(axis=-1)[..., None]

    def learn(parameters, trials, xp, state, response, feedback):
        surprise = feedback["reward"][..., None] - state["value"]
        return {"value": state["value"] + parameters["rate"][..., None] * response * surprise}

``trials`` then holds the arrays that each participant sees now, first axis ``n_sequences``; ``response`` is 1 at the
option chosen, ``(n_draws or 1, n_sequences, n_options)``; arrays of ``feedback`` are ``(n_draws or 1, n_sequences)``.

Parameters may depend on a participant's age, group or condition, if the parameter's entry declares it: see
`theories.language.dependence`.

The claim of a theory may depend on its parameters. If a source lists ``CLAUSES``, its name and claim are made from them
at the distributions of its parameters, and its docstring is not used; see `theories.language.account`.
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
"""Names that a source may declare as literals."""
NO_CENTERS: Mapping[str, OwnCenter] = MappingProxyType({})
PUBLISHED = "published"
"""Author of theories that the package takes from the literature."""
LAPSE = RANDOM
"""Name by which a theory declares its share of random choices."""


@dataclass(frozen=True)
class TheoryProgram:
    """Source of a theory that has not been read, with its author and its parents."""

    source: str
    author: str
    parents: tuple[Digest, ...] = ()

    @property
    def digest(self) -> Digest:
        """Digest of the text: equal sources are one theory, also of different authors."""
        return digest_bytes(self.source.encode())


@dataclass(frozen=True)
class Theory:
    """A program that was read; before it is scored, `theories.engine.checks.check.load_theory` must admit it."""

    program: TheoryProgram
    name: str
    claim: str
    priors: Mapping[str, Prior]
    """Distribution of each parameter over participants: as declared, or as estimated from responses."""
    composition: Mapping[str, Any] | None
    """Mechanisms per slot when the grammar wrote it, read from the source's ``COMPOSITION``."""
    learns: bool = False
    """Whether it carries a state from trial to trial, so that predictions depend on earlier trials."""
    broadcasts: bool = True
    """Whether the theory runs with all draws at once, not only one draw at a time."""
    checks: tuple[str, ...] = field(default=(), compare=False)
    """Results of `load_theory`, a sentence for each check."""
    head: str = ""
    """Name of the form; `account_of` adds what its parameters imply."""
    stated: str = ""
    """Claim of the docstring; `account` adds what the estimates imply."""
    clauses: tuple[Wording, ...] = ()
    """Clauses of the claim by ranges of parameters; none if the docstring is the whole claim."""
    pooled: bool = False
    """Whether its population was estimated from participants who are not identified."""
    lacking: frozenset[str] = frozenset()
    """Properties that its clauses need and no presented trial has; see `theories.language.account.Wording`."""
    silent: frozenset[str] = frozenset()
    """Clauses, by their text, that have no effect on the presented trials, or that its code contradicts."""

    @property
    def digest(self) -> Digest:
        """Digest of the source: the theory's address."""
        return self.program.digest

    @cached_property
    def short(self) -> str:
        """Name and the beginning of the digest, to distinguish theories of one name."""
        return f"{self.name} ({self.digest[:6]})"

    def with_people(self, people: Mapping[str, Prior], *, pooled: bool = False) -> Theory:
        """Return the theory with another population; its digest is that of the form.

        Args:
            people: Distributions by parameter; other parameters keep theirs.
            pooled: Whether they were estimated from participants who are not identified.
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
        """Return the theory with the population of a `TheoryFitted`, which omits parameters without effect."""
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
        """Name and claim at its declared distributions, or at those of a newer fit."""
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
        """Draw ``n_draws`` participants, the same for every caller.

        Args:
            n_draws: A power of two.
            lapse: Whether lapses occur; with False, the declared lapse rate is set to 0.
        """
        rng = np.random.default_rng(int(self.digest[:16], 16))
        drawn = draw_population(self.priors, n_draws, rng)
        if not lapse and LAPSE in drawn:
            drawn[LAPSE] = np.zeros(n_draws)
        return drawn or {"": np.zeros(n_draws)}


def read_program(program: TheoryProgram) -> Theory:
    """Read claim, parameters and composition from the syntax tree; nothing is run and nothing is checked.

    Raises:
        TheorySourceError: The source does not parse, or lacks its claim, ``PARAMETERS`` or ``choose``.
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
    """Literals that a source declares, by name."""
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
    """Return whether ``value`` has the form of a composition of any grammar."""
    return isinstance(value, dict) and all(
        isinstance(slot, str)
        and isinstance(names, list | tuple)
        and all(isinstance(name, str) for name in names)
        for slot, names in value.items()
    )

"""Typical requests of roles for a check before a study: real prompts, schemas and rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from pydantic import BaseModel

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.language_models.client import TokenSampling
from lakatos.language_models.pins import active
from lakatos.language_models.serving.shape import PromptShape
from lakatos.language_models.structured import answer_schema
from lakatos.theories.discovery.roles.answer import (
    Audit,
    CaseReading,
    Reflection,
    Steelman,
    Successor,
    WrittenFact,
    WrittenPitfall,
)
from lakatos.theories.discovery.roles.exhibit import Exhibit, trials_exhibit, variations_exhibit
from lakatos.theories.discovery.roles.lens import LENSES
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import (
    CONTEXT_TOKENS,
    RoleQuestion,
    pinned_request,
    request_of,
)
from lakatos.theories.discovery.roles.rule import pins_of
from lakatos.theories.discovery.roles.statement import checked
from lakatos.theories.discovery.roles.tryout import program_of
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.theory import read_program
from lakatos.traces.digest import digest_of

CASE = {
    "loser": "Tallying",
    "leader": "Take the best",
    "behind_nats_per_choice": 0.0312,
    "standard_error": 0.0051,
    "claim_1": "where most cues point the other way, people choose the second option 0.214 (0.110 to 0.318) more often",
}
"""A case as roles read it, made up."""


CLAIMS = (
    Exhibit("A", {"claim": "people count cues", "parameters": 2}),
    Exhibit("B", {"claim": "people guess"}),
)
CASE_FILE = Exhibit("case file", CASE, digest_of(CASE))
SharedQuestion = tuple[RoleQuestion[BaseModel], float]
"""A question and how often it is asked in a cycle."""


def role_shapes(
    domain: str = "multiattribute", *, context_tokens: int = CONTEXT_TOKENS, max_tokens: int = 1024
) -> tuple[PromptShape, ...]:
    """One request of each prompt, as a campaign in ``domain`` sends it; ``share`` is by how often in a cycle."""
    pins = pins_of()
    shapes = []
    for question, share in _role_questions(domain):
        rules = active(pins, question.role, 1)
        sampling = TokenSampling(max_tokens=max_tokens)
        request, _ = request_of(
            question, rules, sampling, secret="shape", context_tokens=context_tokens
        )
        sent = pinned_request(request, rules).model_copy(
            update={"answer_schema": answer_schema(question.answer)}
        )
        shapes.append(
            PromptShape(
                f"{question.role}: {question.prompt.name}",
                sent,
                question.answer,
                share,
                partial(unusable, shown=question.exhibits),
            )
        )
    return tuple(shapes)


def unusable(answer: BaseModel, shown: Sequence[Exhibit]) -> str:
    """Explain why the laboratory could not use an answer of the right form; empty if it could.

    Args:
        answer: Answer of a role.
        shown: What the role was shown.
    """
    match answer:
        case CaseReading(statements=statements) | Steelman(case=statements):
            found = [checked(item, (), shown) for item in statements]
            borne_out = any(item.supported for item in found)
            return "" if borne_out else "; ".join(found[0].problems) or "it makes no claim"
        case Successor(source=source):
            try:
                check_source(source)
                read_program(program_of(answer, "", ()))
            except TheoryError as error:
                return f"its draft is refused: {error}"
        case Audit(predictions=predictions):
            return "" if predictions else "it states no prediction"
        case Reflection(pitfalls=pitfalls, facts=facts):
            marks = [mark for cites in _citations(pitfalls, facts) for mark in cites]
            known = all(any(item.is_cited_by(mark) for item in shown) for mark in marks)
            return "" if known else "it cites a record that was not shown"
    return ""


def _citations(
    pitfalls: Sequence[WrittenPitfall], facts: Sequence[WrittenFact]
) -> list[tuple[str, ...]]:
    return [*(item.cites for item in pitfalls), *(item.cites for item in facts)]


def _role_questions(domain: str) -> list[SharedQuestion]:
    """Questions to the roles around new theories in a domain."""
    where, family = DOMAINS[domain], FAMILIES[domain]
    stimuli = where.probes(np.random.default_rng(0))[0]
    sources = [
        Exhibit(f"source of {name}", family.program(name).source) for name in list(family.seeds)[:2]
    ]
    facts = (trials_exhibit(where, stimuli), variations_exhibit(where))
    rows: tuple[tuple[str, str, str, tuple[Exhibit, ...], type[BaseModel], float], ...] = (
        ("arbiter", "arbiter", "Say what is wrong.", (CASE_FILE, *sources), CaseReading, 1.0),
        (
            "advocate",
            "steelman",
            "Make the strongest case for the loser.",
            (CASE_FILE, *sources),
            Steelman,
            1.0,
        ),
        (
            "reviser",
            "reviser",
            LENSES["mechanism"].task,
            (sources[0], *facts, CASE_FILE),
            Successor,
            len(LENSES),
        ),
        (
            "auditor",
            "auditor",
            "State what this claim predicts.",
            (CLAIMS[1], facts[1]),
            Audit,
            2.0,
        ),
        (
            "reflector",
            "reflector",
            "Write down what this cycle taught.",
            (CASE_FILE, *facts),
            Reflection,
            1.0,
        ),
    )
    return [
        (RoleQuestion(role, read_prompt(prompt), "shape", words, shown, answer, ()), share)
        for role, prompt, words, shown, answer, share in rows
    ]

"""Responses that have nothing to do with a trial, in tasks whose responses are outcomes of a grid."""

from __future__ import annotations

from lakatos.domains.kit.parameter import uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism


def lapse(
    name: str,
    code: str,
    clause: str,
    source: str,
    *,
    meaning: str,
    unit: str = "share of answers",
    most: float = 0.4,
) -> Mechanism:
    """The mechanism of a domain in which some responses are random.

    Args:
        name: Name of the mechanism.
        code: Statements that mix random responses into ``p``, by ``parameters["lapse"]``.
        clause: Its claim, continuing "people ..."; ``{lapse~}`` stands for the share.
        source: Publication.
        meaning: Meaning of the parameter.
        unit: Unit of the parameter.
        most: Its largest value.
    """
    return Mechanism(
        slot="lapse",
        name=name,
        code=code,
        parameters={"lapse": uniform(0.0, most, unit, meaning)},
        wording=Wording(clause=clause),
        is_null=True,
        source=source,
    )

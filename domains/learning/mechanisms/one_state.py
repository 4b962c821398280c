"""The grammar of learning for tasks with one state only: tables of one row, and nothing about second stages.

Bandits and reversals have no second stage. The general texts keep tables of all states for them and pass rewards on
to first picks that there are not; all of that adds zeros. Left out here, a walk takes half of the time or less, and
every answer stays the same to the last digit. Only the laboratory's own processes are given these texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakatos.experiments.task import Stimuli
from lakatos.theories.language.grammar import Mechanism, QuickerWriting

TABLES = (
    ("xp.zeros((1, 1, trials['states'].shape[-1], ", "xp.zeros((1, 1, 1, "),
    ("return (here[..., None] * table).sum(axis=-2)", "return table[..., 0, :]"),
    ("xp.zeros((1, 1, trials['states'].shape[-1]))", "xp.zeros((1, 1, 1))"),
    ('xp.zeros((1, 1, trials["states"].shape[-1], ', "xp.zeros((1, 1, 1, "),
    ('(trials["state"][..., None] == trials["states"]) * 1.0', "xp.ones((1, 1, 1))"),
    ("here[..., None] * response[..., None, :]", "response[..., None, :]"),
)
"""Phrases of the general texts, and what they are where there is one state."""
NO_NEW_GAME = (
    "    fresh, new = start(parameters, trials, xp), trials",
    '    if not (trials["block_start"] > 0).any():\n        return state\n'
    "    fresh, new = start(parameters, trials, xp), trials",
)
"""Code and its replacement, which returns the state at once where no game begins."""
LEARN_PICKED = '\nstate["value"] = state["value"] + picked * (rate * surprise)[..., None, None]\n'
"""Credit where no first pick came before."""


def in_one_state(
    mechanisms: Sequence[Mechanism], before: str, helpers: str, before_learn: str
) -> QuickerWriting:
    """The texts of the grammar for one state."""
    return QuickerWriting(
        answers=has_one_state,
        mechanisms=tuple((item, _quicker(item)) for item in mechanisms),
        before=_with_one_row(before),
        helpers=_with_one_row(helpers).replace(*NO_NEW_GAME),
        before_learn=_with_one_row(before_learn),
    )


def has_one_state(stimuli: Stimuli) -> bool:
    """Whether nobody comes into a second stage, and there are no cues."""
    arrays = stimuli.arrays
    return "cue" not in arrays and not arrays["stage"].any() and not arrays["next_state"].any()


def _quicker(item: Mechanism) -> Mechanism:
    """One mechanism."""
    if item.slot == "planning":  # with nowhere to be led to, its weight is zero
        return replace(item, code="", start="", learn="")
    if item.slot == "credit":
        return replace(item, start="", learn=LEARN_PICKED)
    return replace(
        item,
        code=_with_one_row(item.code),
        start=_with_one_row(item.start),
        learn=_with_one_row(item.learn),
    )


def _with_one_row(text: str) -> str:
    for general, single in TABLES:
        text = text.replace(general, single)
    return text

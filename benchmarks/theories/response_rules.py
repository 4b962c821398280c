"""Hidden rules of answers that are levels, numbers, times or rows of a game; no search reads them.

Twelve are compositions of the grammars with people of narrow ranges, four are theories that no grammar says. They were
written before any campaign was run, and are not changed after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakatos.domains import FAMILIES
from lakatos.domains.attention.task import EDGES
from lakatos.domains.kit.outcomes import CENSORED_NORMAL, EX_GAUSSIAN, outcome_helpers
from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.theories.language.grammar import Composition

Literal = dict[str, Any]


def about(value: float) -> Literal:
    """People within a fifth of a value, which is positive."""
    return log_uniform(value / 1.2, value * 1.2, "as declared", "as declared")


def between(low: float, high: float) -> Literal:
    """People between two values."""
    return uniform(low, high, "as declared", "as declared")


LAPSE = {"lapse": between(0.0, 0.06)}


@dataclass(frozen=True)
class HiddenResponse:
    """A hidden rule: a composition with narrow people, or a source of its own."""

    domain: str
    composition: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    people: Mapping[str, Literal] = field(default_factory=dict)
    source: str = ""

    @property
    def program(self) -> str:
        """As a theory with its people."""
        if self.source:
            return self.source
        grammar = FAMILIES[self.domain].grammar
        return grammar.write(Composition(self.composition, {**self.people, **LAPSE}), "Hidden")

    @property
    def form(self) -> str:
        """The same with the ranges that the grammar declares."""
        return FAMILIES[self.domain].grammar.write(Composition(self.composition), "Hidden form")


GIVING = {"choice": ("logistic",), "lapse": ("anything",)}
READING = {"answer": ("to the end",), "lapse": ("anywhere",)}
TIMED = {"lapse": ("anything",)}
PLAYING = {
    "tastes": ("selfish others",), "strictness": ("constant",), "choice": ("logistic",), "lapse": ("random",),
    "evaluation": ("expected payoff",),
}  # fmt: skip
MOVING = {"delay": about(0.3), "delay_spread": about(0.025)}

RULES: Mapping[str, HiddenResponse] = {
    "matching that decays": HiddenResponse(
        "public_goods",
        {**GIVING, "payoff": ("no cost",), "opening": ("a usual start",), "others": ("match the average",),
         "time": ("decay",), "heaps": ("multiples of five",)},
        {"start": between(0.4, 0.6), "firmness": about(6.0), "matching": about(6.0), "decay": about(1.0),
         "roundness": about(1.5)},
    ),
    "glow and deterrence": HiddenResponse(
        "public_goods",
        {**GIVING, "payoff": ("cost of giving",), "taste": ("warm glow",), "reaction": ("to deductions",)},
        {"selfishness": about(5.0), "warm_glow": about(2.5), "deterrence": about(3.0)},
    ),
    "the lowest and the same again": HiddenResponse(
        "public_goods",
        {**GIVING, "payoff": ("no cost",), "others": ("follow the lowest",), "habit": ("the same again",),
         "heaps": ("all or none",)},
        {"following_low": about(5.0), "repetition": about(2.0), "extremity": about(1.5)},
    ),
    "answer to the spread": HiddenResponse(
        "public_goods",
        source='''"""Hidden: people give half of their coins where others differ, else what the lowest gave."""
PARAMETERS = {"sharpness": {"prior": "log_uniform", "low": 6.0, "high": 9.0, "unit": "odds", "meaning": "strict"}}


def choose(parameters, trials, xp):
    level = xp.linspace(0.0, 1.0, 21)
    lowest, highest = trials["others_lowest"][None], trials["others_highest"][None]
    wanted = xp.where((trials["round"][None] < 1.5) | (highest - lowest > 0.5), 0.5, lowest)
    value = -parameters["sharpness"][..., None] * xp.abs(level - wanted[..., None])
    p = xp.exp(value) * trials["available"][None]
    return p / p.sum(axis=-1)[..., None]
''',
    ),
    "a curve anchored and unsure": HiddenResponse(
        "estimation",
        {**READING, "reading": ("a smooth curve",), "bias": ("to the average",),
         "scatter": ("growing with distance",)},
        {"reach": about(0.2), "anchoring": between(0.25, 0.4), "scatter": about(0.06), "uncertainty": about(0.5)},
    ),
    "exemplars that grow": HiddenResponse(
        "estimation",
        {**READING, "reading": ("similar points",), "bias": ("to growth",), "scatter": ("constant",)},
        {"reach": about(0.1), "growth": between(0.25, 0.4), "scatter": about(0.08)},
    ),
    "associations held back": HiddenResponse(
        "estimation",
        {**READING, "reading": ("the nearest point and the slope",), "bias": ("to the middle",),
         "scatter": ("growing with noise",)},
        {"caution": between(0.2, 0.4), "scatter": about(0.05), "noise_share": about(0.5)},
    ),
    "the highest on its side": HiddenResponse(
        "estimation",
        source='''"""Hidden: people answer half of the height of the highest point on the side that is asked for."""
PARAMETERS = {"scatter": {"prior": "log_uniform", "low": 0.07, "high": 0.1, "unit": "half", "meaning": "scatter"}}

'''
        + outcome_helpers(CENSORED_NORMAL)
        + '''

def choose(parameters, trials, xp):
    x, y, shown = trials["points_x"][None], trials["points_y"][None], trials["shown"][None]
    side = shown * (x * trials["query"][None][..., None] >= 0)
    side = xp.where(side.sum(axis=-1)[..., None] > 0, side, shown)
    height = 0.5 * (y - 9.0 * (1 - side)).max(axis=-1)
    edges = xp.linspace(-1.1, 1.1, 23)
    p = censored_normal(height, parameters["scatter"] + 0.0 * height, edges, xp)
    return 0.98 * p + 0.02 / p.shape[-1]
''',
    ),
    "impatient and quick again": HiddenResponse(
        "attention",
        {**TIMED, "process": ("evidence from both",), "patience": ("falling evenly",),
         "habit": ("quick repetitions",)},
        {**MOVING, "bound": about(2.0), "rate": about(2.0), "interference": between(0.6, 1.2),
         "meeting": about(0.9), "saving": between(0.04, 0.08)},
    ),
    "a race, careful after errors": HiddenResponse(
        "attention",
        {**TIMED, "process": ("a race",), "control": ("caution after errors",)},
        {**MOVING, "bound": about(1.0), "rate": about(3.5), "wrong_rate": about(1.2), "interference": between(0.6, 1.2),
         "post_error_caution": between(0.15, 0.35)},
    ),
    "a pull from varying starts": HiddenResponse(
        "attention",
        {**TIMED, "process": ("a pull that fades",), "habit": ("now this, now that",),
         "control": ("pause after errors",)},
        {**MOVING, "bound": about(1.3), "rate": about(3.0), "pull": between(0.3, 0.45), "fade": about(0.06),
         "start_range": between(0.6, 0.8), "pause": between(0.06, 0.12)},
    ),
    "checked twice": HiddenResponse(
        "attention",
        source='''"""Hidden: in conflict people often look a second time, answer 0.3 s later, and are right then."""
PARAMETERS = {
    "time": {"prior": "uniform", "low": 0.4, "high": 0.5, "unit": "s", "meaning": "mean of the normal part"},
    "checking": {"prior": "uniform", "low": 0.4, "high": 0.6, "unit": "share", "meaning": "second looks in conflict"},
}

'''
        + outcome_helpers(EX_GAUSSIAN)
        + '''

def bins(edges, mean, xp):
    below = ex_gaussian(edges, mean[..., None], 0.04, 0.1, xp)
    p = xp.maximum(below[..., 1:] - below[..., :-1], 0.0)
    return p / p.sum(axis=-1)[..., None]


def choose(parameters, trials, xp):
    edges = xp.array(TIMES)
    checked = parameters["checking"] * (trials["congruence"][None] == -1)
    once = bins(edges, parameters["time"] + 0.0 * checked, xp)
    twice = bins(edges, parameters["time"] + 0.3 + 0.0 * checked, xp)
    right_once = 0.95 - 0.15 * (trials["congruence"][None] == -1)
    right = ((1 - checked) * right_once)[..., None] * once + checked[..., None] * twice
    wrong = ((1 - checked) * (1 - right_once))[..., None] * once
    p = xp.concatenate([right, wrong], axis=-1) + 1e-4
    return p / p.sum(axis=-1)[..., None]
'''.replace("TIMES", str(list(EDGES))),
    ),
    "a simple opponent and equality": HiddenResponse(
        "games",
        {**PLAYING, "belief": ("a simple opponent",), "attention": ("equal split",)},
        {"other_strictness": about(0.3), "equality": between(5.0, 9.0), "sensitivity": about(0.2)},
    ),
    "steps of thinking with care": HiddenResponse(
        "games",
        {**PLAYING, "belief": ("steps of thinking",), "social": ("care for the other",)},
        {"mean_steps": between(1.2, 1.8), "other_strictness": about(0.5), "care": between(0.3, 0.5),
         "sensitivity": about(0.2)},
    ),
    "caution with curved worth": HiddenResponse(
        "games",
        {**PLAYING, "belief": ("any column",), "attention": ("worst payoff",), "worth": ("curved",)},
        {"caution": between(0.5, 0.9), "curvature": about(0.5), "sensitivity": about(0.6)},
    ),
    "the other's dream": HiddenResponse(
        "games",
        source='''"""Hidden: people expect the other to go for the largest payoff of all, and answer best to it."""
PARAMETERS = {"sensitivity": {"prior": "log_uniform", "low": 0.2, "high": 0.3, "unit": "odds", "meaning": "strict"}}


def choose(parameters, trials, xp):
    own, other = trials["own"][None], trials["other"][None]
    dream = other.max(axis=-2)
    second = 1.0 * (dream[..., 1] > dream[..., 0])
    up = own[..., 1, :] - own[..., 0, :]
    lead = up[..., 0] + second * (up[..., 1] - up[..., 0])
    p = 0.5 * (1 + xp.tanh(0.5 * parameters["sensitivity"] * lead))
    return xp.stack([1 - p, p], axis=-1)
''',
    ),
}  # fmt: skip

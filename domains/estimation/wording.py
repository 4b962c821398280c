"""Words for theories of estimating functions; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
SHARE = 0.2

WORDS: Words = {
    "reading:similar points": (
        {"says": "average the heights of points nearby, the nearer the more they count (over about {reach%} of half "
                 "the "
         "graph)"},
    ),
    "reading:a smooth curve": (
        {"says": "see a smooth curve that follows the points nearby (over about {reach%} of half the graph) and goes "
                 "on "
         "straight beyond them"},
    ),
    "bias:to the middle": (
        {"says": "stay {far}nearer to the middle of the graph than the points say",
         "opposite": "go {far}further from the middle of the graph than the points say", "by": "caution",
         "unit": SHARE, "label": "central tendency", "opposite_label": "exaggeration"},
    ),
    "bias:to growth": (
        {"says": "{much}expect functions to rise from left to right",
         "opposite": "{much}expect functions to fall from left to right", "by": "growth",
         "unit": SHARE, "label": "growth expected", "opposite_label": "decline expected"},
    ),
    "bias:to the average": (
        {"says": "are {much}anchored on the average height of all points",
         "opposite": "{much}keep away from the average height of all points", "by": "anchoring", "unit": SHARE,
         "label": "anchoring", "opposite_label": "contrast"},
    ),
    "scatter:constant": ({"says": "answer with the same scatter everywhere", "plain": True},),
    "answer:to the end": ({"says": ""},),
    "lapse:anywhere": ({"says": "{lapse~} answer at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {"bias": 2, "scatter": 3, "lapse": 3}

HEADS = (
    (("reading:one straight line",), "Straight line"),
    (("reading:the nearest point",), "Nearest point"),
    (("reading:similar points",), "Exemplars"),
    (("reading:the nearest point and the slope",), "Extrapolated associations"),
    (("reading:a smooth curve",), "Smooth curve"),
    ((), "The average"),
)

"""Theories of estimating a function from points: what is read off them, biases, and how answers scatter.

The skeleton: a *reading* of the points gives the height at the place asked for, a *bias* moves it, *scatter* says how
widely answers vary around that, and an *answer* turns both into probabilities of the bins; some answers are *lapses*.

``x`` and ``y`` are the points, ``shown`` 1 where there is one, ``(1, n_trials, 24)``; ``away`` is how far to the right
of the place asked for they lie. ``height`` and ``spread`` are ``(n_draws or 1, n_trials)``.

References:
    DeLosh, Busemeyer & McDaniel (1997), Journal of Experimental Psychology: LMC 23, 968-986;
    Kalish, Griffiths & Lewandowsky (2007), Psychonomic Bulletin & Review 14, 288-294.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakatos.domains.estimation.task import SCALE
from lakatos.domains.estimation.wording import HEADS, SENTENCES, WORDS
from lakatos.domains.kit.outcomes import CENSORED_NORMAL, CONTAMINATED, outcome_helpers
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot, worded

DELOSH = "DeLosh, Busemeyer & McDaniel (1997), Journal of Experimental Psychology: LMC 23, 968-986"
KALISH = "Kalish, Griffiths & Lewandowsky (2007), Psychonomic Bulletin & Review 14, 288-294"
CARROLL = "Carroll (1963), Functional learning: the learning of continuous functional mappings"
NOSOFSKY = "Nosofsky (1986), Journal of Experimental Psychology: General 115, 39-57"
CLEVELAND = "Cleveland (1979), Journal of the American Statistical Association 74, 829-836"
LITTLE = "Little, Shiffrin & Laham (2024), Memory & Cognition"
TVERSKY = "Tversky & Kahneman (1974), Science 185, 1124-1131 (anchoring)"

HELPERS = '''
def weighted_line(weight, away, y, xp):
    """Height at the place asked for, and slope, of the line that fits the points best by their weights."""
    weight = weight / xp.maximum(weight.sum(axis=-1), 1e-300)[..., None]
    middle, level = (weight * away).sum(axis=-1), (weight * y).sum(axis=-1)
    apart = away - middle[..., None]
    slope = (weight * apart * y).sum(axis=-1) / ((weight * apart**2).sum(axis=-1) + 1e-6)
    return level - slope * middle, slope


def closeness(away, shown, width, xp):
    """Weight of each point that fades with its distance, 1 for the nearest, so that some point always counts."""
    squared = (away / width) ** 2 / 2 + 1e9 * (1 - shown)
    return xp.exp(xp.clip(squared.min(axis=-1)[..., None] - squared, -500.0, 0.0))
'''
WIDTH = log_uniform(0.02, 1.5, "share of half the graph", "distance over which points count")
PLACE = ("line_y", "query", "slope")
NEAR = ("nearest_y", "nearest_minus_line", "nearest_distance")

READING = (
    Mechanism(
        "reading",
        "one straight line",
        "see one straight line through all points",
        "height, _ = weighted_line(shown, away, y, xp)",
        {},
        PLACE,
        f"{CARROLL}; {LITTLE}",
    ),
    Mechanism(
        "reading",
        "the nearest point",
        "take the height of the nearest point",
        """
        weight = closeness(away, shown, 0.005, xp)
        height = (weight * y).sum(axis=-1) / weight.sum(axis=-1)
        """,
        {},
        NEAR,
        f"{DELOSH} (association without extrapolation)",
    ),
    Mechanism(
        "reading",
        "similar points",
        "average the heights of points nearby, the nearer the more they count",
        """
        weight = closeness(away, shown, parameters["reach"][..., None], xp)
        height = (weight * y).sum(axis=-1) / weight.sum(axis=-1)
        """,
        {"reach": WIDTH},
        NEAR,
        f"{NOSOFSKY}; {DELOSH} (exemplars)",
    ),
    Mechanism(
        "reading",
        "the nearest point and the slope",
        "go from the nearest point along the slope of the whole",
        """
        weight = closeness(away, shown, 0.005, xp)
        weight = weight / weight.sum(axis=-1)[..., None]
        _, slope = weighted_line(shown, away, y, xp)
        height = (weight * (y - slope[..., None] * away)).sum(axis=-1)
        """,
        {},
        (*NEAR, "slope"),
        f"{DELOSH} (EXAM: associations, extrapolated)",
    ),
    Mechanism(
        "reading",
        "a smooth curve",
        "see a smooth curve that follows the points nearby and goes on straight beyond them",
        """
        weight = closeness(away, shown, parameters["reach"][..., None], xp)
        height, _ = weighted_line(weight, away, y, xp)
        """,
        {"reach": WIDTH},
        (*NEAR, *PLACE, "beyond"),
        f"{CLEVELAND} (local lines); Lucas, Griffiths, Williams & Kalish (2015), Psychonomic Bulletin & Review 22, "
        "1193-1215",
    ),
    Mechanism(
        "reading",
        "the average",
        "take the average height of all points, wherever they are asked",
        "height = y.sum(axis=-1) / shown.sum(axis=-1)",
        {},
        ("mean_y",),
        "Null account",
    ),
)

BIAS = (
    Mechanism(
        "bias",
        "to the middle",
        "stay nearer to the middle of the graph than the points say",
        'height = height * (1 - parameters["caution"])',
        {"caution": normal(0.0, 0.3, 1.0, "share", "part of the height that is taken back")},
        ("line_y", "nearest_y"),
        "Hollingworth (1910), Journal of Philosophy 7, 461-469 (central tendency)",
    ),
    Mechanism(
        "bias",
        "to growth",
        "expect functions to grow: the more to the right, the higher",
        'height = height + parameters["growth"] * (query - height)',
        {"growth": normal(0.0, 0.3, 1.0, "share", "pull towards y = x")},
        ("query",),
        KALISH,
        breaks=("sides",),
    ),
    Mechanism(
        "bias",
        "to the average",
        "are anchored on the average height of all points",
        'height = height + parameters["anchoring"] * (y.sum(axis=-1) / shown.sum(axis=-1) - height)',
        {"anchoring": normal(0.0, 0.3, 1.0, "share", "pull towards the average")},
        ("mean_y",),
        TVERSKY,
    ),
)

SD = log_uniform(0.02, 1.0, "half of the graph", "scatter of answers")
SCATTER = (
    Mechanism(
        "scatter",
        "constant",
        "answer with the same scatter everywhere",
        'spread = parameters["scatter"] + 0.0 * height',
        {"scatter": SD},
        (),
        "Thurstone (1927), Psychological Review 34, 273-286",
    ),
    Mechanism(
        "scatter",
        "growing with distance",
        "scatter more, the further away the nearest point is",
        """
        gap = xp.sqrt((away**2 + 1e9 * (1 - shown)).min(axis=-1) + 1e-9)
        spread = parameters["scatter"] + parameters["uncertainty"] * gap
        """,
        {
            "scatter": SD,
            "uncertainty": log_uniform(0.02, 5.0, "ratio", "scatter for each unit of distance"),
        },
        ("nearest_distance", "beyond"),
        "Lucas, Griffiths, Williams & Kalish (2015), Psychonomic Bulletin & Review 22, 1193-1215",
    ),
    Mechanism(
        "scatter",
        "growing with noise",
        "scatter more, the more the points themselves scatter around a line",
        """
        height_here, slope_here = weighted_line(shown, away, y, xp)
        left = (y - height_here[..., None] - slope_here[..., None] * away) * shown
        noise = xp.sqrt((left**2).sum(axis=-1) / shown.sum(axis=-1) + 1e-9)
        spread = parameters["scatter"] + parameters["noise_share"] * noise
        """,
        {
            "scatter": SD,
            "noise_share": log_uniform(0.02, 3.0, "ratio", "scatter for the points' own scatter"),
        },
        ("nearest_minus_line", "n_points"),
        LITTLE,
    ),
)

ANSWER = (
    Mechanism(
        "answer",
        "to the end",
        "",
        "p = censored_normal(height, spread, edges, xp)",
        {},
        (),
        "Tobin (1958), Econometrica 26, 24-36",
    ),
)
LAPSE = (
    Mechanism(
        "lapse",
        "anywhere",
        "now and then answer anything",
        'p = contaminated(p, parameters["lapse"] + 0.0 * height, widths, xp)',
        {
            "lapse": uniform(
                0.0, 0.4, "share of answers", "answers that have nothing to do with the points"
            )
        },
        (),
        "Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481",
        is_null=True,
    ),
)

GRAMMAR = Grammar(
    domain="estimation",
    slots=(
        SkeletonSlot("reading"),
        SkeletonSlot("bias", least=0, most=2),
        SkeletonSlot("scatter"),
        SkeletonSlot("answer"),
        SkeletonSlot("lapse", least=0),
    ),
    mechanisms=worded((*READING, *BIAS, *SCATTER, *ANSWER, *LAPSE), WORDS),
    heads=HEADS,
    sentences=SENTENCES,
    before=f"""
        x, y, shown = trials["points_x"][None], trials["points_y"][None], trials["shown"][None]
        query = trials["query"][None]
        away = (x - query[..., None]) * shown
        edges = xp.linspace({SCALE.edges[0]}, {SCALE.edges[-1]}, {len(SCALE.edges)})
        widths = edges[1:] - edges[:-1]
        """,
    after="return p",
    helpers=outcome_helpers(HELPERS, CENSORED_NORMAL, CONTAMINATED),
    predictions=({"property": "reverses", "in": "sides"},),
)


def _composition(reading: str, scatter: str = "constant", **slots: tuple[str, ...]) -> Composition:
    named = {"reading": (reading,), "scatter": (scatter,), "answer": ("to the end",)}
    return Composition({**named, "lapse": ("anywhere",), **slots})


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "average": ("The average", _composition("the average")),
    "straight_line": ("Straight line", _composition("one straight line")),
    "nearest_point": ("Nearest point", _composition("the nearest point")),
    "exemplars": ("Exemplars", _composition("similar points")),
    "exam": ("Extrapolated associations", _composition("the nearest point and the slope")),
    "smooth_curve": ("Smooth curve", _composition("a smooth curve")),
    "smooth_uncertain": (
        "Smooth curve, uncertain far off",
        _composition("a smooth curve", "growing with distance"),
    ),
    "growth_prior": ("Growth expected", _composition("a smooth curve", bias=("to growth",))),
}

FAMILY = Family("estimation", GRAMMAR, SEEDS)

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
from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.outcomes import CENSORED_NORMAL, CONTAMINATED, outcome_helpers
from lakatos.domains.kit.parameter import log_uniform, normal
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

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
SHARE = 0.2
"""A bias by so large a share deserves its clause."""
NEAR = ("nearest_y", "nearest_minus_line", "nearest_distance")

READING = (
    Mechanism(
        slot="reading",
        name="one straight line",
        clause="predict by the regression line fitted to all points",
        code="height, _ = weighted_line(shown, away, y, xp)",
        repairs=PLACE,
        source=f"{CARROLL}; {LITTLE}",
    ),
    Mechanism(
        slot="reading",
        name="the nearest point",
        clause="predict the height of the nearest point",
        code="""
        weight = closeness(away, shown, 0.005, xp)
        height = (weight * y).sum(axis=-1) / weight.sum(axis=-1)
        """,
        repairs=NEAR,
        source=f"{DELOSH} (association without extrapolation)",
    ),
    Mechanism(
        slot="reading",
        name="similar points",
        code="""
        weight = closeness(away, shown, parameters["reach"][..., None], xp)
        height = (weight * y).sum(axis=-1) / weight.sum(axis=-1)
        """,
        parameters={"reach": WIDTH},
        wording=Wording(
            clause=(
                "average the heights of nearby points, weighted by proximity (kernel width "
                "{reach} on an x-axis from -1 to 1)"
            )
        ),
        repairs=NEAR,
        source=f"{NOSOFSKY}; {DELOSH} (exemplars)",
    ),
    Mechanism(
        slot="reading",
        name="the nearest point and the slope",
        clause="extrapolate from the nearest point with the slope of the regression line fitted to all points",
        code="""
        weight = closeness(away, shown, 0.005, xp)
        weight = weight / weight.sum(axis=-1)[..., None]
        _, slope = weighted_line(shown, away, y, xp)
        height = (weight * (y - slope[..., None] * away)).sum(axis=-1)
        """,
        repairs=(*NEAR, "slope"),
        source=f"{DELOSH} (EXAM: associations, extrapolated)",
    ),
    Mechanism(
        slot="reading",
        name="a smooth curve",
        code="""
        weight = closeness(away, shown, parameters["reach"][..., None], xp)
        height, _ = weighted_line(weight, away, y, xp)
        """,
        parameters={"reach": WIDTH},
        wording=Wording(
            clause=(
                "predict by a smooth curve fitted to the points, with more weight on nearer points and "
                "continued linearly beyond them (kernel width {reach} on an x-axis from -1 to 1)"
            )
        ),
        repairs=(*NEAR, *PLACE, "beyond"),
        source=f"{CLEVELAND} (local lines); Lucas, Griffiths, Williams & Kalish (2015), Psychonomic Bulletin & "
        f"Review 22, "
        "1193-1215",
    ),
    Mechanism(
        slot="reading",
        name="the average",
        clause="predict the mean of all observed points at every position",
        code="height = y.sum(axis=-1) / shown.sum(axis=-1)",
        repairs=("mean_y",),
        source="Null account",
    ),
)

BIAS = (
    Mechanism(
        slot="bias",
        name="to the middle",
        code='height = height * (1 - parameters["caution"])',
        parameters={
            "caution": normal(0.0, 0.3, 1.0, "share", "part of the height that is taken back")
        },
        wording=Wording(
            clause="predict heights {far}nearer to the middle of the y-axis than the points suggest",
            opposite_clause="predict heights {far}further from the middle of the y-axis than the points suggest",
            parameter="caution",
            unit=SHARE,
            label="central tendency",
            opposite_label="exaggeration",
        ),
        repairs=("line_y", "nearest_y"),
        source="Hollingworth (1910), Journal of Philosophy 7, 461-469 (central tendency)",
    ),
    Mechanism(
        slot="bias",
        name="to growth",
        code='height = height + parameters["growth"] * (query - height)',
        parameters={"growth": normal(0.0, 0.3, 1.0, "share", "pull towards y = x")},
        wording=Wording(
            clause="{much}shift their predictions towards a rising line",
            clause_short="towards one that rises",
            opposite_clause="{much}shift their predictions towards a falling line",
            opposite_short="towards one that falls",
            parameter="growth",
            unit=SHARE,
            label="a rising prior",
            opposite_label="a falling prior",
        ),
        repairs=("query",),
        breaks=("sides",),
        source=KALISH,
    ),
    Mechanism(
        slot="bias",
        name="to the average",
        code='height = height + parameters["anchoring"] * (y.sum(axis=-1) / shown.sum(axis=-1) - height)',
        parameters={"anchoring": normal(0.0, 0.3, 1.0, "share", "pull towards the average")},
        wording=Wording(
            clause="are {much}biased towards the mean height of all points",
            clause_short="towards it",
            opposite_clause="are {much}biased away from the mean height of all points",
            opposite_short="away from it",
            parameter="anchoring",
            unit=SHARE,
            label="anchoring",
            opposite_label="contrast",
            subject="predictions",
        ),
        repairs=("mean_y",),
        source=TVERSKY,
    ),
)

SD = log_uniform(0.02, 1.0, "half of the graph", "scatter of answers")
SCATTER = (
    Mechanism(
        slot="scatter",
        name="constant",
        code='spread = parameters["scatter"] + 0.0 * height',
        parameters={"scatter": SD},
        wording=Wording(
            clause="respond with the same error variance everywhere",
            taken_for_granted=True,
        ),
        source="Thurstone (1927), Psychological Review 34, 273-286",
    ),
    Mechanism(
        slot="scatter",
        name="growing with distance",
        clause="respond more variably, the further away the nearest point is",
        code="""
        gap = xp.sqrt((away**2 + 1e9 * (1 - shown)).min(axis=-1) + 1e-9)
        spread = parameters["scatter"] + parameters["uncertainty"] * gap
        """,
        parameters={
            "scatter": SD,
            "uncertainty": log_uniform(0.02, 5.0, "ratio", "scatter for each unit of distance"),
        },
        repairs=("nearest_distance", "beyond"),
        source="Lucas, Griffiths, Williams & Kalish (2015), Psychonomic Bulletin & Review 22, 1193-1215",
    ),
    Mechanism(
        slot="scatter",
        name="growing with noise",
        clause="respond more variably, the more the points scatter around the best-fitting straight line",
        code="""
        height_here, slope_here = weighted_line(shown, away, y, xp)
        left = (y - height_here[..., None] - slope_here[..., None] * away) * shown
        noise = xp.sqrt((left**2).sum(axis=-1) / shown.sum(axis=-1) + 1e-9)
        spread = parameters["scatter"] + parameters["noise_share"] * noise
        """,
        parameters={
            "scatter": SD,
            "noise_share": log_uniform(0.02, 3.0, "ratio", "scatter for the points' own scatter"),
        },
        repairs=("nearest_minus_line", "n_points"),
        source=LITTLE,
    ),
)

ANSWER = (
    Mechanism(
        slot="answer",
        name="to the end",
        code="p = censored_normal(height, spread, edges, xp)",
        source="Tobin (1958), Econometrica 26, 24-36",
    ),
)
LAPSE = (
    lapse(
        "anywhere",
        'p = contaminated(p, parameters["lapse"] + 0.0 * height, widths, xp)',
        "respond at random {lapse~}",
        "Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481",
        meaning="answers that have nothing to do with the points",
    ),
)

HEADS = (
    (("reading:one straight line",), "Straight line"),
    (("reading:the nearest point",), "Nearest point"),
    (("reading:similar points",), "Exemplars"),
    (("reading:the nearest point and the slope",), "Extrapolated associations"),
    (("reading:a smooth curve",), "Smooth curve"),
    ((), "The average"),
)

GRAMMAR = Grammar(
    domain="estimation",
    slots=(
        SkeletonSlot("reading"),
        SkeletonSlot("bias", least=0, most=2, sentence=2),
        SkeletonSlot("scatter", sentence=3),
        SkeletonSlot("answer"),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(*READING, *BIAS, *SCATTER, *ANSWER, *LAPSE),
    heads=HEADS,
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

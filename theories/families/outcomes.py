"""Code that theories share where answers are levels, numbers or times: probabilities of each outcome of a grid.

Each text goes into the ``helpers`` of a grammar. Arguments have the axes of draws and trials; outcomes come last.

References:
    Navarro & Fuss (2009), Journal of Mathematical Psychology 53, 222-230 (first passage times);
    Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481 (variability and contaminants);
    Luce (1986), Response times (ex-Gaussian and Wald).
"""

from __future__ import annotations

TRUNCATED_NORMAL = '''
def truncated_normal(mean, sd, edges, xp):
    """Bins of a normal that is cut off at the first and the last edge."""
    # reckoned on the side where probabilities are small, so that nothing is lost far out
    z = (edges - mean[..., None]) / sd[..., None]
    side = xp.where(z[..., :1] + z[..., -1:] > 0, -1.0, 1.0)
    below = special.ndtr(side * z)
    mass = side * (below[..., 1:] - below[..., :-1])
    total = mass.sum(axis=-1)[..., None]
    ends = 1.0 * (xp.arange(len(edges) - 1) == 0)
    nearest = xp.where(side > 0, ends[::-1], ends)
    return xp.where(total > 1e-250, mass / xp.maximum(total, 1e-250), nearest)
'''
CENSORED_NORMAL = '''
def censored_normal(mean, sd, edges, xp):
    """Bins of a normal of which all that lies beyond an end is answered by the end itself."""
    below = special.ndtr((edges[1:-1] - mean[..., None]) / sd[..., None])
    none = 0.0 * (mean + sd)[..., None]
    below = xp.concatenate([none, below + none, none + 1.0], axis=-1)
    return below[..., 1:] - below[..., :-1]
'''
HEAPED = '''
def heaped(p, values, step, share, xp):
    """Some answers are rounded to multiples of a step: their probability moves to the outcome that is nearest."""
    rounded = xp.round(values / step) * step
    nearest = xp.abs(values[None, :] - rounded[:, None]).argmin(axis=1)
    moved = 1.0 * (nearest[:, None] == xp.arange(len(values)))
    return p + share[..., None] * (xp.matmul(p, moved) - p)
'''
ORDERED_LOGISTIC = '''
def ordered_logistic(place, cuts, xp):
    """Levels between growing cuts, one more than there are cuts, of a logistic around a place."""
    below = 0.5 * (1 + xp.tanh(0.5 * (cuts - place[..., None])))
    none = 0.0 * below[..., :1]
    below = xp.concatenate([none, below, none + 1.0], axis=-1)
    return below[..., 1:] - below[..., :-1]
'''
WIENER = '''
def wiener(t, drift, bound, start, spread, xp):
    """Density of reaching the lower bound at time t, in units of diffusion; 0 before time 0.

    The bounds are 0 and ``bound``, the start is a share of that, and drifts of trials vary with a standard deviation.
    """
    begun = t > 1e-9
    t = xp.where(begun, t, 1.0)
    s = t / bound**2
    early = sum(
        (start + 2 * k) * xp.exp(-((start + 2 * k) ** 2) / (2 * s)) for k in (-4, -3, -2, -1, 0, 1, 2, 3, 4)
    ) / xp.sqrt(2 * 3.141592653589793 * s**3)
    late = 3.141592653589793 * sum(
        k * xp.exp(-((k * 3.141592653589793) ** 2) * s / 2) * xp.sin(k * 3.141592653589793 * start)
        for k in (1, 2, 3, 4, 5, 6, 7, 8)
    )
    wide = 1 + spread**2 * t
    drifted = (spread * bound * start) ** 2 - 2 * drift * bound * start - drift**2 * t
    density = xp.where(s < 0.3, early, late) * xp.exp(drifted / (2 * wide)) / xp.sqrt(wide) / bound**2
    return xp.where(begun, xp.maximum(density, 0.0), 0.0)


def wiener_bins(edges, drift, bound, start, non_decision, spread, xp):
    """Both responses (upper bound first) by bins of time, of answers that fall between the first and the last edge."""
    nodes = xp.array([-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831, 0.9061798459386640])
    weights = xp.array([0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                        0.2369268850561891])
    drift, bound, start, spread = (x[..., None, None] for x in (drift, bound, start, spread))
    # a bin is integrated from the moment on at which answers become possible
    ends = xp.maximum(edges - non_decision[..., None], 0.0)
    low, half = ends[..., :-1, None], 0.5 * (ends[..., 1:, None] - ends[..., :-1, None])
    t = low + half * (1 + nodes)
    lower = (wiener(t, drift, bound, start, spread, xp) * weights * half).sum(axis=-1)
    upper = (wiener(t, -drift, bound, 1 - start, spread, xp) * weights * half).sum(axis=-1)
    p = xp.concatenate([upper, lower], axis=-1) + 1e-300
    return p / p.sum(axis=-1)[..., None]
'''
EX_GAUSSIAN = '''
def ex_gaussian(t, mean, sd, tail, xp):
    """Distribution function of a normal plus an exponential with mean ``tail``."""
    z, ratio = (t - mean) / sd, sd / tail
    return special.ndtr(z) - xp.exp(xp.clip(ratio**2 / 2 - ratio * z + special.log_ndtr(z - ratio), -700.0, 0.0))
'''
SHIFTED_WALD = '''
def shifted_wald(t, drift, bound, shift, xp):
    """Distribution function of the time at which one accumulator with a drift reaches its bound, plus a shift."""
    begun = t > shift + 1e-9
    t = xp.where(begun, t - shift, 1.0)
    reached = special.ndtr((drift * t - bound) / xp.sqrt(t))
    turned = xp.exp(xp.clip(2 * drift * bound + special.log_ndtr(-(drift * t + bound) / xp.sqrt(t)), -700.0, 0.0))
    return xp.where(begun, xp.minimum(reached + turned, 1.0), 0.0)
'''
CONTAMINATED = '''
def contaminated(p, share, widths, xp):
    """Some answers are of no interest: spread over the whole grid in proportion to the widths of its outcomes."""
    return p + share[..., None] * (widths / widths.sum() - p)
'''
IMPORTS = "from scipy import special\n"


def outcome_helpers(*texts: str) -> str:
    """Helpers of a grammar: the import that the texts need, and the texts."""
    return IMPORTS + "\n" + "\n\n".join(text.strip("\n") + "\n" for text in texts)

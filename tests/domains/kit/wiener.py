"""First passage times of a diffusion by their known series: what walks in steps are compared with.

References:
    Navarro & Fuss (2009), Journal of Mathematical Psychology 53, 222-230.
"""

from __future__ import annotations

from lakatos.domains.kit.outcomes import STARTS

WIENER = (
    STARTS
    + '''

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


def wiener_bins(edges, drift, bound, start, non_decision, spread, xp, span=None):
    """Both responses (upper bound first) by bins of time, of answers that fall between the first and the last edge.

    Starts of trials vary evenly over ``span``, a share of the bounds' distance; None: they do not.
    """
    nodes = xp.array([-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831, 0.9061798459386640])
    weights = xp.array([0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                        0.2369268850561891])
    drift, bound, spread = (x[..., None, None] for x in (drift, bound, spread))
    # a bin is integrated from the moment on at which answers become possible
    ends = xp.maximum(edges - non_decision[..., None], 0.0)
    low, half = ends[..., :-1, None], 0.5 * (ends[..., 1:, None] - ends[..., :-1, None])
    t = low + half * (1 + nodes)
    lower = upper = 0.0
    for at, share in starts_of(start, span, xp):
        at = at[..., None, None]
        lower = lower + share * (wiener(t, drift, bound, at, spread, xp) * weights * half).sum(axis=-1)
        upper = upper + share * (wiener(t, -drift, bound, 1 - at, spread, xp) * weights * half).sum(axis=-1)
    p = xp.concatenate([upper, lower], axis=-1) + 1e-300
    return p / p.sum(axis=-1)[..., None]
'''
)

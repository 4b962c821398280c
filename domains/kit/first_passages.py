"""Code that theories of timed choices share: densities of first passages, and what they become in bins of time.

A *process* gives the density with which each of two responses is decided at points in time. The points are those of
Gauss and Legendre, three in each of some panels of time. Between them a density is taken as a parabola, so that its
integral over any stretch of time, and the mean of such integrals over delays, are sums with known weights.

Times of decisions are in seconds, evidence in units of the noise of one second. Arguments have the axes of draws and
trials; points of time come last.

References:
    Navarro & Fuss (2009), Journal of Mathematical Psychology 53, 222-230 (series of the diffusion);
    Tuerlinckx (2004), Behavior Research Methods, Instruments, & Computers 36, 702-716 (variability of drifts);
    Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481 (variability of starts and delays);
    Brown & Heathcote (2008), Cognitive Psychology 57, 153-178 (accumulators without noise);
    Tillman, Van Zandt & Logan (2020), Psychonomic Bulletin & Review 27, 911-936 (accumulators with noise);
    Heathcote & Love (2012), Frontiers in Psychology 3, 292 (log-normal times).
"""

from __future__ import annotations

PANELS = '''
def panels(scale, last, xp):
    """Ends of 32 panels from 0 to the ``last`` time, of which the first is short beside ``scale`` and each grows."""
    grown = xp.log1p(last / scale)[..., None] * (xp.arange(33) / 32)
    return scale[..., None] * xp.expm1(grown)


def points_of(ends, xp):
    """Three points of Gauss and Legendre in each panel, in their order."""
    at = 0.5 + 0.15**0.5 * xp.arange(-1, 2)
    t = ends[..., :-1, None] + (ends[..., 1:] - ends[..., :-1])[..., None] * at
    return t.reshape((*t.shape[:-2], 3 * t.shape[-2]))


def decided_bins(densities, edges, ends, delay, span, xp):
    """Bins of both responses, of responses between the first and the last edge, from densities at `points_of`.

    Delays vary evenly over ``span`` seconds around ``delay``. In each panel a density is a parabola; the mean of its
    integral over delays is a difference of second integrals, of which those of 1, x and x squared are written out.
    """
    span = xp.maximum(span, 1e-4)
    width = ends[..., 1:] - ends[..., :-1]
    later = xp.array([[0.5], [-0.5]])
    at = (edges - delay[..., None])[..., None, :] + span[..., None, None] * later
    place = (at[..., None, :, :] - ends[..., :-1, None, None]) / width[..., None, None]
    x, beyond = xp.clip(place, 0.0, 1.0)[..., None, :, :], xp.maximum(place - 1, 0.0)[..., None, :, :]
    root, third = 0.15**0.5, 1 / 3
    first, second, fourth, whole = (
        xp.array(numbers)[:, None, None]
        for numbers in ([1.0, -0.5, 0.25], [0.0, third, -third], [0.0, 0.0, third / 2], [1.0, 0.0, third / 4])
    )
    twice = 0.5 * x**2 * (first + second * x + fourth * x**2) + whole * beyond
    weight = (width**2 / span[..., None])[..., None, None]
    mean = weight * (twice * (2 * later)).sum(axis=-2)
    mean = mean.reshape((*mean.shape[:-3], 3 * width.shape[-1], mean.shape[-1]))
    parabola = xp.array([[0.0, -0.5 / root, 1 / 0.3], [1.0, 0.0, -2 / 0.3], [0.0, 0.5 / root, 1 / 0.3]])
    panel = xp.matmul(densities.reshape((*densities.shape[:-1], width.shape[-1], 3)), parabola)
    p = xp.matmul(panel.reshape(densities.shape), mean)
    p = xp.maximum(p[..., 1:] - p[..., :-1], 0.0) + 1e-300
    p = p.reshape((*p.shape[:-2], 2 * p.shape[-1]))
    return p / p.sum(axis=-1)[..., None]
'''
WIENER = '''
def wiener(t, drift, bound, start, unevenness, left, xp):
    """Densities of reaching the upper and the lower bound, 0 and ``bound``, from a share ``start`` of the way.

    ``(..., 2, n_points)``. Drifts of trials are normal with the standard deviation ``unevenness``. By Girsanov's
    theorem a drift multiplies the density of a walk without drift by a factor of the time and the distance gone, also
    where bounds move; ``left`` is the share of the bounds' distance at a time by which these distances are measured.
    """
    pi = 3.141592653589793
    far = xp.stack([1 - start, start], axis=-1)[..., None]
    way, t = drift[..., None, None] * xp.array([[1.0], [-1.0]]), t[..., None, :]
    bound, s = bound[..., None, None], t / bound[..., None, None] ** 2
    image, wave = far[..., None] + 2 * xp.arange(-1, 2), pi * xp.arange(1, 5)
    early = (image * xp.exp(-(image**2) / (2 * s[..., None]))).sum(axis=-1) / (2 * pi * s**3) ** 0.5
    late = (wave * xp.sin(wave * far[..., None]) * xp.exp(-0.5 * wave**2 * s[..., None])).sum(axis=-1)
    gone, wide = bound * (far - 0.5 * (1 - left)), 1 + unevenness**2 * t
    drifted = ((unevenness * gone) ** 2 + 2 * way * gone - way**2 * t) / (2 * wide)
    series = xp.maximum(xp.where(s < 0.25, early, late), 0.0) / (wide**0.5 * bound**2)
    return series * xp.exp(xp.minimum(drifted, 500.0))
'''
DIFFUSION = '''
def diffusion_bins(
    edges, drift, bound, start, near, delay, spread, unevenness, span, remaining, xp
):
    """Bins of both responses, the upper bound's first, of a diffusion with a constant drift in each trial.

    ``near`` is the distance from the start to the nearer bound as a share of the half distance, whatever the trial; it
    only decides how closely the first moments are followed. Drifts vary between trials with the standard deviation
    ``unevenness``, starts over ``span``, a share of the bounds' distance, delays over ``spread`` seconds;
    ``remaining`` is the share of the bounds' distance that is left at a time. None: nothing varies.
    """
    spread = 0.0 * delay if spread is None else spread
    varied = 0.0 if unevenness is None else unevenness[..., None, None]
    last = xp.maximum(edges[-1] - delay + 0.5 * spread, 0.05)
    close = near if span is None else near - span
    scale = bound**2 * xp.clip(0.08 * xp.maximum(close, 0.0) ** 2, 0.002, 0.03)
    ends = panels(scale, last, xp)
    t, left, densities = points_of(ends, xp), 1.0, 0.0
    if remaining is not None:
        left = xp.clip(remaining(t), 0.05, 1.0)[..., None, :]
    for at, weight in starts_of(start + 0.0 * bound, span, xp):
        own = wiener(t, drift, bound, at, varied, left, xp)
        if remaining is not None:
            own = own * as_bounds_move(t, bound, at, remaining, xp)
        densities = densities + weight * own
    return decided_bins(densities, edges, ends, delay, spread, xp)


def as_bounds_move(t, bound, start, remaining, xp):
    """For both bounds the density at points of time where they move, as a multiple of that where they stay.

    Walks without drift are followed in the steps of `step_times`; the ratios of what ends in a step, whose logarithms
    are taken as straight between the steps' middles, change little. Later what is left decays by its first wave.
    """
    times = step_times(bound, xp)
    left, none = xp.clip(remaining(times), 0.05, 1.0), 0.0 * (times[..., 1:] + start[..., None])
    moved = xp.log(xp.maximum(passages(none, bound, start, xp, None, left), 0.0) + 1e-200)
    ratio = moved - xp.log(passages(none, bound, start, xp) + 1e-200)
    middles = 0.5 * (times[..., 1:] + times[..., :-1])
    decay = 0.5 * (3.141592653589793 / bound[..., None]) ** 2 * (left[..., -1:] ** -2 - 1)
    after = -decay * xp.maximum(t - middles[..., -1:], 0.0)
    since = t[..., None] - middles[..., None, :-1]
    place = xp.clip(since / (middles[..., 1:] - middles[..., :-1])[..., None, :], 0, 1)
    steps = ratio[..., 1:] - ratio[..., :-1]
    since_first = xp.matmul(steps, xp.swapaxes(place, -1, -2))
    return xp.exp(xp.minimum(ratio[..., :1] + since_first + after[..., None, :], 50.0))
'''
RACERS = '''
def at_starts(arrive, rate, distance, span, xp):
    """Distribution function and density of when one accumulator has gone a distance.

    Distances of trials vary evenly within 1 - ``span`` to 1 + ``span`` of ``distance``.
    """
    if span is None:
        return arrive(rate, distance)
    parts = [(weight, arrive(rate, distance * 2 * place)) for place, weight in starts_of(0.5, span, xp)]
    return tuple(sum(weight * part[number] for weight, part in parts) for number in (0, 1))


def first_of(racers, xp):
    """Densities with which each of two accumulators is the first, from (distribution function, density) of each."""
    (below, density), (other_below, other_density) = racers
    return xp.stack([density * (1 - other_below), other_density * (1 - below)], axis=-2)


def noisy(t, rate, sd, distance, xp):
    """Distribution function and density of when an accumulator with noise has gone a distance.

    Rates of trials are normal with a standard deviation ``sd``.
    """
    wide = (t * (1 + sd**2 * t)) ** 0.5
    tilted = rate + 2 * sd**2 * distance
    turned = 2 * distance * (rate + sd**2 * distance) + special.log_ndtr(-(tilted * t + distance) / wide)
    below = special.ndtr((rate * t - distance) / wide) + xp.exp(xp.minimum(turned, 0.0))
    return xp.minimum(below, 1.0), distance / (t * wide) * normal_density((distance - rate * t) / wide, xp)


def even_paced(t, rate, sd, distance, xp):
    """The same of one without noise, whose pace is normal between trials."""
    z = (distance / t - rate) / sd
    return special.ndtr(-z), distance / (sd * t**2) * normal_density(z, xp)


def log_normal(t, rate, sd, distance, xp):
    """The same of one whose time is log-normal, around ``distance`` over exp(``rate``)."""
    z = (xp.log(t / distance) + rate) / sd
    return special.ndtr(z), normal_density(z, xp) / (sd * t)


def normal_density(z, xp):
    return xp.exp(-0.5 * z**2) / (2 * 3.141592653589793) ** 0.5
'''

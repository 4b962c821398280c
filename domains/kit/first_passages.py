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
    width = ends[..., 1:] - ends[..., :-1]
    middle = ends[..., :-1] + 0.5 * width
    t = xp.stack([middle - 0.15**0.5 * width, middle, middle + 0.15**0.5 * width], axis=-1)
    return t.reshape((*t.shape[:-2], 3 * t.shape[-2]))


def in_bins(edges, ends, delay, span, xp):
    """Weights ``(..., n_points, n_bins)`` of a density for the share of responses in each bin.

    Delays vary evenly over ``span`` seconds around ``delay``. Weights of a share are integrals of the parabolas that
    are 1 at one point of a panel and 0 at the others; their mean over delays is a difference of second integrals.
    """
    span = xp.maximum(span, 1e-4)
    width = (ends[..., 1:] - ends[..., :-1])[..., None]
    root = 0.15**0.5

    def twice(shift):
        at = edges - (delay + shift)[..., None]
        place = (at[..., None, :] - ends[..., :-1, None]) / width - 0.5
        beyond = xp.maximum(place - 0.5, 0.0)
        x = xp.clip(place, -0.5, 0.5)
        even = x + 0.5
        square = 0.5 * even**2
        odd = 0.5 * ((x**3 + 0.125) / 3 - 0.25 * even)
        fourth = ((x**4 - 0.0625) / 4 + 0.125 * even) / 3
        outer = [(fourth + sign * root * odd) / 0.3 + 5 / 18 * beyond for sign in (-1, 1)]
        inner = square - fourth / 0.15 + 4 / 9 * beyond
        return xp.stack([outer[0], inner, outer[1]], axis=-2)

    mean = (twice(-0.5 * span) - twice(0.5 * span)) * (width[..., None] ** 2 / span[..., None, None, None])
    mean = mean.reshape((*mean.shape[:-3], 3 * mean.shape[-3], mean.shape[-1]))
    return mean[..., 1:] - mean[..., :-1]


def decided_bins(densities, edges, ends, delay, span, xp):
    """Bins of both responses, of responses between the first and the last edge, from densities at `points_of`."""
    return normed(xp.matmul(xp.stack(densities, axis=-2), in_bins(edges, ends, delay, span, xp)), xp)


def normed(p, xp):
    """Bins of two responses side by side, of which the sum is 1."""
    p = xp.maximum(xp.concatenate([p[..., 0, :], p[..., 1, :]], axis=-1), 0.0) + 1e-300
    return p / p.sum(axis=-1)[..., None]
'''
WIENER = '''
def wiener(t, drift, bound, start, unevenness, left, xp):
    """Densities of reaching the upper and the lower bound, 0 and ``bound``, from a share ``start`` of the way.

    Drifts of trials are normal with the standard deviation ``unevenness``. By Girsanov's theorem a drift multiplies the
    density of a walk without drift by a factor of the time and the distance gone, also where bounds move; ``left`` is
    the share of the bounds' distance at a time by which these distances are measured.
    """
    pi = 3.141592653589793
    s = t / bound**2
    norm, wide = (2 * pi * s**3) ** 0.5, 1 + unevenness**2 * t
    fall = [xp.exp(-((pi * n) ** 2) * s / 2) for n in (1, 2, 3, 4)]
    found = []
    for way, far in ((drift, 1 - start), (-drift, start)):
        early = sum((far + 2 * n) * xp.exp(-((far + 2 * n) ** 2) / (2 * s)) for n in (-1, 0, 1))
        late = pi * sum((n + 1) * fall[n] * xp.sin((n + 1) * pi * far) for n in range(4))
        gone = bound * (far - 0.5 * (1 - left))
        drifted = ((unevenness * gone) ** 2 + 2 * way * gone - way**2 * t) / (2 * wide)
        series = xp.maximum(xp.where(s < 0.25, early / norm, late), 0.0)
        found.append(series * xp.exp(xp.minimum(drifted, 500.0)) / (wide**0.5 * bound**2))
    return found
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
    spread, varied = 0.0 * delay if spread is None else spread, 0.0 if unevenness is None else unevenness[..., None]
    last = xp.maximum(edges[-1] - delay + 0.5 * spread, 0.05)
    close = near if span is None else near - span
    scale = bound**2 * xp.clip(0.08 * xp.maximum(close, 0.0) ** 2, 0.002, 0.03)
    ends = panels(scale, last, xp)
    t, left, densities = points_of(ends, xp), 1.0, [0.0, 0.0]
    if remaining is not None:
        left = xp.clip(remaining(t), 0.05, 1.0)
    for at, weight in starts_of(start + 0.0 * bound, span, xp):
        own = wiener(t, drift[..., None], bound[..., None], at[..., None], varied, left, xp)
        if remaining is not None:
            own = [part * more for part, more in zip(own, as_bounds_move(t, bound, at, remaining, xp))]
        densities = [whole + weight * part for whole, part in zip(densities, own)]
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
    return [
        xp.exp(xp.minimum(ratio[..., side, :1] + xp.matmul(place, steps[..., side, :, None])[..., 0] + after, 50.0))
        for side in (0, 1)
    ]
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


def first_of(racers):
    """Densities with which each of two accumulators is the first, from (distribution function, density) of each."""
    (below, density), (other_below, other_density) = racers
    return [density * (1 - other_below), other_density * (1 - below)]


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

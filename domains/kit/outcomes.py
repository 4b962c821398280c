"""Code that theories share where answers are levels, numbers or times: probabilities of each outcome of a grid.

Each text goes into the ``helpers`` of a grammar. Arguments have the axes of draws and trials; outcomes come last.

References:
    Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481 (variability and contaminants);
    Brown & Heathcote (2008), Cognitive Psychology 57, 153-178 (accumulators without noise);
    Tillman, Van Zandt & Logan (2020), Psychonomic Bulletin & Review 27, 911-936 (accumulators with noise);
    Luce (1986), Response times (ex-Gaussian and Wald);
    Richter, Ulrich & Janczyk (2023), Journal of Mathematical Psychology 115, 102756 (drifts that change with time).
"""

from __future__ import annotations

CENSORED_NORMAL = '''
def censored_normal(mean, sd, edges, xp):
    """Bins of a normal of which all that lies beyond an end is answered by the end itself."""
    below = special.ndtr((edges[1:-1] - mean[..., None]) / sd[..., None])
    none = 0.0 * (mean + sd)[..., None]
    below = xp.concatenate([none, below + none, none + 1.0], axis=-1)
    return below[..., 1:] - below[..., :-1]
'''
STARTS = '''
def starts_of(start, span, xp):
    """Places and weights of a start that varies evenly over ``span``, a share of the bounds' distance, within them."""
    if span is None:
        return ((start, 1.0),)
    half = xp.minimum(0.5 * span, xp.minimum(start, 1 - start) - 0.005)
    # three points of Gauss and Legendre in each third
    nodes = ((-(0.6**0.5), 5 / 54), (0.0, 4 / 27), (0.6**0.5, 5 / 54))
    return tuple((start + (third + node) / 3 * half, weight) for third in (-2, 0, 2) for node, weight in nodes)
'''
PASSAGES = '''

def step_times(bound, xp):
    """Ends of the steps in which a walk is followed, in seconds: 20 short and 15 long ones for any distance of bounds.

    After them all but 0.3% of the walks without drift have ended, and nearly all others.
    """
    ends = xp.concatenate([0.015 * xp.arange(21), 0.3 + 0.06 * xp.arange(1, 16)])
    return bound[..., None] ** 2 * ends


def reached(t, drift, distance, xp):
    """Share of walks with a drift that have gone a distance by a time, where nothing else ends them."""
    turned = xp.exp(xp.minimum(2 * drift * distance + special.log_ndtr(-(drift * t + distance) / t**0.5), 0.0))
    return special.ndtr((drift * t - distance) / t**0.5) + turned


def passages(drift, bound, start, xp, span=None, remaining=None):
    """Shares of walks that reach the upper, and the lower, bound in each step; the drift is constant within a step.

    ``drift`` has an axis of 35 steps. Distances are in units of ``bound`` and times in units of its square. Starts of
    trials vary evenly over ``span``, a share of the bounds' distance. ``remaining`` is the share of that distance which
    is left at the 36 ends of steps and changes evenly between them. None: nothing varies.
    Seen from bounds that close evenly a walk drifts outwards, too. Without the factor exp(m u + c u u / 2), with u the
    place from the middle, m the drift and c the pace of closing, it has none, and each sine wave decays on its own.
    """
    pi, n = 3.141592653589793, 16
    k = xp.arange(1, n)
    place = k / n - 0.5
    sines = xp.sin(pi * k[:, None] * (k / n))
    into_waves = sines * (2 / n)
    decay, slope = (pi * k) ** 2 / 2, pi * k / 2
    slope_above = slope * (1.0 - 2.0 * (k % 2 == 0))
    m = xp.clip(drift * bound[..., None], -25.0, 25.0)
    narrow, pace, wide = 1.0, 0.0, 1.0
    above, under = [], []
    for number in range(35):
        time = 0.015 if number < 20 else 0.06
        now = m[..., number]
        lost = 0.5 * time * now**2
        before, paced = (now, pace) if number == 0 else (m[..., number - 1], pace)
        if remaining is not None:
            narrow = remaining[..., number + 1] + 0.0 * now
            pace = (wide - narrow) / time
            lost = lost + 0.5 * xp.log(wide / narrow)
        fall = (time / (wide * narrow) + 0.0 * now)[..., None] * decay
        if number == 0:
            waves = 0.0
            for at, weight in starts_of(start + 0.0 * now, span, xp):
                above.append(weight * reached(time, now + 0.5 * pace, 1 - at, xp))
                under.append(weight * reached(time, 0.5 * pace - now, at, xp))
                apart = xp.exp(-now * (at - 0.5) - 0.5 * pace * (at - 0.5) ** 2)
                waves = waves + (2 * weight * apart)[..., None] * xp.sin(pi * k * at[..., None])
            above, under = [sum(above)], [sum(under)]
        else:
            turned = (before - now)[..., None] * place
            if remaining is not None:
                turned = (wide + 0.0 * now)[..., None] * (turned + 0.5 * (paced - pace)[..., None] * place**2)
            waves = xp.matmul(xp.matmul(left, sines) * xp.exp(turned), into_waves)
            # what leaves by a bound changes evenly in logarithm, but for the decay of its waves (and, last, a bend)
            for ended, side, shape in ((above, 0.5, slope_above), (under, -0.5, slope)):
                outwards = side * now + pace / 8
                if remaining is not None or ended is above:
                    whole = fall + (lost + (wide - narrow) * outwards)[..., None]
                    whole = xp.where(xp.abs(whole) < 1e-6, 1e-6, whole)
                    gone = waves * (fall / decay) * -xp.expm1(-whole) / whole
                if remaining is not None:
                    bent = (0.5 * (wide - narrow) * outwards + 0.25 * time * now**2) / (narrow + wide)
                    gone = gone * xp.exp(-2 / 3 * (wide - narrow) * bent)[..., None]
                ended.append(xp.exp(wide * outwards) * xp.matmul(gone, shape))
        left = waves * xp.exp(-fall - lost[..., None])
        wide = narrow
    return xp.stack([xp.stack(above, axis=-1), xp.stack(under, axis=-1)], axis=-2)
'''
CHANGING_DRIFT = (
    STARTS
    + PASSAGES
    + '''

def delayed(times, delay, spread, edges, xp):
    """Share of what ends in each step that is answered in each bin: later by a delay with a logistic distribution."""
    apart = (edges - (times + delay[..., None])[..., None]) / spread[..., None, None]
    # integral of the distribution function
    below = xp.maximum(apart, 0.0) + xp.log1p(xp.exp(-xp.abs(apart)))
    width = (times[..., 1:] - times[..., :-1])[..., None] / spread[..., None, None]
    reached = (below[..., :-1, :] - below[..., 1:, :]) / width
    return reached[..., 1:] - reached[..., :-1]


def changing_drift_bins(
    edges, evidence, bound, start, delay, spread, unevenness, xp, span=None, remaining=None
):
    """Both responses (upper bound first) by bins of time, of answers that fall between the first and the last edge.

    ``evidence`` gives the mean drift between two times. Drifts of trials vary around it with the standard deviation
    ``unevenness``, by three points that have the moments of a normal; None where they do not vary. Starts vary over
    ``span``; ``remaining`` gives the share of the bounds' distance that is left at a time; 5% stay in any case.
    """
    times = step_times(bound, xp)
    drift = evidence(times[..., :-1], times[..., 1:])
    if remaining is not None:
        remaining = xp.clip(remaining(times), 0.05, 1.0)
    if unevenness is None:
        ended = passages(drift, bound, start, xp, span, remaining)
    else:
        away = 3**0.5 * unevenness[..., None]
        ended = sum(
            share * passages(drift + point * away, bound, start, xp, span, remaining)
            for point, share in ((-1, 1 / 6), (0, 2 / 3), (1, 1 / 6))
        )
    p = xp.maximum(xp.matmul(ended, delayed(times, delay, spread, edges, xp)), 0.0)
    p = xp.concatenate([p[..., 0, :], p[..., 1, :]], axis=-1) + 1e-300
    return p / p.sum(axis=-1)[..., None]
'''
)
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
RACE = '''
def ballistic(t, drift, sd, distance, span, xp):
    """Distribution function of the time at which something that moves evenly has gone a distance.

    Drifts are normal between trials, distances of the start even within 1 - span to 1 + span of ``distance``.
    """
    begun = t > 1e-9
    t = xp.where(begun, t, 1.0)
    away = xp.maximum(span, 1e-3) * distance

    def mean_part(z):
        return z * special.ndtr(z) + 0.39894228 * xp.exp(-0.5 * z**2)

    noise = t * sd
    near, far = ((drift * t - distance + side * away) / noise for side in (1, -1))
    return xp.where(begun, xp.clip(noise * (mean_part(near) - mean_part(far)) / (2 * away), 0.0, 1.0), 0.0)


def race(below, xp):
    """Shares of races that each accumulator wins in each step between times.

    ``below`` holds the distribution function of each one's time at the ends of steps, as if it were alone. Who never
    arrives has zeros. Two accumulators share exactly what ends in a step; more of them but for terms of third order.
    """
    won = []
    for place, own in enumerate(below):
        others = 1.0
        for number, rest in enumerate(below):
            if number != place:
                others = others * (1 - rest)
        won.append((own[..., 1:] - own[..., :-1]) * 0.5 * (others[..., 1:] + others[..., :-1]))
    return won


def race_times(xp):
    """Ends of the steps in which a race is followed, in seconds: 0.02 at first and 0.1 at last."""
    return xp.concatenate([0.02 * xp.arange(31), 0.6 + 0.04 * xp.arange(1, 11), 1.0 + 0.1 * xp.arange(1, 21)])


def arrivals(times, drift, distance, span, unevenness, remaining, xp):
    """Distribution function of the time at which one accumulator with noise has gone a distance.

    Distances and drifts of trials vary by three points each. A distance that shrinks is followed by its tangents
    (Ferebee, 1982, Zeitschrift für Wahrscheinlichkeitstheorie 61, 309-326).
    """
    even, normal = 0.6**0.5, 3**0.5
    starts = ((0.0, 1.0),) if span is None else ((-even, 5 / 18), (0.0, 4 / 9), (even, 5 / 18))
    drifts = ((0.0, 1.0),) if unevenness is None else ((-normal, 1 / 6), (0.0, 2 / 3), (normal, 1 / 6))
    below = 0.0
    for at, share in starts:
        far = distance if span is None else distance * (1 + at * span)
        for point, weight in drifts:
            fast = drift if unevenness is None else drift + point * unevenness
            if remaining is None:
                own = shifted_wald(times, fast[..., None], far[..., None], 0.0, xp)
            else:
                nearer = 0.0 if span is None else -(at * span)[..., None, None]
                numbers = fast[..., None, None], distance[..., None, None], nearer
                own = arrivals_by_tangents(times, *numbers, remaining, xp)
            below = below + share * weight * own
    return below


def arrivals_by_tangents(times, drift, distance, nearer, remaining, xp):
    """Distribution function at times of reaching a distance that shrinks, from three points within each step.

    Who starts ``nearer`` by a share of the first distance has that much less to go; 5% of it are left in any case.
    """
    half = 0.5 * (times[1:] - times[:-1])[:, None]
    t = times[:-1, None] + half * xp.array([1 - 0.6**0.5, 1.0, 1 + 0.6**0.5])
    weights = half * xp.array([5 / 9, 8 / 9, 5 / 9])

    def left(at):
        # remaining is of an axis of times
        shape = at.shape
        found = xp.clip(remaining(at.reshape(-1)), 0.05, 1.0)
        return xp.maximum(found.reshape((*found.shape[:-1], *shape)) - nearer, 0.05)

    share, slope = left(t), (left(1.001 * t) - left(0.999 * t)) / (0.002 * t)
    density = distance * (share - t * slope) * xp.exp(-((distance * share - drift * t) ** 2) / (2 * t))
    passed = (density / (6.2831853 * t**3) ** 0.5 * weights).sum(axis=-1).cumsum(axis=-1)
    return xp.concatenate([0.0 * passed[..., :1], xp.minimum(passed, 1.0)], axis=-1)


def race_bins(edges, times, below, delay, spread, xp):
    """Right and wrong answers by bins of time, of races that are answered between the first and the last edge.

    ``below`` are distribution functions of when the right accumulator and the wrong ones arrive.
    """
    right, *wrong = race(below, xp)
    ended = xp.stack([right, sum(wrong)], axis=-2)
    p = xp.maximum(xp.matmul(ended, delayed(times, delay, spread, edges, xp)), 0.0)
    p = xp.concatenate([p[..., 0, :], p[..., 1, :]], axis=-1) + 1e-300
    return p / p.sum(axis=-1)[..., None]
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

"""Code that theories of choice among several options share: elimination by aspects, and choice of what is left.

``evidence`` is in log odds and ``kept`` is 1 for options that are still considered, ``(n_draws, n_trials, n_options)``.
"""

from __future__ import annotations

ELIMINATE = '''
def eliminate(aspects, weights, xp):
    """Choice by elimination: pick an aspect that some but not all have, by its weight; drop those without; repeat.

    Every set of remaining offers is a number whose bits say who is left; each passes its probability on to its subsets.
    """
    n = aspects[0].shape[-1]
    lacks = [1 - aspect for aspect in aspects]
    full = 2**n - 1
    reached = {full: 1.0}
    p = [0.0] * n
    for here in range(full, 0, -1):
        if here not in reached:
            continue
        members = [place for place in range(n) if here >> place & 1]
        useful = []
        for aspect, weight in zip(aspects, weights):
            owners = sum(aspect[..., place] for place in members)
            useful.append(weight * (owners > 0) * (owners < len(members)))
        total = sum(useful)
        stays = reached[here] * (total == 0)
        for place in members:
            p[place] = p[place] + stays / len(members)
        passed = reached[here] / xp.where(total > 0, total, 1.0)
        for there in range(1, here):
            if there & here != there:
                continue
            step = 0.0
            for aspect, lack, weight in zip(aspects, lacks, useful):
                fits = weight
                for place in members:
                    fits = fits * (aspect if there >> place & 1 else lack)[..., place]
                step = step + fits
            reached[there] = reached.get(there, 0.0) + passed * step
    return xp.stack(p, axis=-1)
'''
"""Function at module level that chooses by elimination."""

LOGISTIC = """
evidence = xp.where(kept > 0, evidence, -1e30)
strength = kept * xp.exp(xp.clip(evidence - evidence.max(axis=-1)[..., None], -500.0, 0.0))
p = strength / strength.sum(axis=-1)[..., None]
"""
DETERMINISTIC = """
evidence = xp.where(kept > 0, evidence, -1e30)
best = kept * (evidence >= evidence.max(axis=-1)[..., None] - 1e-9)
p = best / best.sum(axis=-1)[..., None]
"""
LAPSE_CODE = (
    'p = parameters["lapse"][..., None] / p.shape[-1] + (1 - parameters["lapse"][..., None]) * p'
)

"""Report to the author of a draft: its scores beside other theories', what was learned, what it misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.discovery.roles.exhibit import estimate_in_words, rounded, share_text
from lakatos.theories.discovery.roles.overview import deviations
from lakatos.theories.engine.fitting.fit import Scored
from lakatos.theories.engine.scoring.score import UnitScores, paired_difference, proportion_error
from lakatos.theories.language.theory import Theory

MOST_MISSED: Final = 6
ALIKE: Final = 0.02
"""Root mean square of shares below which two theories predict the same."""


def draft_report(
    theory: Theory,
    scored: Sequence[Scored],
    trials: Mapping[str, Trials],
    rivals: Mapping[str, Sequence[UnitScores]],
    domain: Domain,
) -> dict[str, Any]:
    """Plain values for a prompt.

    Args:
        theory: The draft with the people that all answers taught.
        scored: Scores of each experiment, predicted from the others, as for every theory of the leaderboard.
        trials: Responses by experiment, in the same order.
        rivals: Scores of other theories on the same experiments, by name.
        domain: Describes trials.
    """
    own = [item.left_out for item in scored]
    report: dict[str, Any] = {
        "score_nats_per_choice": rounded(float(np.mean([s.mean for s in own])))
    }
    for name, scores in rivals.items():
        ahead = paired_difference(own, scores)
        report[f"ahead of {name}"] = (
            f"{rounded(ahead.value)} +- {rounded(2 * ahead.standard_error)}"
        )
    for place, (name, item) in enumerate(trials.items()):
        error, _ = proportion_error(scored[place].mean, item)
        beside = ", ".join(
            f"{rival} {rounded(scores[place].mean)}" for rival, scores in rivals.items()
        )
        report[f"experiment {name}"] = (
            f"score {rounded(own[place].mean)} ({beside}), squared_error {rounded(error)}"
        )
    report |= {f"learned {name}": estimate_in_words(prior) for name, prior in theory.priors.items()}
    report["missed most"] = _missed(scored, trials, domain)
    return report


def likeness(
    own: Sequence[NDArray[np.float64]], others: Mapping[str, Sequence[NDArray[np.float64]]]
) -> str:
    """Describe which theory predicts most like a draft and how far apart they are; empty where there is no other.

    Args:
        own: ``(n_trials, n_options)`` shares in each experiment.
        others: The same of other theories, by name.
    """
    distances = {
        name: float(
            np.sqrt(np.mean([np.mean((a - b) ** 2) for a, b in zip(own, theirs, strict=True)]))
        )
        for name, theirs in others.items()
    }
    if not distances:
        return ""
    name = min(distances, key=lambda other: distances[other])
    same = (
        "; IT PREDICTS THE SAME, so another kind of rule is worth more"
        if distances[name] < ALIKE
        else ""
    )
    return f"{name}, {rounded(distances[name])} apart (root mean square){same}"


def _missed(
    scored: Sequence[Scored], trials: Mapping[str, Trials], domain: Domain
) -> list[dict[str, Any]]:
    """The trials on which people deviate most from the draft, in standard errors."""
    found = []
    for (name, item), own in zip(trials.items(), scored, strict=True):
        size = deviations(item, own.mean)
        for row in np.flatnonzero(item.totals.sum(axis=1)):
            option = int(size[row].argmax()) if item.n_options > 2 else 1
            found.append((float(size[row].max()), name, int(row), option, own.mean[row, option]))
    found.sort(key=lambda miss: (-miss[0], miss[1], miss[2]))
    return [
        {
            "experiment": name,
            "trial": row + 1,
            "shown": domain.describe(trials[name].stimuli, row),
            "option": option + 1,
            "people": rounded(float(trials[name].proportions[row, option])),
            "draft": rounded(float(predicted)),
            "standard_errors": rounded(size),
        }
        for size, name, row, option, predicted in found[:MOST_MISSED]
    ]


def missed_in_words(item: Mapping[str, Any]) -> str:
    """A trial that a draft misses, in a line."""
    people, draft = share_text(item["people"]), share_text(item["draft"])
    return (
        f"experiment {item['experiment']}, trial {item['trial']} ({item['shown']}): option {item['option']} chosen by "
        f"{people}, predicted {draft}, {item['standard_errors']} standard errors apart"
    )

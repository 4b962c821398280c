"""A rule judge: an advantage that each additional parameter must pay for."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from lakatos.judges.judge import JudgeSubmission
from lakatos.traces.digest import Digest, digest_of

WEAKEST, STRONGEST = 0.02, 0.98
"""A rule is never surer than this, so that one surprise does not ruin its log score."""


@dataclass(frozen=True)
class ParsimonyJudge:
    """Corrects the advantage so far for its parameters, and turns the rest into a probability.

    Fitting k more parameters gains about k nats on the answers so far without being worth anything on the next ones
    (twice the optimism of half a nat per parameter; Akaike 1974, IEEE Transactions on Automatic Control 19, 716-723).
    But a fit that moved the predictions little can lose little. Under the null its total gain G has the variance
    V = 2 G, and on as many new answers it loses G on average, so the correction is never larger than V, the squared
    standard error of the total. Without this bound the rule is sure that a harmless parameter will lose, where the
    next data toss a coin.

    What remains is read off the normal distribution with the error of the next data, not only of those so far: the
    next experiment brings ``next_share`` as many answers, so that the variance of its advantage about the one seen is
    (1 + 1 / ``next_share``) times the squared standard error. Candidates closer than ``nearest`` in their predictions
    are duplicates, and the answer is even odds.
    """

    nearest: float = 0.005
    """Root mean square distance of proportions below which two theories count as one."""
    next_share: float = 0.25
    """Answers of the next experiment as a share of those so far."""
    name: str = "parsimony"

    @property
    def digest(self) -> Digest:
        """Version: the rule's code and settings."""
        return digest_of(
            {
                "code": inspect.getsource(type(self)),
                "nearest": self.nearest,
                "next_share": self.next_share,
                "limits": [WEAKEST, STRONGEST],
            }
        )

    def judge(self, submission: JudgeSubmission) -> float:
        """Probability that people's next data favour the candidate."""
        if submission.distance < self.nearest:
            return 0.5
        n_choices = max(submission.n_choices, 1)
        variance = (n_choices * submission.standard_error) ** 2
        correction = np.sign(submission.extra_parameters) * min(
            abs(submission.extra_parameters), variance
        )
        corrected = submission.advantage - correction / n_choices
        standard_error = submission.standard_error * np.sqrt(1 + 1 / self.next_share)
        probability = float(norm.cdf(corrected / max(standard_error, 1e-9)))
        return float(np.clip(probability, WEAKEST, STRONGEST))

"""A rule judge: an advantage that each additional parameter must pay for."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from judges.judge import Submission
from traces.digest import Digest, digest_of

WEAKEST, STRONGEST = 0.02, 0.98
"""A rule is never surer than this, so that one surprise does not ruin its log score."""


@dataclass(frozen=True)
class ParsimonyJudge:
    """Corrects the advantage so far for its parameters, and turns the rest into a probability.

    Fitting k more parameters gains about k / n nats per choice on n answers without being worth anything on the next
    ones (twice the optimism of half a nat per parameter; Akaike 1974, IEEE Transactions on Automatic Control 19,
    716-723). What remains, in units of its standard error, is read off the normal distribution. Candidates closer than
    ``nearest`` in their predictions are duplicates, and the answer is even odds.
    """

    nearest: float = 0.005
    """Root mean square distance of proportions below which two theories count as one."""
    name: str = "parsimony"

    @property
    def digest(self) -> Digest:
        """Version: the rule's code and settings."""
        return digest_of(
            {"code": inspect.getsource(type(self)), "nearest": self.nearest, "limits": [WEAKEST, STRONGEST]}
        )

    def judge(self, submission: Submission) -> float:
        """Probability that people's next data favour the candidate."""
        if submission.distance < self.nearest:
            return 0.5
        corrected = submission.advantage - submission.extra_parameters / max(submission.n_choices, 1)
        probability = float(norm.cdf(corrected / max(submission.standard_error, 1e-9)))
        return float(np.clip(probability, WEAKEST, STRONGEST))

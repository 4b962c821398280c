"""What mechanisms of several slots say alike."""

FIRST = ("best_cue_favours", "first_difference_favours", "conflict")
"""Features that tell whether the most valid cues count more than a theory says."""
COUNTS = ("n_cues_favouring", "total_difference", "largest_difference")
"""Features that tell whether the number of reasons counts more than their size."""
POSITIVE = (
    "weight:validity",
    "weight:above_chance",
    "weight:log_odds",
    "weight:equal",
    "weight:power",
    "weight:relative_power",
    "weight:exponential",
    "weight:rank_decay",
)
"""Weights that count for a product throughout, so that their sizes change nothing where one cue decides."""
SHARE = "share of the maximum"
"""Unit of ratings."""
PAYNE = "Payne, Bettman & Johnson (1988), JEP: LMC 14(3), 534-552."
EINHORN = "Einhorn (1970), Psychological Bulletin 73(3), 221-230."
COOMBS = "Coombs & Avrunin (1977), Psychological Review 84(2), 216-230."
ORDER_EFFECTS = "Hogarth & Einhorn (1992), Cognitive Psychology 24(1), 1-55."
REACTANCE = "Brehm (1966), A Theory of Psychological Reactance."

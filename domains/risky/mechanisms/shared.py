"""What mechanisms of several slots share: references, and predictions that they destroy."""

BEAST = "Erev, Ert, Plonsky, Cohen & Cohen (2017), Psychological Review 124(4), 369-409"
HEURISTICS = "Brandstätter, Gigerenzer & Hertwig (2006), Psychological Review 113, 409-432"
THORNGATE = "Thorngate (1980), Behavioral Science 25, 219-225"

MONOTONE = ("best_amount", "worst_amount", "amounts", "best_probability", "dominance")
"""Predictions that a gamble is never chosen less often because something of it is better."""

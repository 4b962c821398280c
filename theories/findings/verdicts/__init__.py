"""Basis of a verdict: advantages, company, sensitivity, truth, words. Open `conclude.py` first."""

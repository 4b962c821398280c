"""Estimation of a function from its points."""

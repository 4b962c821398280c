"""Predictions without psychology, and how much of them a theory reaches."""

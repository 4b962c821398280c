"""Measurements; `run.py` runs each by its name. A script says what it measures, and resumes where it stopped."""

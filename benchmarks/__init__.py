"""Measurements; each script says what it measures, resumes where it stopped and writes JSON to `results/`."""

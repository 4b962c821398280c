"""Explanations of behaviour as code: checked, run, scored, diagnosed, revised. Open `theory.py` first."""

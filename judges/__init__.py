"""Opinions where data have not settled it yet. Open `epoch.py` first."""

"""A stand-in for Prolific on this machine, and a whole recruitment against it. Open `rehearsal.py` first."""

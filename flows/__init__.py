"""The loop, the command line and the report. Open `cycle.py` first."""

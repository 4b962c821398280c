"""Decisions to go on or to stop, as in pumping up a balloon."""

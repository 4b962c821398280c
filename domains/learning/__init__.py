"""Learning from the outcomes of choices."""

"""One reader of a run, and what it shows: facts, figures, why, explanations."""

"""Learning who a theory's people are: populations for scores, posteriors for inference."""

"""The observatory: one or all runs in a browser, live while they go on, and never written to."""

"""Examination that a program must pass before it enters as a theory, and its name then."""

"""Answers that somebody already has: read from a file, described, and brought into the form of an experiment."""

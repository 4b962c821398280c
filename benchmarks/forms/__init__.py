"""Benchmarks of the trace and its audit, each with its own command."""

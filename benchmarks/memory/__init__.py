"""Benchmarks of memory, each with its own command."""

"""Benchmarks of forensics, each with its own command."""

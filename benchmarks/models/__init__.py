"""Benchmarks of language models: clients, tools, pinned rules."""

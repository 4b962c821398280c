"""Benchmarks of judges and of what is decided with them."""

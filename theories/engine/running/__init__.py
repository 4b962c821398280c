"""Theories on people's trials: what is asked of their processes, step by step or all at once."""

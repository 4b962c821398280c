"""Induction of rules that no textbook names: elementary terms, a search over them, and the source of what it finds."""

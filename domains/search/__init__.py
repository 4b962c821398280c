"""Decisions to take a value or to search on."""

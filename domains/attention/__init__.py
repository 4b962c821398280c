"""Timed responses under conflict."""

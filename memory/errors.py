"""Errors of memory.

LessonError  a lesson without evidence
"""


class LessonError(Exception):
    """A lesson without evidence, or one that cannot be read."""

"""Errors of language models.

LanguageModelError
└── ScriptExhaustedError  a scripted model was asked more often than it has answers
"""


class LanguageModelError(Exception):
    """Root of all errors of this package."""


class ScriptExhaustedError(LanguageModelError):
    """A scripted model was asked more often than it has answers."""

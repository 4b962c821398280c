"""Errors of serving language models.

LanguageModelError
└── ServingError
    ├── ProfileError       a profile cannot be read, or asks for what the installed server does not know
    ├── InstallationError vLLM's environment cannot be made, or is not what its lock says
    └── ServerError        a server did not come up, or died more often than allowed
"""

from __future__ import annotations

from typing import ClassVar

from lakatos.language_models.errors import LanguageModelError


class ServingError(LanguageModelError):
    """Root of the errors of serving."""

    exit_code: ClassVar[int] = 1


class ProfileError(ServingError):
    """A profile cannot be read, or asks for what the installed server does not know."""

    exit_code = 2


class InstallationError(ServingError):
    """vLLM's environment cannot be made, or is not what its lock says."""

    exit_code = 6


class ServerError(ServingError):
    """A server did not come up, or died more often than allowed."""

    exit_code = 5

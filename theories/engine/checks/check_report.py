"""Report of an examination: one line for each step, and the whole of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakatos.theories import errors


@dataclass(frozen=True)
class TheoryCheck:
    """One thing that was tried, and what came out."""

    name: str
    passed: bool
    value: float | None
    """The number measured; None where nothing could be."""
    limit: float | None
    """Limit with which ``value`` is compared; None where it only informs."""
    sentence: str
    """The result in words; of a failure also where it lies and what to do."""
    required: bool = True
    """Whether a failure refuses the theory; other failures are advice."""
    error: str = ""
    """Class of `theories.errors` that a failure is raised as."""


@dataclass(frozen=True)
class CheckReport:
    """Everything that was tried on one program."""

    theory: str
    digest: str
    domain: str
    checks: tuple[TheoryCheck, ...]
    broadcasts: bool = True
    """Whether it runs with all draws at once, not only one draw at a time."""

    @property
    def passed(self) -> bool:
        """Whether the program may enter as a theory."""
        return not self.failures

    @property
    def failures(self) -> tuple[TheoryCheck, ...]:
        """The required checks that the theory did not pass."""
        return tuple(check for check in self.checks if check.required and not check.passed)

    def raise_for_failure(self) -> None:
        """Raise the first failure as the `TheoryError` that it is; nothing when there is none."""
        for check in self.failures:
            raise getattr(errors, check.error or "TheoryError")(check.sentence)

    def to_text(self) -> str:
        """A line for each check, failures and advice marked."""
        verdict = "accepted" if self.passed else "refused"
        width = max(len(check.name) for check in self.checks)
        lines = [
            f"{self.theory} ({self.digest[:6]}), checked for the domain {self.domain!r}: {verdict}."
        ]
        for check in self.checks:
            mark = "ok    " if check.passed else "FAILED" if check.required else "advice"
            lines.append(f"  {mark}  {check.name:<{width}}  {check.sentence}")
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values, for records and for advocates that are programs."""
        return {
            "theory": self.theory,
            "digest": self.digest,
            "domain": self.domain,
            "passed": self.passed,
            "checks": [
                {
                    "name": check.name,
                    "passed": check.passed,
                    "required": check.required,
                    "value": check.value,
                    "limit": check.limit,
                    "sentence": check.sentence,
                    **({"error": check.error} if check.error else {}),
                }
                for check in self.checks
            ],
        }

"""Words about a language model that responds in place of people, and the settings of the page that concern it."""

from __future__ import annotations

from typing import Final

MISSING: Final = (
    "If the language model refuses, or its response cannot be read in two attempts, the response is missing. Missing "
    "responses are recorded with the reason, left out, and not imputed."
)
"""Treatment of missing responses, for the preregistration."""
MISSING_IN_SCHEDULE: Final = (
    "A session ends at its first missing response, because later steps depend on it."
)
PAGE_KEYS: Final = frozenset({"language", "checks", "most_attempts", "texts"})
"""Settings of the page that mean something to a model."""
TIME_RULES: Final = frozenset(
    {"median_time_below_ms", "impossible_times_above", "fast_responses_above", "fast_response_ms"}
)
"""Exclusions by response times, which a model does not have."""


def words_of_missing_answers(model: str, *, sequential: bool) -> tuple[str, ...]:
    """State what becomes of responses that a language model does not give, for the preregistration.

    Args:
        model: Name in the study; empty where people answer, of whom nothing is said.
        sequential: Whether something follows each response.
    """
    if not model:
        return ()
    who = (
        f"The language model {model!r} responds in place of participants, in a separate session for "
        "each. Its responses are never scored together with human responses."
    )
    return (who, MISSING, *([MISSING_IN_SCHEDULE] if sequential else []))

"""What is written down of calls to language models."""

from __future__ import annotations

from typing import Final, Literal

from lakatos.language_models.client import TokenSampling
from lakatos.language_models.outcome import Outcome
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record, RecordTypes


class LanguageModelCalled(Record):
    """A language model was asked, and this came back.

    What depends on the hour (tries, latency, tokens that the server had cached, and so money) is no part of it: it is
    in the notes of the same step, see `language_models.ledger`.
    """

    kind: Literal["language_model_called"] = "language_model_called"
    version: Literal[1] = 1
    role: str
    """What it was asked as: advocate, judge, ..."""
    model: str
    """As the study names it."""
    model_version: Fingerprint
    """Of what the study declares."""
    model_name: str
    """As the server names it."""
    server: str
    """Version or fingerprint of the server, where it tells."""
    request: Digest
    """Artifact of the request; its seed is replaced by the one below."""
    sampling: TokenSampling
    """How tokens were drawn."""
    seed: int
    """Of this call."""
    completion: Digest
    """Artifact of the completion, with log probabilities if they were asked for."""
    finish_reason: str
    """As the server says."""
    outcome: Outcome
    """What became of it, before anybody read what it says."""
    n_prompt_tokens: int
    """As the server counts."""
    n_completion_tokens: int
    """As the server counts."""
    withheld: tuple[str, ...] = ()
    """Fields of the request that were not sent, since the settings or the server do not allow them."""


RECORDS: Final[RecordTypes] = {"language_model_called": LanguageModelCalled}
"""For the table of a trace's types."""

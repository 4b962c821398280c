"""Records of calls to language models."""

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
    """Role of the call: advocate, reviser, ..."""
    model: str
    """Name of the model in the study."""
    model_version: Fingerprint
    """Digest of the study's settings of the model."""
    model_name: str
    """Name of the model on the server."""
    server: str
    """Version or fingerprint of the server, if it reports one."""
    request: Digest
    """Artifact of the request; ``seed`` replaces its seed."""
    sampling: TokenSampling
    """Sampling of tokens."""
    seed: int
    """Seed of this call."""
    completion: Digest
    """Artifact of the completion, with log probabilities if they were requested."""
    finish_reason: str
    """Finish reason that the server reported."""
    outcome: Outcome
    """Technical outcome of the call, before its content is read."""
    n_prompt_tokens: int
    """Number of prompt tokens that the server reported."""
    n_completion_tokens: int
    """Number of completion tokens that the server reported."""
    withheld: tuple[str, ...] = ()
    """Fields of the request that were not sent, because settings or server do not allow them."""


RECORDS: Final[RecordTypes] = {"language_model_called": LanguageModelCalled}
"""Records of calls, for the table of a trace's types."""

"""Errors of language models; their classes say whether asking again can help.

LanguageModelError
├── ScriptExhaustedError       a scripted model was asked more often than it has answers
├── ModelSettingsError         the settings of a model cannot work
├── TransientError             asking again can help
│   ├── UnreachableError       no connection, or it broke
│   ├── SlowServerError        no answer within the time allowed
│   ├── RateLimitedError       asked too often (429)
│   └── ServerFailedError      the server failed (408, 409, 5xx), or its answer is not the protocol's
│       └── WrongAddressError  a web page answers there
├── RequestRefusedError        asking again gives the same
│   ├── KeyRefusedError        no key, or the wrong one (401, 403)
│   ├── ModelAbsentError       the server has no such model (404)
│   ├── ContextTooLongError    prompt and answer do not fit the context
│   ├── SchemaRefusedError     no server can enforce the form of an answer
│   └── QuotaExhaustedError    the account has no money left
├── BudgetExhaustedError       the run's budget does not cover the next call
├── PinnedRuleError            the pinned rules are not what they should be
│   ├── RuleRefusedError       a rule is not signed, or is not one that can be pinned
│   ├── PinsAlteredError       a request does not carry the pinned rules as they are stored
│   └── PinsTooLongError       the pinned rules take more of the context than they may
├── ToolboxError               a toolbox cannot offer these tools
└── ToolError                  a tool cannot do what it was asked; the model is told why
"""


class LanguageModelError(Exception):
    """Root of all errors of this package."""


class ScriptExhaustedError(LanguageModelError):
    """A scripted model was asked more often than it has answers."""


class ModelSettingsError(LanguageModelError):
    """The settings of a model cannot work."""


class TransientError(LanguageModelError):
    """A failure that may pass: asking again can help."""

    may_have_cost = False
    """Whether the server may have worked, and charged, although no answer arrived."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds that the server requires to wait; None if it does not state them."""


class UnreachableError(TransientError):
    """No connection, or it broke."""

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, may_have_cost: bool = True
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.may_have_cost = may_have_cost


class SlowServerError(TransientError):
    """No answer within the time allowed."""

    may_have_cost = True


class RateLimitedError(TransientError):
    """The server says that it was asked too often."""


class ServerFailedError(TransientError):
    """The server failed, or answered something that is not the protocol's."""

    may_have_cost = True


class WrongAddressError(ServerFailedError):
    """A web page answers, not the OpenAI protocol: the address is wrong, or a page of a proxy stands in between."""


class RequestRefusedError(LanguageModelError):
    """Asking again gives the same."""


class KeyRefusedError(RequestRefusedError):
    """No key, or the wrong one."""


class ModelAbsentError(RequestRefusedError):
    """The server has no such model."""


class ContextTooLongError(RequestRefusedError):
    """Prompt and answer do not fit the context."""


class SchemaRefusedError(RequestRefusedError):
    """The type of an answer needs what no server can enforce."""


class QuotaExhaustedError(RequestRefusedError):
    """The account has no money left."""


class BudgetExhaustedError(LanguageModelError):
    """The run's budget does not cover the next call; nothing was sent."""


class PinnedRuleError(LanguageModelError):
    """The pinned rules are not what they should be."""


class RuleRefusedError(PinnedRuleError):
    """A rule is not signed, or is not one that can be pinned."""


class PinsAlteredError(PinnedRuleError):
    """A request does not carry the pinned rules as they are stored."""


class PinsTooLongError(PinnedRuleError):
    """The pinned rules take more of the context than they may."""


class ToolboxError(LanguageModelError):
    """A toolbox cannot offer these tools."""


class ToolError(LanguageModelError):
    """A tool cannot do what it was asked; the model is told why."""

"""Errors of the AI package.

AIError
├── RequestInvalid      the question or its context cannot be asked (VALIDATION_FAILED; `details` says where)
├── UnknownProfile      no such profile
├── ModelUnavailable    the chat model cannot be reached, or failed while generating
│   └── ModelMissing    the server has no such model
├── ModelTimeout        the chat model gave no answer in time
├── PromptTooLong       the prompt does not fit the model's context window
├── TemplateNotFound    no such prompt template version
└── ReplayImpossible    an entry that lacks the parts which a grade needs; says which
"""

from __future__ import annotations


class AIError(Exception):
    """Root of the package's errors; `code` is what the edge reports."""

    code = "INTERNAL"


class RequestInvalid(AIError):
    """The question or its context cannot be asked."""

    code = "VALIDATION_FAILED"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class UnknownProfile(RequestInvalid):
    """No such profile."""


class ModelUnavailable(AIError):
    """The chat model cannot be reached, or failed while generating."""

    code = "MODEL_UNAVAILABLE"


class ModelMissing(ModelUnavailable):
    """The server has no such model."""


class ModelTimeout(AIError):
    """The chat model gave no answer in time."""

    code = "TIMEOUT"


class PromptTooLong(AIError):
    """The prompt does not fit the model's context window."""

    code = "VALIDATION_FAILED"


class TemplateNotFound(AIError):
    """No such prompt template version."""


class ReplayImpossible(AIError):
    """An entry that lacks the parts which a grade needs."""

    code = "NOT_FOUND"

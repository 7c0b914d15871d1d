"""Errors of the AI package.

AIError
├── RequestInvalid      the question or its context cannot be asked (VALIDATION_FAILED; `details` says where)
├── UnknownProfile      no such profile
├── AgentHomeMissing    an agent used on its own was given no home, and none is registered
├── ModelUnavailable    the chat model cannot be reached, or failed while generating
│   └── ModelMissing    the server has no such model
├── ModelTimeout        the chat model gave no answer in time
├── PromptTooLong       the prompt does not fit the model's context window
├── ReaderUnavailable   the reader cannot run here; the lexical judge does its work
├── TemplateNotFound    no such prompt template version
├── CorpusChanged       a source that the reply rests on was changed while it was made
├── ArchiveUnavailable  what shaped an answer cannot be kept, so nothing is released
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


class AgentHomeMissing(AIError):
    """An agent used on its own was given no home, and none is registered."""


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


class ReaderUnavailable(AIError):
    """The reader's files are missing or damaged, or this processor cannot run it."""

    code = "MODEL_UNAVAILABLE"


class TemplateNotFound(AIError):
    """No such prompt template version."""


class ArchiveUnavailable(AIError):
    """The archive cannot keep what shaped an answer, so nothing is released."""

    code = "LEDGER_UNAVAILABLE"


class CorpusChanged(AIError):
    """A source that the reply rests on was changed while it was made."""

    code = "CORPUS_CHANGED"


class ReplayImpossible(AIError):
    """An entry that lacks the parts which a grade needs."""

    code = "NOT_FOUND"

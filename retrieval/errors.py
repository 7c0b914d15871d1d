"""Errors of the retrieval package.

RetrievalError
├── ChannelError            a channel could not answer; the bundle says so as a limitation
│   ├── ChannelTimeout      no answer within its deadline
│   ├── ChannelUnavailable  its store cannot be reached or read
│   │   └── ChannelCircuitOpen  its store is not responding; circuit open
│   └── ChannelFault        its store answered something that cannot be an answer
├── IndexNotReady           the index does not exist yet or is being rebuilt
├── EmbedModelMismatch      vectors of another model or dimension than the index holds
├── StoreUnavailable        the store of record cannot be read or written
│   ├── StoreDamaged               its file, or a row in it, is not what can have been stored
│   │   └── GeometryDamaged        bytes that are kept as a geometry are none
│   ├── StoreNotResponding         its server does not answer, or not in time
│   └── SchemaUnsupported          its tables are of a version that this program does not use; names the command
├── RecordNotFound          no such document or record in this scope
├── FilterInvalid           a filter over metadata that means nothing; names the place
├── CursorInvalid           a cursor that was not made for this query
└── IngestError             one file could not be taken in; the others go on
    ├── LoadError           the bytes are not what their media type says (truncated PDF, ragged CSV, not UTF-8 ...)
    ├── ReaderMissing       this installation lacks what reads files of the kind; names the extra or the program
    ├── LimitExceeded       reading it took more memory or time than is allowed, or ended the process that read it
    ├── LabelMissing        no label from manifest, option or collection default
    ├── SourceConflict      the file is already a source under another name
    └── ManifestError       the manifest is not valid; names the entry and the field
"""

from __future__ import annotations

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Raised by what makes a value of a row, where it cannot be made."""


class RetrievalError(Exception):
    """Root of the package's errors; `code` is what the edge reports."""

    code = "INTERNAL"


class ChannelError(RetrievalError):
    """A channel could not answer. `channel` is its wire name; the message is fit for a reader: no addresses, no store
    text."""

    code = "CHANNEL_FAULT"

    def __init__(self, channel: str, message: str) -> None:
        super().__init__(message)
        self.channel = channel
        self.message = message


class ChannelTimeout(ChannelError):
    """No answer within the channel's deadline."""

    code = "CHANNEL_TIMEOUT"


class ChannelUnavailable(ChannelError):
    """The channel's store cannot be reached or read."""

    code = "CHANNEL_UNAVAILABLE"


class ChannelCircuitOpen(ChannelUnavailable):
    """The channel's store is not responding: its circuit is open."""

    code = "CHANNEL_CIRCUIT_OPEN"


class ChannelFault(ChannelError):
    """The channel's store answered something that cannot be an answer."""


class IndexNotReady(RetrievalError):
    """The index does not exist yet or is being rebuilt."""

    code = "INDEX_NOT_READY"


class EmbedModelMismatch(RetrievalError):
    """Vectors of another model or dimension than the index holds."""

    code = "EMBED_MODEL_MISMATCH"


class StoreUnavailable(RetrievalError):
    """The store of record cannot be read or written."""

    code = "INDEX_NOT_READY"


class StoreDamaged(StoreUnavailable):
    """The file of the store of record, or a row in it, is not what can have been stored; the message says which."""

    code = "STORE_DAMAGED"


class GeometryDamaged(StoreDamaged, ValueError):
    """Bytes that are kept as a geometry are none."""


class StoreNotResponding(StoreUnavailable):
    """The server of the store of record does not answer, or not in time."""


class SchemaUnsupported(StoreUnavailable):
    """The tables are of a version that this program does not use; the message names the command that changes it."""

    code = "VERSION_UNSUPPORTED"


class RecordNotFound(RetrievalError):
    """No such document or record in this scope."""

    code = "NOT_FOUND"


class FilterInvalid(RetrievalError):
    """A filter over metadata that means nothing. `where` is the place in it; the message never repeats a value."""

    code = "VALIDATION_FAILED"

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where


class CursorInvalid(RetrievalError):
    """A cursor that was not made for this query and order."""

    code = "VALIDATION_FAILED"


class IngestError(RetrievalError):
    """One file could not be taken in; the others go on."""

    code = "VALIDATION_FAILED"


class LoadError(IngestError):
    """The bytes are not what their media type says."""


class ReaderMissing(IngestError):
    """This installation lacks what reads files of the kind. The message names the extra or the program."""

    code = "READER_MISSING"


class LimitExceeded(IngestError):
    """Reading the file took more memory or time than is allowed, or ended the process that read it."""

    code = "LIMIT_EXCEEDED"


class LabelMissing(IngestError):
    """No label from manifest, option or collection default."""


class SourceConflict(IngestError):
    """The file is already a source under another name, or the same bytes are under other access facts."""

    code = "CONFLICT"


class ManifestError(IngestError):
    """The manifest is not valid; the message names the entry and the field."""

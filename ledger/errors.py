"""Errors of the ledger.

LedgerError
├── LedgerUnavailable    the store cannot be written or read; nothing may be released
│   ├── LedgerNotResponding         the store's server does not answer: no connection, or nothing in time
│   ├── KeyUnusable          a key is missing, belongs to another log, or its file can be read by others
│   ├── CheckpointPending    no checkpoint covers the entry yet; ask again in a second
│   ├── WitnessUnavailable   a witness cannot be reached, or answers what no witness may
│   ├── LedgerTablesMissing  the database holds no log, and the role may not make one
│   ├── IndexDamaged         the index of entries holds what no entry has; it is to be mended from the log
│   ├── SchemaUnsupported    the tables are of a version that this program does not use; names the command
│   └── LogForked            the store is behind or beside a checkpoint that is held outside; nothing is signed
├── EntryNotFound        no entry of that id
├── PartErased           the part was erased; its commitment stays
├── EntryRefused         the caller's entry breaks a rule: unknown part name, bad id, leaf over 4 KiB
├── EntryOvertaken       what the tenant holds was changed after the entry was begun
├── EntryConflict        the request already has an entry of that kind, with other content
├── MalformedLeaf        bytes that are no leaf of `exhibit.ledger/1`
├── MalformedNote        bytes that are no signed note, checkpoint or receipt
├── MalformedPolicy      bytes that are no policy of trusted logs and witnesses
├── MalformedProv        bytes or facts that are no provenance document of our shape
└── VerificationFailed   a proof, signature, commitment or order does not hold; says which
"""

from __future__ import annotations


class LedgerError(Exception):
    """Root of the package's errors; `code` is what the edge reports."""

    code = "LEDGER_UNAVAILABLE"


class LedgerUnavailable(LedgerError):
    """The store cannot be written or read."""


class LedgerNotResponding(LedgerUnavailable):
    """The store's server does not answer: no connection, or nothing in time."""


class IndexDamaged(LedgerUnavailable):
    """The index of entries holds what no entry has; it is to be mended from the log."""


class EntryNotFound(LedgerError):
    """No entry of that id."""

    code = "NOT_FOUND"


class PartErased(LedgerError):
    """The part was erased; its commitment stays in the leaf."""

    code = "NOT_FOUND"


class EntryRefused(LedgerError):
    """The caller's entry breaks a rule of the leaf format; nothing was written."""

    code = "VALIDATION_FAILED"


class EntryConflict(LedgerError):
    """The request already has an entry of that kind whose content differs; nothing was written."""

    code = "CONFLICT"


class EntryOvertaken(LedgerError):
    """The tenant's holdings were changed after the entry was begun; nothing was written."""

    code = "CORPUS_CHANGED"


class KeyUnusable(LedgerUnavailable):
    """A key is missing, belongs to another log, or its file can be read by others."""


class CheckpointPending(LedgerUnavailable):
    """No checkpoint covers the entry yet."""


class WitnessUnavailable(LedgerUnavailable):
    """A witness cannot be reached, or answers what no witness may."""


class LedgerTablesMissing(LedgerUnavailable):
    """The database holds no tables of the log, and the role may not make them: an administrator prepares them."""


class SchemaUnsupported(LedgerUnavailable):
    """The tables are of a version that this program does not use; the message names the command that changes it."""

    code = "VERSION_UNSUPPORTED"


class LogForked(LedgerUnavailable):
    """The store is behind or beside a checkpoint that is held outside of it: nothing is signed any more. `seen` is that
    checkpoint's note, if there is one."""

    def __init__(self, detail: str, *, seen: str | None = None) -> None:
        super().__init__(detail)
        self.seen = seen


class MalformedPolicy(LedgerError):
    """Bytes that are no policy of trusted logs and witnesses; the message names the line."""

    code = "VALIDATION_FAILED"


class MalformedLeaf(LedgerError):
    """Bytes that are no leaf of `exhibit.ledger/1`."""

    code = "VALIDATION_FAILED"


class MalformedNote(LedgerError):
    """Bytes that are no signed note, checkpoint or receipt."""

    code = "VALIDATION_FAILED"


class MalformedProv(LedgerError):
    """Bytes or facts that are no provenance document of our shape; the message names the record."""

    code = "VALIDATION_FAILED"


class VerificationFailed(LedgerError):
    """A proof, signature, commitment or order does not hold; `step` names the first one that failed."""

    code = "VALIDATION_FAILED"

    def __init__(self, step: str, detail: str) -> None:
        super().__init__(f"{step}: {detail}")
        self.step = step

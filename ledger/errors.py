"""Errors of the ledger.

LedgerError
├── LedgerUnavailable    the store cannot be written or read; nothing may be released
├── EntryNotFound        no entry of that id
├── PartErased           the part was erased; its commitment stays
├── MalformedLeaf        bytes that are no leaf of `exhibit.ledger/1`
├── MalformedNote        bytes that are no signed note, checkpoint or receipt
└── VerificationFailed   a proof, signature, commitment or order does not hold; says which
"""

from __future__ import annotations


class LedgerError(Exception):
    """Root of the package's errors; `code` is what the edge reports."""

    code = "LEDGER_UNAVAILABLE"


class LedgerUnavailable(LedgerError):
    """The store cannot be written or read."""


class EntryNotFound(LedgerError):
    """No entry of that id."""

    code = "NOT_FOUND"


class PartErased(LedgerError):
    """The part was erased; its commitment stays in the leaf."""

    code = "NOT_FOUND"


class MalformedLeaf(LedgerError):
    """Bytes that are no leaf of `exhibit.ledger/1`."""

    code = "VALIDATION_FAILED"


class MalformedNote(LedgerError):
    """Bytes that are no signed note, checkpoint or receipt."""

    code = "VALIDATION_FAILED"


class VerificationFailed(LedgerError):
    """A proof, signature, commitment or order does not hold; the message names the step."""

    code = "VALIDATION_FAILED"

"""Errors of the edge.

EdgeError
├── SettingsInvalid        a setting is unknown or impossible, or its file cannot be read; names the origin
├── HomeUnusable           the home folder cannot be made, read or written, or its disk is full
├── HomeKeyMissing         the home is encrypted, and its key is not named, cannot be read or is no key
├── HomeKeyWrong           the home is encrypted under another key
├── HomeBusy               another process is ingesting documents into this folder
│   └── HomeFileBusy       a file of the home is held for too long
├── VersionUnsupported     a file is of a version that this program does not read; names the version
├── MalformedBody          the body is not JSON
├── RequestRejected        the request's fields are not valid; `details` says where
│   └── BadQuery           the same on the surfaces of requirement 002, which call it BAD_REQUEST
├── PayloadTooLarge        the body is over the limit
├── UnsupportedMediaType   the body is of another content type
├── CredentialRejected     an API key or token that is unknown, malformed, expired or revoked
├── IdentityUnavailable    the identity provider's keys cannot be had
├── ActionForbidden        the principal may not use this endpoint, tenant or address
├── MethodNotOffered       this HTTP method is not offered on this path
├── RateLimited            the address, principal or tenant has made too many requests; `retry_after_s`
├── Overloaded             too many requests or connections are waiting already
├── RequestTimeout         the whole request took longer than it may
├── HeadTimeout            the head or the body of the request did not arrive in time
├── HeadTooLarge           the head of the request is over the limit
├── NoSuchThing            nothing of that name for this principal (absent and forbidden alike)
├── KeyReused              an Idempotency-Key was used with another body, or its first use has not ended
├── TrialNeeded            a policy candidate has not passed its trial, or something has changed since
├── JobCancelled           somebody asked that the job of ingest be ended
├── HomeChanged            corpus or policy changed under something that must be of one state
├── HomeInUse              the folder already holds something that this command would have to overwrite
└── ExpectationFailed      a demonstration or a check did not show what it must
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field that is not valid: its path, a stable code, and a text that never repeats the value."""

    field: str
    code: str
    message: str


class EdgeError(Exception):
    """Root of the package's errors; `code` is what is reported."""

    code = "INTERNAL"


class SettingsInvalid(EdgeError):
    """A setting is unknown, has a value that cannot be, or its file cannot be read."""

    code = "VALIDATION_FAILED"


class HomeUnusable(EdgeError):
    """The home folder cannot be made, read or written, or its disk is full."""

    code = "INDEX_NOT_READY"


class HomeKeyMissing(EdgeError):
    """The home is encrypted, and its key is not named, cannot be read, or is not one."""

    code = "HOME_LOCKED"


class HomeKeyWrong(EdgeError):
    """The home is encrypted under another key."""

    code = "HOME_LOCKED"


class HomeBusy(EdgeError):
    """Another process takes documents into this folder."""

    code = "CONFLICT"


class HomeFileBusy(HomeBusy):
    """Another process or request holds a file of the home for too long."""

    code = "HOME_BUSY"


class VersionUnsupported(EdgeError):
    """A file is of a version that this program does not read."""

    code = "VERSION_UNSUPPORTED"


class MalformedBody(EdgeError):
    """The body is not JSON."""

    code = "BAD_REQUEST"


class RequestRejected(EdgeError):
    """The request's fields are not valid."""

    code = "VALIDATION_FAILED"

    def __init__(self, message: str, details: Sequence[FieldProblem] = ()) -> None:
        super().__init__(message)
        self.details = tuple(details)


class BadQuery(RequestRejected):
    """A request of requirement 002's surfaces that is not valid."""

    code = "BAD_REQUEST"


class PayloadTooLarge(EdgeError):
    """The body is over the limit."""

    code = "PAYLOAD_TOO_LARGE"


class UnsupportedMediaType(EdgeError):
    """The body is of another content type."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class CredentialRejected(EdgeError):
    """An API key or token that is unknown, malformed, expired or revoked; which of them is not said."""

    code = "UNAUTHORIZED"

    def __init__(self, message: str = "the API key is not valid") -> None:
        super().__init__(message)


class IdentityUnavailable(EdgeError):
    """The identity provider's keys cannot be had, so its tokens cannot be checked."""

    code = "IDENTITY_UNAVAILABLE"


class ActionForbidden(EdgeError):
    """The principal may not use this endpoint, tenant or address."""

    code = "FORBIDDEN"


class MethodNotOffered(EdgeError):
    """This HTTP method is not offered on this path."""

    code = "METHOD_NOT_ALLOWED"


class RateLimited(EdgeError):
    """Too many requests of one caller. `headers` say under which limit, `retry_after_s` when to come again."""

    code = "RATE_LIMITED"

    def __init__(self, message: str, headers: Mapping[str, str], retry_after_s: int) -> None:
        super().__init__(message)
        self.headers = dict(headers)
        self.retry_after_s = retry_after_s


class Overloaded(EdgeError):
    """Too many requests or connections are waiting already."""

    code = "OVERLOADED"


class RequestTimeout(EdgeError):
    """The whole request took longer than it may; its work was cancelled."""

    code = "TIMEOUT"


class HeadTimeout(EdgeError):
    """The head or the body of the request did not arrive in time."""

    code = "REQUEST_TIMEOUT"


class HeadTooLarge(EdgeError):
    """The head of the request is over the limit."""

    code = "HEAD_TOO_LARGE"


class NoSuchThing(EdgeError):
    """Nothing of that name for this principal."""

    code = "NOT_FOUND"


class KeyReused(EdgeError):
    """An Idempotency-Key was used with another body, or its first use has not ended."""

    code = "CONFLICT"


class TrialNeeded(EdgeError):
    """A policy candidate has not passed its trial, or it or the bundle in force has changed since."""

    code = "CONFLICT"


class JobCancelled(EdgeError):
    """Somebody asked that the job of ingest be ended; what it had taken in stays."""

    code = "CONFLICT"


class HomeInUse(EdgeError):
    """The folder already holds something that this command would have to overwrite."""

    code = "CONFLICT"


class HomeChanged(EdgeError):
    """Corpus or policy changed while something was made that must be of one state."""

    code = "CONFLICT"


class ExpectationFailed(EdgeError):
    """A demonstration or a check did not show what it must."""

    code = "INTERNAL"

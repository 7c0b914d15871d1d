"""Errors to what is told of them: the only place that knows status codes and exit codes.

Every class of every `errors.py` stands in `CODES`; a test walks them. A class that is missing here would be INTERNAL,
never a leak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

import ai.errors as ai
import api.errors as api
import ledger.errors as ledger
import policy.errors as policy
import retrieval.errors as retrieval
from api.errors import FieldProblem

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOT_FOUND: Final = 3
EXIT_AUTH: Final = 4
EXIT_CONFLICT: Final = 5
EXIT_REFUSED: Final = 6
EXIT_VERIFICATION: Final = 7
EXIT_BACKEND: Final = 8
EXIT_CANNOT_RUN: Final = 9
EXIT_BROKEN_PROMISE: Final = 10
EXIT_NOT_COVERED: Final = 11


class CodeMeaning(NamedTuple):
    """The meaning of a code over HTTP and on the command line. `text` is all that a reader is told of a fault (5xx)."""

    status: int
    exit: int
    text: str


MEANINGS: Mapping[str, CodeMeaning] = MappingProxyType(
    {
        "BAD_REQUEST": CodeMeaning(400, EXIT_USAGE, "The request could not be read."),
        "UNAUTHORIZED": CodeMeaning(401, EXIT_AUTH, "The credential is missing or not valid."),
        "FORBIDDEN": CodeMeaning(403, EXIT_AUTH, "This is not allowed with this credential."),
        "NOT_FOUND": CodeMeaning(404, EXIT_NOT_FOUND, "Nothing with that name was found."),
        "METHOD_NOT_ALLOWED": CodeMeaning(405, EXIT_USAGE, "This method is not offered here."),
        "REQUEST_TIMEOUT": CodeMeaning(408, EXIT_BACKEND, "The request did not arrive in time."),
        "CONFLICT": CodeMeaning(409, EXIT_CONFLICT, "The request conflicts with the current state."),
        "PAYLOAD_TOO_LARGE": CodeMeaning(413, EXIT_USAGE, "The request is too large."),
        "UNSUPPORTED_MEDIA_TYPE": CodeMeaning(415, EXIT_USAGE, "The content type is not application/json."),
        "EMBED_MODEL_MISMATCH": CodeMeaning(
            422, EXIT_USAGE, "The vectors come from another model than those in the index."
        ),
        "READER_MISSING": CodeMeaning(422, EXIT_FAILED, "The reader for files of this kind is not installed."),
        "LIMIT_EXCEEDED": CodeMeaning(422, EXIT_FAILED, "Reading the file took more memory or time than is allowed."),
        "VALIDATION_FAILED": CodeMeaning(422, EXIT_USAGE, "The request is not valid."),
        "RATE_LIMITED": CodeMeaning(429, EXIT_BACKEND, "Too many requests."),
        "HEAD_TOO_LARGE": CodeMeaning(431, EXIT_USAGE, "The head of the request is too large."),
        "CORPUS_CHANGED": CodeMeaning(503, EXIT_BACKEND, "A source was changed while the answer was made. Ask again."),
        "INTERNAL": CodeMeaning(500, EXIT_FAILED, "Something went wrong on our side. The request id helps to find it."),
        "INDEX_NOT_READY": CodeMeaning(503, EXIT_BACKEND, "The store of documents is not ready."),
        "HOME_BUSY": CodeMeaning(503, EXIT_BACKEND, "A file of the home is in use. Try again shortly."),
        "HOME_LOCKED": CodeMeaning(
            503, EXIT_BACKEND, "The home is encrypted, and the key that was given does not open it."
        ),
        "STORE_DAMAGED": CodeMeaning(503, EXIT_VERIFICATION, "The store of documents is damaged."),
        "VERSION_UNSUPPORTED": CodeMeaning(
            503, EXIT_BACKEND, "The stored data are of a version that this release cannot read."
        ),
        "POLICY_UNAVAILABLE": CodeMeaning(503, EXIT_BACKEND, "Policy cannot be asked, so nothing is released."),
        "LEDGER_UNAVAILABLE": CodeMeaning(503, EXIT_BACKEND, "The ledger cannot record, so nothing is released."),
        "MODEL_UNAVAILABLE": CodeMeaning(503, EXIT_BACKEND, "The model cannot be reached."),
        "IDENTITY_UNAVAILABLE": CodeMeaning(503, EXIT_BACKEND, "The identity provider cannot be reached."),
        "OVERLOADED": CodeMeaning(503, EXIT_BACKEND, "Too many requests are waiting. Try again shortly."),
        "TIMEOUT": CodeMeaning(504, EXIT_BACKEND, "The answer took too long."),
    }
)

CODES: Mapping[type[Exception], str] = MappingProxyType(
    {
        ai.AIError: "INTERNAL",
        ai.RequestInvalid: "VALIDATION_FAILED",
        ai.UnknownProfile: "VALIDATION_FAILED",
        ai.ModelUnavailable: "MODEL_UNAVAILABLE",
        ai.ModelMissing: "MODEL_UNAVAILABLE",
        ai.ModelTimeout: "TIMEOUT",
        ai.PromptTooLong: "VALIDATION_FAILED",
        ai.ReaderUnavailable: "MODEL_UNAVAILABLE",
        ai.TemplateNotFound: "INTERNAL",
        ai.ReplayImpossible: "NOT_FOUND",
        ai.AgentHomeMissing: "INTERNAL",
        ai.CorpusChanged: "CORPUS_CHANGED",
        ai.ArchiveUnavailable: "LEDGER_UNAVAILABLE",
        api.EdgeError: "INTERNAL",
        api.SettingsInvalid: "VALIDATION_FAILED",
        api.HomeUnusable: "INDEX_NOT_READY",
        api.HomeKeyMissing: "HOME_LOCKED",
        api.HomeKeyWrong: "HOME_LOCKED",
        api.HomeBusy: "CONFLICT",
        api.HomeFileBusy: "HOME_BUSY",
        api.VersionUnsupported: "VERSION_UNSUPPORTED",
        api.MalformedBody: "BAD_REQUEST",
        api.RequestRejected: "VALIDATION_FAILED",
        api.BadQuery: "BAD_REQUEST",
        api.PayloadTooLarge: "PAYLOAD_TOO_LARGE",
        api.UnsupportedMediaType: "UNSUPPORTED_MEDIA_TYPE",
        api.CredentialRejected: "UNAUTHORIZED",
        api.IdentityUnavailable: "IDENTITY_UNAVAILABLE",
        api.ActionForbidden: "FORBIDDEN",
        api.MethodNotOffered: "METHOD_NOT_ALLOWED",
        api.RateLimited: "RATE_LIMITED",
        api.Overloaded: "OVERLOADED",
        api.RequestTimeout: "TIMEOUT",
        api.HeadTimeout: "REQUEST_TIMEOUT",
        api.HeadTooLarge: "HEAD_TOO_LARGE",
        api.NoSuchThing: "NOT_FOUND",
        api.TrialNeeded: "CONFLICT",
        api.KeyReused: "CONFLICT",
        api.JobCancelled: "CONFLICT",
        api.HomeInUse: "CONFLICT",
        api.HomeChanged: "CONFLICT",
        api.ExpectationFailed: "INTERNAL",
        ledger.LedgerError: "LEDGER_UNAVAILABLE",
        ledger.LedgerUnavailable: "LEDGER_UNAVAILABLE",
        ledger.LedgerNotResponding: "LEDGER_UNAVAILABLE",
        ledger.IndexDamaged: "LEDGER_UNAVAILABLE",
        ledger.KeyUnusable: "LEDGER_UNAVAILABLE",
        ledger.CheckpointPending: "LEDGER_UNAVAILABLE",
        ledger.WitnessUnavailable: "LEDGER_UNAVAILABLE",
        ledger.LedgerTablesMissing: "LEDGER_UNAVAILABLE",
        ledger.SchemaUnsupported: "VERSION_UNSUPPORTED",
        ledger.LogForked: "LEDGER_UNAVAILABLE",
        ledger.EntryNotFound: "NOT_FOUND",
        ledger.PartErased: "NOT_FOUND",
        # The pipeline writes the entries, so an entry that breaks a rule is our fault, not the caller's.
        ledger.EntryRefused: "INTERNAL",
        ledger.EntryOvertaken: "CORPUS_CHANGED",
        ledger.EntryConflict: "CONFLICT",
        ledger.MalformedLeaf: "VALIDATION_FAILED",
        ledger.MalformedNote: "VALIDATION_FAILED",
        ledger.MalformedPolicy: "VALIDATION_FAILED",
        ledger.MalformedProv: "INTERNAL",
        ledger.VerificationFailed: "VALIDATION_FAILED",
        policy.PolicyError: "POLICY_UNAVAILABLE",
        policy.PolicyUnavailable: "POLICY_UNAVAILABLE",
        policy.OpaUnavailable: "POLICY_UNAVAILABLE",
        policy.OpaNotResponding: "POLICY_UNAVAILABLE",
        policy.BundleRejected: "POLICY_UNAVAILABLE",
        policy.BundleUnpublished: "POLICY_UNAVAILABLE",
        policy.BundleUnsigned: "POLICY_UNAVAILABLE",
        policy.BundleNotFound: "NOT_FOUND",
        policy.InputRejected: "VALIDATION_FAILED",
        policy.SigningKeyInvalid: "VALIDATION_FAILED",
        retrieval.RetrievalError: "INTERNAL",
        # A channel's failure is a limitation of the bundle; that one reaches the edge is a fault of ours.
        retrieval.ChannelError: "INTERNAL",
        retrieval.ChannelTimeout: "TIMEOUT",
        retrieval.ChannelUnavailable: "INDEX_NOT_READY",
        retrieval.ChannelCircuitOpen: "INDEX_NOT_READY",
        retrieval.ChannelFault: "INTERNAL",
        retrieval.IndexNotReady: "INDEX_NOT_READY",
        retrieval.EmbedModelMismatch: "EMBED_MODEL_MISMATCH",
        retrieval.StoreUnavailable: "INDEX_NOT_READY",
        retrieval.StoreDamaged: "STORE_DAMAGED",
        retrieval.GeometryDamaged: "STORE_DAMAGED",
        retrieval.StoreNotResponding: "INDEX_NOT_READY",
        retrieval.SchemaUnsupported: "VERSION_UNSUPPORTED",
        retrieval.RecordNotFound: "NOT_FOUND",
        retrieval.FilterInvalid: "VALIDATION_FAILED",
        retrieval.CursorInvalid: "VALIDATION_FAILED",
        retrieval.IngestError: "VALIDATION_FAILED",
        retrieval.LoadError: "VALIDATION_FAILED",
        retrieval.ReaderMissing: "READER_MISSING",
        retrieval.LimitExceeded: "LIMIT_EXCEEDED",
        retrieval.LabelMissing: "VALIDATION_FAILED",
        retrieval.SourceConflict: "CONFLICT",
        retrieval.ManifestError: "VALIDATION_FAILED",
    }
)


# What does not verify is told apart on the command line.
_UNVERIFIED = (ledger.LogForked, ledger.MalformedLeaf, ledger.MalformedNote, ledger.VerificationFailed)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as it is told. `message` is fit for any caller; `local` may name files and is for whoever holds the
    folder; `exit` is the command line's exit code."""

    code: str
    message: str
    local: str
    exit: int
    details: Sequence[FieldProblem] = ()
    entry_id: str | None = None

    @property
    def status(self) -> int:
        """The HTTP status."""
        return MEANINGS[self.code].status

    def body(self, request_id: str, *, local: bool = False) -> dict[str, object]:
        """The one error body. `local` puts the full message in it (the command line's `--json`)."""
        error: dict[str, object] = {"code": self.code, "message": self.local if local else self.message}
        if self.details:
            error["details"] = [{"field": d.field, "code": d.code, "message": d.message} for d in self.details]
        error["request_id"] = request_id
        if self.entry_id is not None:
            error["entry_id"] = self.entry_id
        return {"error": error}


def code_of(exc: BaseException) -> str:
    """The code of the nearest class that stands in `CODES`; INTERNAL for anything else."""
    return next((CODES[kind] for kind in type(exc).__mro__ if kind in CODES), "INTERNAL")


def is_known(exc: BaseException) -> bool:
    """True if an error is one of ours, and not a bug."""
    return any(kind in CODES for kind in type(exc).__mro__)


def problem_of(exc: BaseException) -> Problem:
    """The account of an error: a caller's mistake in its own words, a fault of ours by its code's fixed text. A
    recorded failure is told as its cause, with the entry that records it."""
    entry_id: str | None = getattr(exc, "entry_id", None)
    if entry_id is not None and exc.__cause__ is not None:
        return replace(problem_of(exc.__cause__), entry_id=entry_id)
    code = code_of(exc)
    meaning = MEANINGS[code]
    own = " ".join(printable(str(exc)).split())
    message = own if own and meaning.status < 500 else meaning.text
    exit_code = EXIT_VERIFICATION if isinstance(exc, _UNVERIFIED) else meaning.exit
    return Problem(code, message, own if own and is_known(exc) else meaning.text, exit_code, _details_of(exc))


def printable(text: str, limit: int = 500) -> str:
    """The text without control characters and lone surrogates, and not longer than `limit` characters."""
    clean = "".join(c if c.isprintable() else " " for c in text[: limit + 1])
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def _details_of(exc: BaseException) -> tuple[FieldProblem, ...]:
    match exc:
        case api.RequestRejected(details=details):
            return details
        case ai.RequestInvalid(field=field):
            return (FieldProblem(printable(field, 100), "invalid", printable(str(exc))),)
        case _:
            return ()

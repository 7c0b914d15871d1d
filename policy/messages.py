"""Reader texts for the codes of reasons. Rules carry codes and integers only; the words are here, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from policy.model import Reason

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "INPUT_INVALID": "The request could not be read by the policy.",
        "SUBJECT_INVALID": "The account has no valid identity, role or clearance.",
        "TENANT_MISSING": "The account belongs to no tenant.",
        "NOT_PERMITTED": "The account's roles do not permit questions.",
        "SESSION_EXPIRED": "The session has ended; sign in again.",
        "PURPOSE_REFUSED": "The stated purpose is unknown or not open to this account.",
        "POINT_MISMATCH": "The request was put to the wrong policy point.",
        "GATE_REJECTED": "The question was stopped by the prompt gate.",
        "GATE_VERDICT_UNKNOWN": "The question was not examined by the prompt gate.",
        "COLLECTIONS_INVALID": "The collections are not a list of names.",
        "COLLECTION_UNAVAILABLE": "There is no such collection, or it is not open to this account.",
        "PRIOR_MISSING": "The decision that this one builds on is missing.",
        "EVIDENCE_INVALID": "The evidence could not be read by the policy.",
        "ID_INVALID": "Two items of evidence share one id.",
        "CLASS_OUT_OF_SCOPE": "The item is outside the scope of this request.",
        "TENANT_MISMATCH": "The item belongs to another tenant.",
        "LABEL_ABOVE_CLEARANCE": "The item's label is above the account's clearance.",
        "GROUP_REQUIRED": "The item is open to named groups only.",
        "HANDLING_REFUSED": "The item's handling tags do not permit this use.",
        "NOT_ACTIVE": "The item is not active.",
        "EXPIRED": "The item has expired.",
        "CHANGED_SINCE_INDEXING": "The document has changed since it was indexed.",
        "FINDINGS_MISSING": "The item was not searched for personal data.",
        "INJECTION_SUSPECTED": "The item reads like an instruction and was left out.",
        "HANDLING_OBLIGATION": "The item may be used in a reduced form only.",
        "PII_FOUND": "Personal data was removed.",
        "DATAMARK": "The item is marked as data.",
        "SCOPE": "The search is limited to what this account may see.",
        "PROMPT_SANITIZED": "Parts of the question were neutralised.",
        "ANSWER_INVALID": "The draft could not be read by the policy.",
        "LEAK": "A sentence that disclosed protected text was removed.",
        "UNCITED_SENTENCE": "A sentence without a citation was removed.",
        "UNKNOWN_CITATION": "A sentence that cites nothing known was removed.",
        "CITATION_NOT_ADMITTED": "A sentence that cites unusable evidence was removed.",
        "CITATION_STALE": "A sentence whose evidence no longer holds was removed.",
        "UNSUPPORTED_SENTENCE": "A sentence that its evidence does not support was removed.",
        "SENSITIVE_OUTPUT": "The answer rests on sensitive material; handle it accordingly.",
        "NOTHING_LEFT": "No supported statement is left.",
        "POLICY_DECISION_INVALID": "The policy gave a decision that cannot be trusted.",
    }
)


def message(reason: Reason) -> str:
    """The reader's text for a reason; for an unknown code a general one, never an error."""
    return text_of(reason.code)


def text_of(code: str) -> str:
    """The reader's text for a code; `POLICY_DECISION_INVALID.*` share one."""
    return MESSAGES.get(code.partition(".")[0], "The policy refused.")

"""The fixed phrases: the only sentences that may leave without a citation.

Each has an id, which the policy's facts and data name instead of the text. A model that writes one of them word for
word is understood; anything near it is an ordinary sentence and needs a citation.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from policy.messages import text_of

ABSTAIN = "ABSTAIN_NO_EVIDENCE"
PARTIAL = "LIMITATION_PARTIAL"

PHRASES: Mapping[str, str] = MappingProxyType(
    {
        ABSTAIN: "The sources do not answer this question.",
        PARTIAL: "The sources answer only a part of this question.",
        "NOTICE_SENSITIVE": "This answer rests on sources with limited access.",
    }
)


def phrase_id(text: str) -> str | None:
    """The id of the fixed phrase that `text` equals, apart from space at its ends and between its words."""
    return _IDS.get(" ".join(text.split()))


_IDS: Mapping[str, str] = MappingProxyType({phrase: key for key, phrase in PHRASES.items()})


def reason_text(code: str) -> str:
    """The reader's text for the code of an outcome."""
    return _REASONS.get(code) or text_of(code)


_REASONS: Mapping[str, str] = MappingProxyType(
    {"INSUFFICIENT_EVIDENCE": "Nothing that this account may see answers the question well enough."}
)

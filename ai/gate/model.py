"""Values of the prompt gate. All spans are half-open code-point offsets into the text as it was given."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class GateVerdict(StrEnum):
    """The gate's verdict on a question: pass as it is, pass with the cuts made, or go no further."""

    ALLOW = "ALLOW"
    SANITIZE = "SANITIZE"
    REJECT = "REJECT"


@dataclass(frozen=True, slots=True)
class GateReason:
    """Why the verdict is not ALLOW. `message` is fixed text of the ruleset and never repeats what the asker wrote."""

    code: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """One replacement in the question as it was given: `[start, end)` becomes `replacement`."""

    start: int
    end: int
    rule: str
    replacement: str


@dataclass(frozen=True, slots=True)
class ClassScore:
    """A class of attack or content that was seen, its strength in thousandths and the rules that saw it, sorted."""

    name: str
    score_milli: int
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's answer for one question.

    ALLOW: `sanitized` is the question. SANITIZE: `sanitized` is the question with `redactions` carried out, and
    checking it again allows it. REJECT: `sanitized` is empty and nothing of the question may reach retrieval or a
    model. `risk` is 0..100, `chars` the question's length in code points, `ruleset` "version sha256:..." of the rules
    that decided.
    """

    verdict: GateVerdict
    sanitized: str
    reasons: tuple[GateReason, ...]
    risk: int
    redactions: tuple[Redaction, ...]
    classes: tuple[ClassScore, ...]
    ruleset: str
    chars: int


@dataclass(frozen=True, slots=True)
class InjectionScan:
    """How much a passage reads like instructions to a model: 0 (clean) to 1000, and the rules that say so, sorted."""

    score_milli: int
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a text that a policy may have to act on (`pii.*`, `canary.*`, `system_prompt`)."""

    kind: str
    start: int
    end: int


CLEAN_SCAN = InjectionScan(0, ())
UNREAD_SCAN = InjectionScan(1000, ("WORK_LIMIT",))
"""The scan of a passage that takes more work than the ruleset allows: it is not known to be clean."""

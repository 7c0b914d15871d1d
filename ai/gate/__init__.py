"""The prompt gate: what may become of a question, and what passages and drafts carry. Pure; rules are data."""

from ai.gate.appeals import asked_appeals, asked_of, find_appeals
from ai.gate.detect import scan_text
from ai.gate.findings import find_leaks, find_sensitive
from ai.gate.gate import check_prompt
from ai.gate.model import ClassScore, Finding, GateReason, GateResult, GateVerdict, InjectionScan, Redaction
from ai.gate.rules import Ruleset, parse_rules, shipped_rules
from ai.gate.suspicion import reads_like_instruction

__all__ = [
    "ClassScore",
    "Finding",
    "GateReason",
    "GateResult",
    "GateVerdict",
    "InjectionScan",
    "Redaction",
    "Ruleset",
    "asked_appeals",
    "asked_of",
    "check_prompt",
    "find_appeals",
    "find_leaks",
    "find_sensitive",
    "parse_rules",
    "reads_like_instruction",
    "scan_text",
    "shipped_rules",
]

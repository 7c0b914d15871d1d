"""The prompt gate: what may become of a question, and what passages and drafts carry. Pure; rules are data."""

from ai.prompt_gate.detect import scan_text
from ai.prompt_gate.findings import find_leaks, find_sensitive
from ai.prompt_gate.gate import check_prompt
from ai.prompt_gate.model import ClassScore, Finding, GateReason, GateResult, GateVerdict, InjectionScan, Redaction
from ai.prompt_gate.rules import Ruleset, parse_rules, shipped_rules

__all__ = [
    "ClassScore",
    "Finding",
    "GateReason",
    "GateResult",
    "GateVerdict",
    "InjectionScan",
    "Redaction",
    "Ruleset",
    "check_prompt",
    "find_leaks",
    "find_sensitive",
    "parse_rules",
    "scan_text",
    "shipped_rules",
]

"""Errors of the prompt gate.

PromptGateError
└── RulesetInvalid   the file of rules cannot be read as rules; nothing is checked with half a ruleset
"""

from __future__ import annotations


class PromptGateError(Exception):
    """Root of the gate's errors; `code` is what the edge reports."""

    code = "INTERNAL"


class RulesetInvalid(PromptGateError):
    """The file of rules is not a ruleset; the message names the rule and the key."""

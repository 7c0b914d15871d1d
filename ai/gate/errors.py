"""Errors of the prompt gate.

PromptGateError
├── RulesetInvalid      the file of rules cannot be read as rules; nothing is checked with half a ruleset
├── PatternInvalid      a pattern cannot be read, or not matched in linear time; the ruleset is then invalid
└── WorkLimitExceeded   reading a text takes more work than a ruleset allows; the verdict on the text says so
"""

from __future__ import annotations


class PromptGateError(Exception):
    """Root of the gate's errors; `code` is what the edge reports."""

    code = "INTERNAL"


class RulesetInvalid(PromptGateError):
    """The file of rules is not a ruleset; the message names the rule and the key."""


class PatternInvalid(PromptGateError):
    """A pattern that cannot be read, or cannot be matched in time linear in the text."""


class WorkLimitExceeded(PromptGateError):
    """Reading a text takes more work than the ruleset allows. Never leaves the package: it becomes a verdict."""
